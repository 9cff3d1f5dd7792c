#include "common/telemetry/live_view.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "common/telemetry/log.h"

namespace outrider {
namespace {

/// Formats three significant digits with a decimal prefix, e.g. "1.25 M".
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

std::string share_of(BitRate rate, double bits_per_second) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f %%",
                100 * bits_per_second / static_cast<double>(rate.bits_per_second));
  return text.data();
}

}  // namespace

std::string format_seconds(double seconds) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", seconds);
  return text.data();
}

std::string format_live(const LiveFigure& figure, double interval_seconds) {
  // A counter that restarted must not show as an enormous rate.
  const std::uint64_t change = figure.now >= figure.before ? figure.now - figure.before : 0;
  const double rate = static_cast<double>(change) / interval_seconds;
  switch (figure.kind) {
    case LiveFigure::Kind::kPackets:
      return scaled(rate) + "pps";
    case LiveFigure::Kind::kBytes:
      return scaled(8 * rate) + "bit/s";
    case LiveFigure::Kind::kLink:
      return figure.rate.bits_per_second == 0 ? "not known" : share_of(figure.rate, 8 * rate);
    case LiveFigure::Kind::kNotCounted:
      return "not counted";
    case LiveFigure::Kind::kCount:
      break;
  }
  return std::to_string(figure.now);
}

std::string live_line(std::string_view head, std::span<const LiveFigure> figures,
                      double interval_seconds) {
  std::string text(head);
  for (const auto& f : figures) text += "  " + f.name + ' ' + format_live(f, interval_seconds);
  return text + '\n';
}

std::vector<std::string> fitted(std::span<const std::string> lines, std::size_t columns,
                                std::size_t rows) {
  std::vector<std::string> out(lines.begin(), lines.end());
  if (rows >= 2 && out.size() >= rows) {  // the cursor needs a row as well
    const std::size_t left_out = out.size() - (rows - 2);
    out.resize(rows - 2);
    out.push_back("... " + std::to_string(left_out) + " more lines");
  }
  for (auto& line : out)
    if (columns != 0 && line.size() > columns) line.resize(columns);
  return out;
}

void LiveView::write(std::string_view text) { out_ << text << std::flush; }

void LiveView::redraw(std::span<const std::string> lines) {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0) size = {};
  std::string text;
  const LogHold hold;  // else a line that comes before the block is written would be drawn over
  const std::uint64_t logged = log_lines();  // if more were logged, the block is drawn below them
  if (drawn_lines_ != 0 && logged == logged_) text = "\x1b[" + std::to_string(drawn_lines_) + "A\r";
  const auto fitting = fitted(lines, size.ws_col, size.ws_row);
  for (const auto& line : fitting) text += line + "\x1b[K\n";
  text += "\x1b[J";  // the last block may have been longer
  drawn_lines_ = fitting.size();
  logged_ = logged;
  write(text);
}

void LiveView::show(double at_seconds, double interval_seconds,
                    std::span<const LiveFigure> figures) {
  if (!terminal_) return write(live_line(format_seconds(at_seconds), figures, interval_seconds));
  std::size_t width = std::string_view("time").size();
  for (const auto& f : figures) width = std::max(width, f.name.size());
  std::vector<std::string> lines;
  const auto add = [&](std::string_view name, const std::string& value) {
    lines.push_back("  " + std::string(name) + std::string(width - name.size() + 2, ' ') + value);
  };
  add("time", format_seconds(at_seconds));
  for (const auto& f : figures) add(f.name, format_live(f, interval_seconds));
  redraw(lines);
}

}  // namespace outrider
