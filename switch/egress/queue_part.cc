#include "switch/egress/queue_part.h"

namespace outrider::sw {

// A queue calls a part only at the steps that it names, so these are never called there.

void QueuePart::choose(Packet& /*packet*/, Time /*now*/) noexcept {}
ArrivalVerdict QueuePart::on_arrival(const Incoming& /*arrival*/) noexcept { return {}; }
bool QueuePart::on_admission(Packet& /*packet*/, Time /*now*/) noexcept { return false; }
std::optional<DropReason> QueuePart::refuses(const Packet& /*packet*/) const noexcept {
  return std::nullopt;
}
void QueuePart::on_entry(const Packet& /*packet*/, Time /*now*/) noexcept {}
void QueuePart::on_waiting(Time /*now*/) noexcept {}
void QueuePart::on_exit(const Fifo::Item& /*item*/, Time /*now*/) noexcept {}
bool QueuePart::spares(const PacketMeta& /*m*/, MarkReason /*reason*/) noexcept { return false; }
void QueuePart::on_departure(const Transmission& /*sent*/) noexcept {}
bool QueuePart::takes_start(const StartSignal& /*start*/, Time /*now*/) noexcept { return false; }
void QueuePart::on_armed(const StartSignal& /*start*/, Time /*now*/) noexcept {}
bool QueuePart::on_return(Packet& /*packet*/, Time /*now*/) noexcept { return false; }
std::optional<Duration> QueuePart::lead_for(const FlowKey& /*flow*/, Time /*now*/) noexcept {
  return std::nullopt;
}
bool QueuePart::takes_elsewhere(Packet& /*packet*/, Time /*now*/) noexcept { return false; }
void QueuePart::on_elsewhere(Packet& /*packet*/, bool /*same_port*/, Time /*now*/) noexcept {}
void QueuePart::forget(const Fifo::Item& /*item*/) noexcept {}
std::uint64_t QueuePart::keeps(std::size_t /*queue*/) const noexcept { return 0; }
void QueuePart::flush() noexcept {}
void QueuePart::settle(Time /*now*/) noexcept {}
void QueuePart::count(QueueCounts& /*to*/, std::size_t /*queue*/, Time /*now*/) const {}
void QueuePart::report(QueueReport& /*to*/, Time /*now*/) const {}
std::unique_ptr<PartChange> QueuePart::prepare(const PartReload& /*reload*/) const {
  return nullptr;
}
void QueuePart::apply(PartChange* /*change*/, const PortQueueConfig& /*to*/,
                      Time /*now*/) noexcept {}

void PartList::renew() noexcept {
  first_ = {};
  others_ = {};
  keeper_ = nullptr;
  for (std::size_t i = 0; i < size_; ++i) {
    const Steps steps = parts_[i]->steps();
    if (PacketKeeper* const keeper = parts_[i]->keeper()) {
      assert(keeper_ == nullptr && steps.has(Step::kRoom));
      keeper_ = keeper;
    }
    for (std::size_t s = 0; s < kSteps; ++s) {
      if (!steps.has(static_cast<Step>(s))) continue;
      if (first_[s] == nullptr) first_[s] = parts_[i];
      else others_[s] = static_cast<std::uint16_t>(others_[s] | 1U << i);
    }
  }
  may_pass_ = !act_at(Step::kRoom) && !act_at(Step::kEnter) && !act_at(Step::kExit);
}

void PartList::exit(const QueuePart::Fifo::Item& item, Time now) const noexcept {
  each(Step::kExit, [&](QueuePart& part) { part.on_exit(item, now); });
}

}  // namespace outrider::sw
