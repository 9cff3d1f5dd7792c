#include "common/telemetry/live_view.h"

#include <algorithm>
#include <array>
#include <cstdio>

namespace outrider {
namespace {

/// Three significant digits with a decimal prefix, e.g. "1.25 M".
std::string scaled(double value) {
  constexpr std::array<const char*, 5> kPrefixes = {"", "k", "M", "G", "T"};
  std::size_t prefix = 0;
  while (value >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  const int digits = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", digits, value, kPrefixes[prefix]);
  return text.data();
}

std::string seconds_text(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", seconds);
  return text.data();
}

}  // namespace

std::string format_live(const LiveFigure& figure, double interval_seconds) {
  // A counter that started anew must not show as an enormous rate.
  const std::uint64_t change = figure.now >= figure.before ? figure.now - figure.before : 0;
  const double rate = static_cast<double>(change) / interval_seconds;
  switch (figure.kind) {
    case LiveFigure::Kind::kPackets:
      return scaled(rate) + "pps";
    case LiveFigure::Kind::kBytes:
      return scaled(8 * rate) + "bit/s";
    case LiveFigure::Kind::kCount:
      break;
  }
  return std::to_string(figure.now);
}

void LiveView::show(double at_seconds, double interval_seconds,
                    std::span<const LiveFigure> figures) {
  std::size_t width = 0;
  for (const auto& f : figures) width = std::max(width, f.name.size());
  std::string text;
  if (!terminal_) {
    text = seconds_text(at_seconds);
    for (const auto& f : figures) text += "  " + f.name + ' ' + format_live(f, interval_seconds);
    text += '\n';
  } else {
    if (drawn_lines_ != 0) text = "\x1b[" + std::to_string(drawn_lines_) + "A";
    const auto line = [&](std::string_view name, const std::string& value) {
      text += "  " + std::string(name) +
              std::string(width - std::min(width, name.size()) + 2, ' ') + value + "\x1b[K\n";
    };
    line("time", seconds_text(at_seconds));
    for (const auto& f : figures) line(f.name, format_live(f, interval_seconds));
    drawn_lines_ = figures.size() + 1;
  }
  out_ << text << std::flush;
}

}  // namespace outrider
