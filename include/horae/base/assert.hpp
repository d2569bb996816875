// SPDX-License-Identifier: Apache-2.0
//
// HORAE_ASSERT(condition, "sentence"): a programmer error ends the process with a sentence. It stays on in
// release builds where the check is off every hot path; HORAE_DEBUG_ASSERT is for the hot ones.
#pragma once

namespace horae::detail {

[[noreturn, gnu::cold]] void assertion_failed(const char* sentence, const char* file, int line) noexcept;

} // namespace horae::detail

#define HORAE_ASSERT(condition, sentence)                                                                    \
    (static_cast<bool>(condition) ? static_cast<void>(0)                                                     \
                                  : ::horae::detail::assertion_failed(sentence, __FILE__, __LINE__))

#ifdef NDEBUG
#define HORAE_DEBUG_ASSERT(condition, sentence) static_cast<void>(0)
#else
#define HORAE_DEBUG_ASSERT(condition, sentence) HORAE_ASSERT(condition, sentence)
#endif
