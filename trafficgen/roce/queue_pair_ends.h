#pragma once

#include <cstdint>

#include "trafficgen/hosts/host.h"
#include "trafficgen/roce/queue_pair.h"

namespace outrider::tg {

/// The setups of the two ends of a reliable connection.
struct QueuePairEnds {
  QueuePair::Setup near;
  QueuePair::Setup far;
};

/// The numbers of a queue pair of a host, and of its peer's outside the process.
struct QueuePairNumbers {
  std::uint16_t own = 0;
  std::uint32_t own_first_psn = 0;
  std::uint32_t peer = 0;
  std::uint32_t peer_first_psn = 0;
  std::uint32_t peer_key = 0;
  std::uint64_t peer_address = 0;
};

/// @param own below those that make_queue_pair_ends() takes
[[nodiscard]] QueuePair::Setup queue_pair_end(const Host& host, std::uint32_t peer_address,
                                              const QueuePairNumbers& numbers) noexcept;

/// Takes the next number of a queue pair from each host. First PSNs are drawn by the seed, so that
/// PSNs wrap early in some.
/// @param mtu_bytes that both hosts support
[[nodiscard]] QueuePairEnds make_queue_pair_ends(Host& near, Host& far, std::uint32_t mtu_bytes,
                                                 std::uint64_t seed) noexcept;

}  // namespace outrider::tg
