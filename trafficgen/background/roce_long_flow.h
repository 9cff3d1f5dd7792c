#pragma once

#include <string>

#include "trafficgen/background/flow_sources.h"
#include "trafficgen/background/roce_stream.h"

namespace outrider::tg {

/// A flow over RoCEv2 that always has data to send. A queue pair that gave up is used again a
/// second later, as LongFlow opens a connection again.
class RoceLongFlow final : public LongFlowSource, private TimerClient, private RoceStream::Client {
 public:
  struct Setup {
    std::string name;
    RoceStream::Setup stream;
    RoceConfig roce;
    Time start{};
  };
  RoceLongFlow(const Setup& setup, GoodputSeries& goodput);
  RoceLongFlow(const RoceLongFlow&) = delete;
  RoceLongFlow& operator=(const RoceLongFlow&) = delete;

  void schedule() override;
  /// Counts NAKs that began a repair as fast recoveries and CNPs as reductions, as jobs do.
  [[nodiscard]] const std::string& name() const noexcept override { return totals_.name(); }
  [[nodiscard]] FlowReport report() const override { return totals_.named(counts()); }
  [[nodiscard]] FlowCounts counts() const noexcept override;
  [[nodiscard]] RoceCounters roce() const override { return stream_.counters(); }

 private:
  void on_timer(std::uint32_t tag, Time now) noexcept override;
  void on_delivered(RoceStream&, std::uint64_t fresh_bytes, Time now) noexcept override;
  void on_idle(RoceStream&, Time) noexcept override {}
  void on_failed(RoceStream&, Time now) noexcept override;

  Setup setup_;
  FlowTotals totals_;
  std::uint64_t delivered_bytes_ = 0;
  RoceStream stream_;
};

}  // namespace outrider::tg
