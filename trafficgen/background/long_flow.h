#pragma once

#include <memory>
#include <string>

#include "trafficgen/channel/channel.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/measure/goodput.h"

namespace outrider::tg {

/// Returns the start of long flow number `index` of a run: `start` plus a uniform share of
/// `spread`, drawn by seed.
Time long_flow_start(Duration start, Duration spread, std::uint64_t seed,
                     std::uint32_t index) noexcept;

/// A flow that always has data to send, from one host to another. If the transport gives up, it
/// begins again a second later. Not thread-safe: the lcore of the hosts owns it.
class LongFlow final : private TimerClient, private Channel::User {
 public:
  struct Setup {
    std::string name;
    Host* from = nullptr;
    std::unique_ptr<Channels> channels{};  ///< from that host
    Time start{};
  };
  LongFlow(Setup setup, GoodputSeries& goodput);
  LongFlow(const LongFlow&) = delete;
  LongFlow& operator=(const LongFlow&) = delete;

  /// Listens and sets the start timer. Call it once.
  void schedule();
  [[nodiscard]] const std::string& name() const noexcept { return setup_.name; }
  [[nodiscard]] FlowReport report() const {
    return {counts(), setup_.name, TrafficClass::kBackground};
  }
  [[nodiscard]] FlowCounts counts() const noexcept { return channel_.counts(ChannelSide::kNear); }
  [[nodiscard]] RoceCounters roce() const noexcept { return setup_.channels->roce(); }

 private:
  void on_timer(std::uint32_t tag, Time now) noexcept override;
  void on_delivered(Channel& channel, ChannelSide at, std::uint64_t fresh_bytes,
                    Time now) noexcept override;
  void on_ended(Channel& channel, Time now) noexcept override;

  Setup setup_;
  GoodputSeries& goodput_;
  Channel& channel_;
};

}  // namespace outrider::tg
