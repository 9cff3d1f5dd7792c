#include "tools/lab/import/nic_choice.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace outrider::lab {

NicChoice::NicChoice(const Fabric& fabric) : fabric_(fabric), neighbours_(fabric.switches.size()) {
  std::unordered_map<std::string_view, std::size_t> index;
  for (std::size_t i = 0; i < fabric.switches.size(); ++i) index[fabric.switches[i].name] = i;
  for (const TrunkEntry& trunk : fabric.trunks) {
    neighbours_[index.at(trunk.a)].push_back(index.at(trunk.b));
    neighbours_[index.at(trunk.b)].push_back(index.at(trunk.a));
  }
  for (std::size_t i = 0; i < fabric.slots.size(); ++i) slots_[fabric.slots[i].node].push_back(i);
  for (auto& [node, slots] : slots_)
    std::ranges::sort(slots, {}, [&fabric](std::size_t slot) { return fabric.slots[slot].nic; });
}

const std::vector<std::uint16_t>& NicChoice::distances(std::size_t from_switch) {
  auto& far = distances_[from_switch];
  if (!far.empty()) return far;
  far.assign(neighbours_.size(), kNoPath);
  far[from_switch] = 0;
  std::vector<std::size_t> reached{from_switch};
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (const std::size_t next : neighbours_[reached[i]]) {
      if (far[next] != kNoPath) continue;
      far[next] = static_cast<std::uint16_t>(far[reached[i]] + 1);
      reached.push_back(next);
    }
  return far;
}

std::optional<std::pair<std::size_t, std::size_t>> NicChoice::next(std::size_t from,
                                                                   std::size_t to) {
  const auto &sources = slots_.at(from), &sinks = slots_.at(to);
  std::uint16_t least = kNoPath;
  std::vector<std::pair<std::size_t, std::size_t>> pairs;
  for (std::size_t shift = 0; shift < sinks.size(); ++shift)
    for (std::size_t nic = 0; nic < sources.size(); ++nic) {
      const std::size_t sink = sinks[(nic + shift) % sinks.size()];
      const std::uint16_t links =
          distances(fabric_.slots[sources[nic]].at_switch)[fabric_.slots[sink].at_switch];
      if (links == kNoPath || links > least) continue;
      if (links < least) pairs.clear();
      least = links;
      pairs.emplace_back(sources[nic], sink);
    }
  if (pairs.empty()) return std::nullopt;
  return pairs[(from + to + seen_[{from, to}]++) % pairs.size()];
}

}  // namespace outrider::lab
