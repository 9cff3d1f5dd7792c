#pragma once

#include <pthread.h>
#include <rte_lcore.h>
#include <rte_ring.h>
#include <rte_telemetry.h>
#include <rte_thread.h>
#include <rte_version.h>

#include <cstdint>

namespace outrider {

// All that differs between DPDK 22.11 (Debian 12) and 24.11 (Debian 13).

/// Starts a thread on the CPUs that the EAL does not poll with. @return a negative error number,
/// or 0; then pthread_join() has to follow
template <void (*Body)(void*)>
int start_control_thread(pthread_t& thread, const char* name, void* argument) noexcept {
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
  rte_thread_t started{};
  const auto enter = [](void* own) -> std::uint32_t { return Body(own), 0; };
  const int result = rte_thread_create_control(&started, name, enter, argument);
  thread = started.opaque_id;
  return result;
#else
  const auto enter = [](void* own) -> void* { return Body(own), nullptr; };
  return rte_ctrl_thread_create(&thread, name, nullptr, enter, argument);
#endif
}

/// rte_ring_create_elem(), which 24.11 declares without C linkage.
extern "C" rte_ring* create_ring_of_items(const char* name, unsigned item_bytes, unsigned items,
                                          int socket, unsigned flags) noexcept
    __asm__("rte_ring_create_elem");

inline int add_unsigned(rte_tel_data* to, const char* name, std::uint64_t value) noexcept {
#if RTE_VERSION >= RTE_VERSION_NUM(23, 11, 0, 0)
  return rte_tel_data_add_dict_uint(to, name, value);
#else
  return rte_tel_data_add_dict_u64(to, name, value);
#endif
}

}  // namespace outrider
