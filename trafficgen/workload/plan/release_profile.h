#pragma once

#include <span>
#include <vector>

#include "trafficgen/workload/config/model_profile.h"

namespace outrider::tg {

/// Returns the share of the backward pass, in (0, 1], after which each tensor's gradient is ready
/// [tensors, in forward order]. If the profile has steps, gradients are ready at the steps.
/// Otherwise tensors take equal shares (an assumption): the n-th from the end of T after n / T.
std::vector<double> ready_shares(const ModelProfile& model);

/// Returns the share of the forward pass that each tensor takes. It is the tensor's share of the
/// backward pass; tensors that become ready together share equally (an assumption).
std::vector<double> forward_shares(std::span<const double> ready);

}  // namespace outrider::tg
