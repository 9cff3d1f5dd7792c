#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/core/flow_table.h"
#include "trafficgen/background/flow_arrivals.h"
#include "trafficgen/background/flow_sources.h"
#include "trafficgen/background/flow_tally.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/measure/goodput.h"

namespace outrider::tg {

/// Runs a group of flows over TCP. Each flow arrives, sends its bytes over its own connection, and
/// ends.
///
/// The completion time lasts from the arrival (the SYN may leave) to the last byte in order at the
/// receiver. It includes the handshake and waiting for the sender's NIC. The slowdown is that time
/// divided by the ideal one: the shortest handshake and the shortest way of data that this pair of
/// hosts had so far in this run, plus the time of the flow's frames at the slower of the two NICs'
/// rates. The way of data is half a handshake, or less if a flow had less left beside its own
/// handshake and frames: so no flow is faster than its ideal.
///
/// At most max_open flows are open at once, in recycled objects; a new peak of open flows
/// allocates, as opening a connection does. Further arrivals are counted as refused and not
/// repeated. A flow whose sender gave up frees its object when its receiver has closed too. Not
/// thread-safe: one lcore owns it.
class FlowGroup final : public FlowGroupSource, private TimerClient, private Acceptor {
 public:
  struct Setup {
    std::string name;
    std::vector<Host*> from, to;
    std::vector<BitRate> from_rates{}, to_rates{};  ///< rates of their NICs
    std::uint16_t port = 0;                         ///< of the receivers; this group only
    std::uint32_t max_open = kMaxOpenFlows;
    std::uint32_t records = 0;
    TcpConfig tcp;
    BitRate offered{};
    std::unique_ptr<FlowArrivals> arrivals{};
  };
  FlowGroup(Setup setup, GoodputSeries& goodput);
  ~FlowGroup() override;
  FlowGroup(const FlowGroup&) = delete;
  FlowGroup& operator=(const FlowGroup&) = delete;

  /// Listens and sets the timer of the first arrival. Call it once.
  void schedule() override;
  [[nodiscard]] const std::string& name() const noexcept override { return tally_.name(); }
  [[nodiscard]] FlowGroupReport report() const override;
  [[nodiscard]] FlowGroupCounts counts() const noexcept override { return tally_.counts(); }

  /// Returns the bytes on the wire (L1) of a flow sent in full segments and a rest.
  static std::uint64_t wire_bytes_of(std::uint64_t bytes, std::uint32_t mss_bytes) noexcept;

 private:
  struct Flow;

  void on_timer(std::uint32_t tag, Time now) noexcept override;
  Offer accept(const FlowKey& flow) noexcept override;
  void on_accepted(TcpConnection& connection) noexcept override;

  void arm() noexcept;
  void begin(const FlowArrival& a, Time now) noexcept;
  [[nodiscard]] bool find_port(const FlowArrival& a, FlowKey& key, Time now) noexcept;
  [[nodiscard]] Flow* take_place() noexcept;
  void established(Flow& f, Time now) noexcept;
  void delivered(Flow& f, std::uint64_t total, Time now) noexcept;
  void complete(Flow& f, Time now) noexcept;
  void sender_closed(Flow& f, Time now) noexcept;
  void receiver_closed(Flow& f) noexcept;
  void close_receiver(Flow& f, Time now) noexcept;
  void retire(Flow& f) noexcept;
  [[nodiscard]] std::int64_t ideal_ns(const Flow& f, std::int64_t took_ns) noexcept;
  /// The shortest times of a pair of hosts so far.
  struct Shortest {
    std::int64_t handshake_ns = std::numeric_limits<std::int64_t>::max();
    std::int64_t way_ns = std::numeric_limits<std::int64_t>::max();  ///< of data
  };
  [[nodiscard]] Shortest& shortest_of(const Flow& f) noexcept;

  Setup setup_;
  GoodputSeries& goodput_;
  std::optional<FlowArrival> next_;
  std::deque<Flow> flows_;  ///< as many as were ever open, never moved
  std::vector<Flow*> free_;
  FlowTable<Flow*> by_key_;         ///< in the sender's direction
  std::vector<Shortest> shortest_;  ///< [senders x receivers]
  FlowTally tally_;
};

}  // namespace outrider::tg
