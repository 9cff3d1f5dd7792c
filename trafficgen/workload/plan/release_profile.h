#pragma once

#include <span>
#include <vector>

#include "trafficgen/workload/config/model_profile.h"

namespace outrider::tg {

/// After which part of the backward pass each tensor's gradient is ready [tensors, in
/// forward order], in (0, 1]. With the profile's steps, at theirs; without, tensors take
/// equal shares (an assumption): the n-th from the end of T after n / T.
std::vector<double> ready_shares(const ModelProfile& model);

/// Which part of the forward pass each tensor takes: that which it takes of the backward
/// pass, tensors that become ready together in equal shares (an assumption).
std::vector<double> forward_shares(std::span<const double> ready);

}  // namespace outrider::tg
