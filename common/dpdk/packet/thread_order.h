#pragma once

#ifdef __SANITIZE_THREAD__
#include <sanitizer/tsan_interface.h>
#endif

namespace outrider {

#ifdef __SANITIZE_THREAD__
inline constexpr bool kToldOfOrder = true;
#else
inline constexpr bool kToldOfOrder = false;  ///< the next two functions do nothing
#endif

// A packet buffer that one lcore frees comes to another by DPDK's pool, and DPDK sees to the order
// of what both write to it. ThreadSanitizer cannot see that, because DPDK is not instrumented.
// These functions tell it, and do nothing without it. Whoever still uses a buffer that it has
// passed on is found none the less.

/// Call it before the buffer is given to DPDK.
inline void pass_on([[maybe_unused]] void* buffer) noexcept {
#ifdef __SANITIZE_THREAD__
  __tsan_release(buffer);
#endif
}

/// Call it once DPDK has given the buffer.
inline void take_over([[maybe_unused]] void* buffer) noexcept {
#ifdef __SANITIZE_THREAD__
  __tsan_acquire(buffer);
#endif
}

}  // namespace outrider
