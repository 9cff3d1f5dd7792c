#pragma once

#include <cstdint>

#include "trafficgen/hosts/host.h"
#include "trafficgen/roce/queue_pair.h"
#include "trafficgen/roce/queue_pair_numbers.h"

namespace outrider::tg {

/// The setups of the two ends of a reliable connection.
struct QueuePairEnds {
  QueuePair::Setup near;
  QueuePair::Setup far;
};

/// @param numbers `own` is below those that make_queue_pair_ends() takes
[[nodiscard]] QueuePair::Setup queue_pair_end(const Host& host, std::uint32_t peer_address,
                                              const QueuePairNumbers& numbers) noexcept;

/// Takes the next number of a queue pair from each host. First PSNs are drawn by the seed, so that
/// PSNs wrap early in some.
/// @param mtu_bytes that both hosts support
[[nodiscard]] QueuePairEnds make_queue_pair_ends(Host& near, Host& far, std::uint32_t mtu_bytes,
                                                 std::uint64_t seed) noexcept;

}  // namespace outrider::tg
