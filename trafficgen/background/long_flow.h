#pragma once

#include <string>

#include "trafficgen/background/flow_sources.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/measure/flow_totals.h"

namespace outrider::tg {

/// Returns the start of long flow number `index` of a run: `start` plus a uniform share of
/// `spread`, drawn by seed.
Time long_flow_start(Duration start, Duration spread, std::uint64_t seed,
                     std::uint32_t index) noexcept;

/// A flow over TCP that always has data to send, from one host to another.
class LongFlow final : public LongFlowSource, private TimerClient, private Acceptor {
 public:
  struct Setup {
    std::string name;
    Host* from = nullptr;
    Host* to = nullptr;
    std::uint16_t port = 0;  ///< on which the receiver listens; used by this flow only
    TcpConfig tcp;
    Time start{};
  };
  LongFlow(const Setup& setup, GoodputSeries& goodput);
  LongFlow(const LongFlow&) = delete;
  LongFlow& operator=(const LongFlow&) = delete;

  /// Listens and sets the start timer. Call it once.
  void schedule() override;
  [[nodiscard]] const std::string& name() const noexcept override { return totals_.name(); }
  [[nodiscard]] FlowReport report() const override { return totals_.named(counts()); }
  [[nodiscard]] FlowCounts counts() const noexcept override;

 private:
  struct Sender final : ConnectionListener {
    explicit Sender(LongFlow& f) : flow(f) {}
    void on_established(TcpConnection&, Time) noexcept override {}
    void on_delivered(TcpConnection&, Time) noexcept override {}
    void on_closed(TcpConnection& c, Time now) noexcept override { flow.sender_closed(c, now); }
    LongFlow& flow;
    TcpConnection* connection = nullptr;
  };
  struct Receiver final : ConnectionListener {
    explicit Receiver(LongFlow& f) : flow(f) {}
    void on_established(TcpConnection&, Time) noexcept override {}
    void on_delivered(TcpConnection& c, Time now) noexcept override {
      flow.totals_.on_delivered(c.delivered_bytes(), now);
    }
    void on_closed(TcpConnection&, Time) noexcept override {}
    LongFlow& flow;
  };

  void on_timer(std::uint32_t tag, Time now) noexcept override;
  Offer accept(const FlowKey& flow) noexcept override;
  void on_accepted(TcpConnection&) noexcept override { totals_.on_new_receiver(); }
  void sender_closed(TcpConnection& c, Time now) noexcept;

  Setup setup_;
  FlowTotals totals_;
  Sender sender_{*this};
  Receiver receiver_{*this};
};

}  // namespace outrider::tg
