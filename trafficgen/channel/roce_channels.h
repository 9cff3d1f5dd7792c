#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "trafficgen/channel/channel.h"
#include "trafficgen/roce/roce_config.h"

namespace outrider::tg {

/// Channels over RoCEv2: a queue pair at each host, which are made with the channel. Data leave as
/// messages of 256 MiB at most, without immediate; bytes that are handed over before the last ones
/// have begun to leave join their message. If one side gives up, the channel ends: what both have
/// handed over is abandoned.
///
/// A channel that is lent ends when its last bytes are acknowledged, and is free at once. The next
/// flow between its hosts finds the rate that it had: an idle time raises it as the timers of DCQCN
/// say.
class RoceChannels final : public Channels {
 public:
  struct Setup {
    ChannelHosts hosts;
    RoceConfig roce{};
    std::optional<std::uint8_t> priority{};  ///< whose pause frames stop both sides
    /// To lend between two hosts; absent: first_queue_pairs(), and more when these are in use
    std::optional<std::uint32_t> queue_pairs{};
    std::uint64_t seed = 1;  ///< of the first PSNs
  };
  explicit RoceChannels(Setup setup);
  ~RoceChannels() override;

  Channel& make(Channel::User& user) override;
  void stock(std::uint32_t channels) override;
  [[nodiscard]] Channel* lend(Channel::User& user, HostPair pair) override;
  void give_back(Channel& channel) noexcept override;
  [[nodiscard]] std::unique_ptr<IdealTimes> ideal_times() const override;
  [[nodiscard]] RoceCounters roce() const noexcept override;

 private:
  class RoceChannel;
  /// Those that are lent between two hosts.
  struct Shelf {
    std::vector<RoceChannel*> free{};
    std::uint32_t made = 0;
  };
  [[nodiscard]] RoceChannel& make_between(HostPair pair);
  [[nodiscard]] RoceChannel& make_to_lend(HostPair pair);
  [[nodiscard]] bool may_make(HostPair pair) const noexcept;

  Setup setup_;
  std::deque<RoceChannel> channels_;  ///< never moved
  std::vector<Shelf> shelves_;        ///< [pairs]
};

}  // namespace outrider::tg
