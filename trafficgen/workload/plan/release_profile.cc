#include "trafficgen/workload/plan/release_profile.h"

#include <algorithm>
#include <cstddef>

namespace outrider::tg {

std::vector<double> ready_shares(const ModelProfile& model) {
  const std::size_t tensors = model.tensors.size();
  std::vector<double> ready(tensors);
  for (std::size_t t = 0; t < tensors; ++t)
    ready[t] = static_cast<double>(tensors - t) / static_cast<double>(tensors);
  Duration passed{};
  std::size_t end = tensors;
  for (const BackwardStep& step : model.steps) {
    passed += step.after;
    const double share = passed == *model.backward ? 1 : seconds(passed) / seconds(*model.backward);
    std::fill(ready.begin() + step.first_tensor, ready.begin() + static_cast<std::ptrdiff_t>(end),
              share);
    end = step.first_tensor;
  }
  return ready;
}

std::vector<double> forward_shares(std::span<const double> ready) {
  std::vector<double> shares(ready.size());
  double before = 0;
  for (std::size_t end = ready.size(); end > 0;) {
    std::size_t begin = end;
    while (begin > 0 && ready[begin - 1] == ready[end - 1]) --begin;
    const double share = (ready[begin] - before) / static_cast<double>(end - begin);
    std::fill(shares.begin() + static_cast<std::ptrdiff_t>(begin),
              shares.begin() + static_cast<std::ptrdiff_t>(end), share);
    before = ready[begin];
    end = begin;
  }
  return shares;
}

}  // namespace outrider::tg
