#include "common/regulation/regulator_composition.h"

#include <algorithm>
#include <cassert>

namespace outrider {
namespace {

std::uint16_t rounded(double packets) noexcept {
  return static_cast<std::uint16_t>(std::max(1.0, packets + 0.5));
}

double harmonic(std::span<const JobWish> wishes) noexcept {
  double sum = 0;
  for (const auto& w : wishes) sum += 1.0 / w.threshold_packets;
  return 1 / sum;
}

double by_demand(std::span<const JobWish> wishes) noexcept {
  double known_bytes = 0;
  double known = 0;
  for (const auto& w : wishes) {
    known_bytes += static_cast<double>(w.bytes);
    known += w.bytes != 0;
  }
  const double unknown_bytes = known == 0 ? 1 : known_bytes / known;
  double weights = 0;
  double sum = 0;
  for (const auto& w : wishes) {
    const double weight = w.bytes == 0 ? unknown_bytes : static_cast<double>(w.bytes);
    weights += weight;
    sum += weight / w.threshold_packets;
  }
  return weights / sum;
}

}  // namespace

std::uint16_t compose(Composition composition, std::span<const JobWish> wishes) noexcept {
  assert(!wishes.empty());
  switch (composition) {
    case Composition::kMin:
      break;
    case Composition::kHarmonic:
      return rounded(harmonic(wishes));
    case Composition::kDemand:
      return rounded(by_demand(wishes));
  }
  return std::ranges::min_element(wishes, {}, &JobWish::threshold_packets)->threshold_packets;
}

JobWishes::JobWishes(std::uint32_t max_entries) : index_(max_entries) {
  assert(max_entries <= kMaxEntries);
  jobs_.reserve(max_entries);
  wishes_.reserve(max_entries);
  silent_.reserve(max_entries);
}

void JobWishes::add(const FlowKey& job, std::uint16_t threshold_packets,
                    std::optional<std::uint64_t> bytes) noexcept {
  const std::uint32_t* known = index_.find(job);
  const std::size_t at = known != nullptr ? *known : wishes_.size();
  if (known == nullptr) {
    index_.insert(job, static_cast<std::uint32_t>(at));
    jobs_.push_back(job);
    wishes_.push_back({threshold_packets, 0});
    silent_.push_back(0);
  }
  JobWish& wish = wishes_[at];
  wish.threshold_packets = std::min(wish.threshold_packets, threshold_packets);
  silent_[at] |= static_cast<std::uint8_t>(!bytes);
  wish.bytes = silent_[at] != 0 ? 0 : wish.bytes + std::min(*bytes, kMostBytes);
}

std::uint16_t JobWishes::take(Composition composition) noexcept {
  const std::uint16_t composed = compose(composition, wishes_);
  for (const auto& job : jobs_) index_.erase(job);
  jobs_.clear();
  wishes_.clear();
  silent_.clear();
  return composed;
}

}  // namespace outrider
