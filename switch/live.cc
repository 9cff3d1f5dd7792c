#include "switch/live.h"

#include <string>

namespace outrider {

std::vector<LiveFigure> live_figures(const SwitchLive& before, const SwitchLive& now) {
  using Kind = LiveFigure::Kind;
  std::vector<LiveFigure> figures{
      {"received", Kind::kPackets, before.received, now.received},
      {"transmitted", Kind::kPackets, before.transmitted, now.transmitted},
      {"transmitted", Kind::kBytes, before.transmitted_bytes, now.transmitted_bytes},
      {"queued", Kind::kCount, 0, now.resident},
      {"regulations", Kind::kCount, 0, now.regulated},
  };
  // What never happened takes no room.
  const auto count = [&](const char* what, std::string_view reason, std::uint64_t is) {
    if (is != 0)
      figures.push_back({std::string(what) + ' ' + std::string(reason), Kind::kCount, 0, is});
  };
  for (std::size_t i = 0; i < kMarkReasons; ++i) count("marked", kMarkReasonNames[i], now.marks[i]);
  for (std::size_t i = 0; i < kDropReasons; ++i)
    count("dropped", kDropReasonNames[i], now.drops[i]);
  return figures;
}

}  // namespace outrider
