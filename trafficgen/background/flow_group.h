#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trafficgen/background/flow_arrivals.h"
#include "trafficgen/background/flow_tally.h"
#include "trafficgen/channel/channel.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/measure/goodput.h"

namespace outrider::tg {

/// Runs a group of flows. Each flow arrives, sends its bytes over a channel that it is lent, and
/// ends. Over TCP this is a connection of its own, over RoCEv2 a queue pair between its hosts,
/// which goes on at the rate that it had.
///
/// The completion time lasts from the arrival to the last byte in order at the receiver. It
/// includes a handshake, and waiting for the sender's NIC. The slowdown is that time divided by the
/// ideal one (IdealTimes).
///
/// At most max_open flows are open at once, in recycled objects; a new peak of open flows
/// allocates, as opening a connection does. Further arrivals, and those that are lent no channel,
/// are counted as refused and not repeated. A flow whose channel gave up has failed; its object is
/// free when the channel is. Not thread-safe: one lcore owns it.
class FlowGroup final : private TimerClient {
 public:
  struct Setup {
    std::string name;
    ChannelHosts hosts;
    std::unique_ptr<Channels> channels{};  ///< between these; this group's only
    std::uint32_t max_open = kMaxOpenFlows;
    std::uint32_t records = 0;
    BitRate offered{};
    bool listed = false;  ///< arrivals are those of a list
    std::unique_ptr<FlowArrivals> arrivals{};
  };
  FlowGroup(Setup setup, GoodputSeries& goodput);
  ~FlowGroup();
  FlowGroup(const FlowGroup&) = delete;
  FlowGroup& operator=(const FlowGroup&) = delete;

  /// Listens and sets the timer of the first arrival. Call it once.
  void schedule();
  [[nodiscard]] const std::string& name() const noexcept { return tally_.name(); }
  /// Says whether no flow of a list is left: each has been delivered, has failed or was refused.
  /// True for flows that are drawn.
  [[nodiscard]] bool list_is_over() const noexcept {
    return !setup_.listed || (!next_ && tally_.open() == 0);
  }
  [[nodiscard]] FlowGroupReport report() const;
  [[nodiscard]] FlowGroupCounts counts() const noexcept { return tally_.counts(); }
  [[nodiscard]] RoceCounters roce() const { return setup_.channels->roce(); }

 private:
  struct Flow;

  void on_timer(std::uint32_t tag, Time now) noexcept override;
  void arm() noexcept;
  void begin(const FlowArrival& a, Time now) noexcept;
  [[nodiscard]] Flow* take_place() noexcept;
  void give_back(Flow& f) noexcept;
  void opened(Flow& f, Time now) noexcept;
  void delivered(Flow& f, std::uint64_t fresh_bytes, Time now) noexcept;
  void ended(Flow& f, Time now) noexcept;
  void judge(Flow& f, std::optional<std::int64_t> answer_ns) noexcept;

  Setup setup_;
  GoodputSeries& goodput_;
  std::unique_ptr<IdealTimes> ideal_;
  std::optional<FlowArrival> next_;
  std::deque<Flow> flows_;  ///< as many as were ever open, never moved
  std::vector<Flow*> free_;
  FlowTally tally_;
};

}  // namespace outrider::tg
