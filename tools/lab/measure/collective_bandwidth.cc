#include "tools/lab/measure/collective_bandwidth.h"

#include <cassert>

namespace outrider::lab {

std::optional<double> bus_factor(tg::Collective collective, std::size_t workers) {
  assert(workers >= 1);
  const double others = static_cast<double>(workers - 1) / static_cast<double>(workers);
  switch (collective) {
    case tg::Collective::kRing:
    case tg::Collective::kHalvingDoubling:
    case tg::Collective::kTree:
      return 2 * others;
    case tg::Collective::kAllToAll:
      return others;
    case tg::Collective::kPs:
    case tg::Collective::kPipeline:
    case tg::Collective::kSteps:
      break;
  }
  return std::nullopt;
}

}  // namespace outrider::lab
