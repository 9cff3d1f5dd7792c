#include "trafficgen/background/long_flow.h"

#include "trafficgen/background/reopen.h"

namespace outrider::tg {

namespace {
constexpr std::uint64_t kEndless = std::uint64_t{1} << 50;  // 125 days at 100 Gbit/s
}  // namespace

Time long_flow_start(Duration start, Duration spread, std::uint64_t seed,
                     std::uint32_t index) noexcept {
  RandomStream random(seed, index, RandomPurpose::kFlowStart);
  return Time{} + start + from_seconds(seconds(spread) * random.uniform());
}

LongFlow::LongFlow(const Setup& setup, GoodputSeries& goodput)
    : setup_(setup), totals_(setup.name, TrafficClass::kBackground, goodput) {}

void LongFlow::schedule() {
  setup_.to->connections().listen(setup_.port, *this);
  setup_.from->set_timer(*this, 0, setup_.start);
}

void LongFlow::on_timer(std::uint32_t /*tag*/, Time now) noexcept {
  const FlowKey flow{setup_.from->address(), setup_.to->address(), setup_.from->ports().next(),
                     setup_.port};
  sender_.connection = &setup_.from->open(flow, setup_.tcp, 0, sender_, now);
  setup_.from->send(*sender_.connection, kEndless, now);
}

Acceptor::Offer LongFlow::accept(const FlowKey& /*flow*/) noexcept {
  return {.config = &setup_.tcp, .listener = &receiver_};
}

/// Opens the connection again if the transport gave up (a dead path).
void LongFlow::sender_closed(TcpConnection& c, Time now) noexcept {
  totals_.on_sender_closed(c.counters());
  sender_.connection = nullptr;
  setup_.from->set_timer(*this, 0, now + kReopenAfter);
}

FlowCounts LongFlow::counts() const noexcept {
  return totals_.counts(sender_.connection == nullptr ? nullptr : &sender_.connection->counters());
}

}  // namespace outrider::tg
