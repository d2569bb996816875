#!/usr/bin/env bash
# The wheel's property test with many more seeds, and ten minutes of fuzzing (HORAE_FUZZ_SECONDS).
. "$HORAE_ROOT/tools/common.sh"
need_tests
need_clang
need libboost-dev libuv1-dev
build asan wheel_property_test wheel_fuzz
HORAE_SEEDS=${HORAE_SEEDS:-20000} build/asan/tests/property/wheel/wheel_property_test --gtest_brief=1
mkdir -p build/fuzz/wheel
build/asan/tests/fuzz/wheel_fuzz -max_total_time="${HORAE_FUZZ_SECONDS:-600}" -max_len=2048 -len_control=0 \
    -print_final_stats=1 build/fuzz/wheel
