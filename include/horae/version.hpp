// SPDX-License-Identifier: Apache-2.0
//
// The version of Horae, in its only place: CMake and the Python package read these three lines.
#pragma once

#define HORAE_VERSION_MAJOR 0
#define HORAE_VERSION_MINOR 1
#define HORAE_VERSION_PATCH 0
