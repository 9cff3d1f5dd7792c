#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "trafficgen/channel/channel.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/roce/roce_config.h"

namespace outrider::tg {

/// Channels over RoCEv2: a queue pair at each host, which are made with the channel. Data leave as
/// messages of 256 MiB at most, without immediate; bytes that are handed over before the last ones
/// have begun to leave join their message. If one side gives up, the channel ends: what both have
/// handed over is abandoned.
class RoceChannels final : public Channels {
 public:
  struct Setup {
    Host* from = nullptr;
    Host* to = nullptr;
    RoceConfig roce{};
    std::optional<std::uint8_t> priority{};  ///< whose pause frames stop both sides
    std::uint64_t seed = 1;                  ///< of the first PSNs
  };
  explicit RoceChannels(const Setup& setup);
  ~RoceChannels() override;

  Channel& make(Channel::User& user) override;

 private:
  class RoceChannel;

  Setup setup_;
  std::deque<RoceChannel> channels_;  ///< never moved
};

}  // namespace outrider::tg
