#include "switch/egress/parts/impairments.h"

namespace outrider::sw {
namespace {

struct LossChange final : PartChange {
  double loss = 0;
};

}  // namespace

void Impairments::set_loss(double loss) noexcept {
  lost_below_ = static_cast<std::uint64_t>(loss * static_cast<double>(kAllDraws));
}

/// Random loss draws for every packet, so that the choice of lost packets does not depend on the
/// queue.
ArrivalVerdict Impairments::on_arrival(const Incoming& incoming) noexcept {
  if (incoming.is_signal && !loses_all()) return {};
  const auto by_number = numbered_.judge(meta(incoming.packet).payload_bytes > 0);
  if (lost_below_ != 0 && random_.next_u32() < lost_below_)
    return {.lost = DropReason::kInjectedLoss};
  return by_number;
}

std::unique_ptr<PartChange> Impairments::prepare(const PartReload& reload) const {
  if (reload.from.loss == reload.to.loss) return nullptr;
  auto change = std::make_unique<LossChange>();
  change->loss = reload.to.loss;
  return change;
}

void Impairments::apply(PartChange* change, const PortQueueConfig& /*to*/, Time /*now*/) noexcept {
  if (change != nullptr) set_loss(static_cast<LossChange*>(change)->loss);
}

}  // namespace outrider::sw
