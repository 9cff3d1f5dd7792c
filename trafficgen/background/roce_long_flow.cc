#include "trafficgen/background/roce_long_flow.h"

#include "trafficgen/background/reopen.h"

namespace outrider::tg {

namespace {
constexpr std::uint64_t kEndlessBytes = std::uint64_t{1} << 50;  // 125 days at 100 Gbit/s
}  // namespace

RoceLongFlow::RoceLongFlow(const Setup& setup, GoodputSeries& goodput)
    : setup_(setup),
      totals_(setup.name, TrafficClass::kBackground, goodput),
      stream_(setup_.roce, setup_.stream, *this) {}

void RoceLongFlow::schedule() { setup_.stream.from->set_timer(*this, 0, setup_.start); }

void RoceLongFlow::on_timer(std::uint32_t /*tag*/, Time now) noexcept {
  stream_.send(kEndlessBytes, now);
}

void RoceLongFlow::on_delivered(RoceStream& /*stream*/, std::uint64_t fresh_bytes,
                                Time now) noexcept {
  delivered_bytes_ += fresh_bytes;
  totals_.on_delivered(delivered_bytes_, now);
}

void RoceLongFlow::on_failed(RoceStream& /*stream*/, Time now) noexcept {
  stream_.restart();
  setup_.stream.from->set_timer(*this, 0, now + kReopenAfter);
}

FlowCounts RoceLongFlow::counts() const noexcept {
  FlowCounts counts = totals_.counts(nullptr);
  const RoceCounters& c = stream_.sender_counters();
  counts.retransmitted += c.retransmitted;
  counts.rtos_data += c.timeouts;
  counts.fast_recoveries += c.recoveries;
  counts.ece_reductions += c.cnps_received;
  return counts;
}

}  // namespace outrider::tg
