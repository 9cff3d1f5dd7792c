#include "tools/lab/plan/host_places.h"

#include <algorithm>
#include <cassert>

#include "common/core/random.h"

namespace outrider::lab {

HostPlaces::HostPlaces(std::span<const FabricSlot> slots) : free_(slots.size()) {
  for (std::size_t i = 0; i < slots.size(); ++i) {
    if (leaves_.empty() || leaves_.back().at_switch != slots[i].at_switch)
      leaves_.push_back({slots[i].at_switch, {}});
    leaves_.back().open.push_back(i);
  }
  for (Leaf& leaf : leaves_) std::ranges::reverse(leaf.open);
}

std::size_t HostPlaces::free_at(std::size_t at_switch) const noexcept {
  const auto leaf = std::ranges::find(leaves_, at_switch, &Leaf::at_switch);
  return leaf == leaves_.end() ? 0 : leaf->open.size();
}

std::size_t HostPlaces::take_first(Leaf& leaf) {
  const std::size_t slot = leaf.open.back();
  leaf.open.pop_back();
  --free_;
  return slot;
}

std::vector<std::size_t> HostPlaces::take(HostPlacement placement, std::size_t count,
                                          std::uint64_t seed, std::uint32_t group) {
  assert(count <= free_);
  RandomStream draws(seed, group, RandomPurpose::kHostPlace);
  std::vector<std::size_t> taken;
  while (taken.size() < count) {
    auto leaf = leaves_.begin();
    if (placement == HostPlacement::kSpread) {
      leaf = std::ranges::max_element(leaves_, {}, [](const Leaf& l) { return l.open.size(); });
    } else if (placement == HostPlacement::kRandom) {
      // A leaf is drawn by its free places. Which of them it gives makes no difference.
      auto nth = static_cast<std::size_t>(draws.uniform() * static_cast<double>(free_));
      for (; nth >= leaf->open.size(); ++leaf) nth -= leaf->open.size();
    } else {
      leaf = std::ranges::find_if(leaves_, [](const Leaf& l) { return !l.open.empty(); });
    }
    taken.push_back(take_first(*leaf));
  }
  return taken;
}

std::vector<std::size_t> HostPlaces::take_at(std::size_t at_switch, std::size_t count) {
  assert(count <= free_at(at_switch));
  const auto leaf = std::ranges::find(leaves_, at_switch, &Leaf::at_switch);
  std::vector<std::size_t> taken;
  for (std::size_t i = 0; i < count; ++i) taken.push_back(take_first(*leaf));
  return taken;
}

}  // namespace outrider::lab
