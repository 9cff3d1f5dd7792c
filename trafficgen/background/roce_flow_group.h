#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trafficgen/background/flow_arrivals.h"
#include "trafficgen/background/flow_sources.h"
#include "trafficgen/background/flow_tally.h"
#include "trafficgen/channel/channel.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/measure/goodput.h"
#include "trafficgen/roce/roce_config.h"

namespace outrider::tg {

/// Runs a group of flows over RoCEv2. Each flow takes a free queue pair between its hosts, sends
/// its bytes as one message, and gives the queue pair back when they are acknowledged. So a queue
/// pair is used by one flow at a time, and goes on at the rate that it had: an idle time raises it
/// as the timers of DCQCN say.
///
/// A flow that finds no queue pair free makes one, which allocates as opening a connection does. If
/// `queue_pairs` is given, or `max_open` flows are open, it is counted as refused instead and not
/// repeated. A flow whose queue pair gave up has failed; what is left of it is abandoned.
///
/// The completion time lasts from the arrival to the last byte in order at the receiver. The
/// slowdown is that time divided by the ideal one: the time of the flow's frames at the slower of
/// the two NICs' rates, plus the way of a packet (IdealWay). Not thread-safe: one lcore owns it.
class RoceFlowGroup final : public FlowGroupSource, private TimerClient {
 public:
  struct Setup {
    std::string name;
    std::vector<Host*> from, to;
    /// Between each sender and each receiver; absent: kFirstQueuePairs, more when all are in use
    std::optional<std::uint32_t> queue_pairs{};
    std::uint32_t max_open = kMaxOpenFlows;
    std::uint32_t records = 0;
    RoceConfig roce;
    std::optional<std::uint8_t> priority{};
    std::uint64_t seed = 1;
    BitRate offered{};
    std::unique_ptr<FlowArrivals> arrivals{};
  };
  RoceFlowGroup(Setup setup, GoodputSeries& goodput);
  ~RoceFlowGroup() override;
  RoceFlowGroup(const RoceFlowGroup&) = delete;
  RoceFlowGroup& operator=(const RoceFlowGroup&) = delete;

  void schedule() override;
  [[nodiscard]] const std::string& name() const noexcept override { return tally_.name(); }
  [[nodiscard]] FlowGroupReport report() const override;
  [[nodiscard]] FlowGroupCounts counts() const noexcept override { return tally_.counts(); }
  [[nodiscard]] RoceCounters roce() const override;

 private:
  struct Flow;
  /// The shortest way of a packet between two hosts so far, without the time of its own frame at
  /// the slower NIC. That of a flow's first packet was short unless it met others; that of the
  /// answer, which meets no data, is so at once, and takes as much less as the most fortunate first
  /// packet of the group took more than its answer.
  struct IdealWay {
    std::int64_t data_ns = kLongest;    ///< of a full packet
    std::int64_t answer_ns = kLongest;  ///< of an acknowledgment, back
  };
  static constexpr std::int64_t kLongest = std::numeric_limits<std::int64_t>::max() / 4;
  /// What the flows from one host to another share.
  struct Pool {
    std::unique_ptr<Channels> channels;  ///< null between a host and itself
    std::vector<Flow*> free;
    std::uint32_t made = 0;  ///< queue pairs
    IdealWay way{};
  };

  void on_timer(std::uint32_t tag, Time now) noexcept override;
  void arm() noexcept;
  void begin(const FlowArrival& a, Time now) noexcept;
  [[nodiscard]] Flow& make_queue_pair(std::uint32_t from, std::uint32_t to);
  [[nodiscard]] Flow* take_queue_pair(const FlowArrival& a) noexcept;
  void delivered(Flow& f, std::uint64_t fresh_bytes, Time now) noexcept;
  void complete(Flow& f, Time now) noexcept;
  void end(Flow& f, Time now) noexcept;
  void judge(Flow& f, Time now) noexcept;
  [[nodiscard]] std::int64_t frames_ns(const FlowArrival& a, std::uint64_t bytes) const noexcept;
  [[nodiscard]] std::uint32_t path_mtu(const FlowArrival& a) const noexcept;
  [[nodiscard]] Pool& pool_of(const FlowArrival& a) noexcept {
    return pools_[a.from * setup_.to.size() + a.to];
  }

  Setup setup_;
  GoodputSeries& goodput_;
  std::optional<FlowArrival> next_;
  std::deque<Flow> flows_;                       ///< never moved
  std::vector<Pool> pools_;                      ///< [senders x receivers]
  std::uint32_t taken_ = 0;                      ///< queue pairs in use
  std::int64_t data_over_answer_ns_ = kLongest;  ///< by which data take longer than answers
  FlowTally tally_;
};

}  // namespace outrider::tg
