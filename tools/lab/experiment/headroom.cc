#include "tools/lab/experiment/headroom.h"

#include <algorithm>
#include <array>

#include "common/core/pause_time.h"

namespace outrider::lab {
namespace {

constexpr std::uint64_t kPauseWireBytes = 84;

constexpr std::array<PauseReaction, 10> kReactions{{{{100'000'000}, 1},
                                                    {{1'000'000'000}, 2},
                                                    {{10'000'000'000}, 67},
                                                    {{25'000'000'000}, 80},
                                                    {{40'000'000'000}, 118},
                                                    {{50'000'000'000}, 147},
                                                    {{100'000'000'000}, 394},
                                                    {{200'000'000'000}, 453},
                                                    {{400'000'000'000}, 905},
                                                    {{800'000'000'000}, 905}}};

}  // namespace

std::uint32_t longest_packet_bytes(const Case& c) {
  std::uint32_t mtu_bytes = 0;
  for (const auto& host : c.traffic.hosts)
    mtu_bytes = std::max<std::uint32_t>(mtu_bytes, host.mtu_bytes);
  return mtu_bytes;
}

std::map<std::string, Duration> trunk_delays(const Case& c) {
  std::map<std::string, Duration> delays;
  for (const sw::SwitchLinkConfig& link : c.switches.links)
    delays[link.a] = delays[link.b] = link.delay;
  return delays;
}

std::uint64_t headroom_needed_bytes(BitRate rate, Duration delay, std::uint32_t frame_bytes) {
  const double on_its_way =
      static_cast<double>(rate.bits_per_second) / 8e9 * 2 * static_cast<double>(delay.count());
  return static_cast<std::uint64_t>(on_its_way) + 2 * std::uint64_t{frame_bytes} + kPauseWireBytes;
}

PauseReaction pause_reaction(BitRate rate) {
  const auto* found = std::ranges::lower_bound(kReactions, rate, {}, &PauseReaction::rate);
  return found == kReactions.end() ? kReactions.back() : *found;
}

std::uint64_t device_headroom_bytes(BitRate rate, Duration delay, std::uint32_t frame_bytes) {
  return headroom_needed_bytes(rate, delay, frame_bytes) +
         pause_reaction(rate).quanta * kPauseQuantumBits / 8;
}

}  // namespace outrider::lab
