#include "trafficgen/background/long_flow.h"

#include <utility>

#include "trafficgen/background/reopen.h"

namespace outrider::tg {

namespace {
constexpr std::uint64_t kEndlessBytes = std::uint64_t{1} << 50;  // 125 days at 100 Gbit/s
}  // namespace

Time long_flow_start(Duration start, Duration spread, std::uint64_t seed,
                     std::uint32_t index) noexcept {
  RandomStream random(seed, index, RandomPurpose::kFlowStart);
  return Time{} + start + from_seconds(seconds(spread) * random.uniform());
}

LongFlow::LongFlow(Setup setup, GoodputSeries& goodput)
    : setup_(std::move(setup)), goodput_(goodput), channel_(setup_.channels->make(*this)) {
  channel_.keep_counts();
}

void LongFlow::schedule() {
  setup_.channels->listen();
  setup_.from->set_timer(*this, 0, setup_.start);
}

void LongFlow::on_timer(std::uint32_t /*tag*/, Time now) noexcept {
  if (channel_.open(now)) channel_.send(ChannelSide::kNear, kEndlessBytes, now);
  else setup_.from->set_timer(*this, 0, now + kReopenAfter);
}

void LongFlow::on_delivered(Channel& /*channel*/, ChannelSide /*at*/, std::uint64_t fresh_bytes,
                            Time now) noexcept {
  goodput_.add(TrafficClass::kBackground, fresh_bytes, now);
}

void LongFlow::on_ended(Channel& /*channel*/, Time now) noexcept {
  setup_.from->set_timer(*this, 0, now + kReopenAfter);
}

}  // namespace outrider::tg
