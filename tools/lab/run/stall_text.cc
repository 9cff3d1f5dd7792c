#include "tools/lab/run/stall_text.h"

#include <algorithm>

#include "common/core/drop_reason.h"

namespace outrider::lab {
namespace {

/// Returns the reason that most packets were dropped for: " (no_route 1234)", or nothing.
std::string main_reason(const PerReason<DropReason>& drops) {
  const auto most = std::ranges::max_element(drops);
  if (most == drops.end() || *most == 0) return {};
  return " (" + std::string(kDropReasonNames[static_cast<std::size_t>(most - drops.begin())]) +
         ' ' + std::to_string(*most) + ')';
}

PerReason<DropReason> of_all_classes(const PerClass<PerReason<DropReason>>& by_class) {
  PerReason<DropReason> all{};
  for (const auto& drops : by_class.values)
    for (std::size_t r = 0; r < drops.size(); ++r) all[r] += drops[r];
  return all;
}

}  // namespace

std::string text_of_stall(const tg::GeneratorReport& generator, const sw::SwitchReport& sw,
                          int seconds) {
  const PerReason<DropReason> drops = of_all_classes(sw.drops);
  const std::string numbers =
      "the generator sent " + std::to_string(generator.sent) + " packets, received " +
      std::to_string(generator.received) + " and dropped " + std::to_string(sum(generator.drops)) +
      main_reason(generator.drops) + "; the switch received " + std::to_string(sw.received) +
      ", transmitted " + std::to_string(sw.transmitted) + " and dropped " +
      std::to_string(sum(drops)) + main_reason(drops) + '.';
  const char* side =
      "Packets stopped on the way from the switch to the generator: see the links, "
      "and the generator's `received`.";
  if (sw.received == 0)
    side = "Nothing came to the switch: see the links, and the switch's `received`.";
  else if (sum(drops) * 2 >= sw.received || sw.transmitted == 0)
    side = "The switch forwards too little: see its routes, and its `transmitted` and `drops`.";
  return "no progress: the generator went on sending and received nothing, on one device or on "
         "all, "
         "for " +
         std::to_string(seconds) + " s. In all " + numbers + ' ' + side;
}

}  // namespace outrider::lab
