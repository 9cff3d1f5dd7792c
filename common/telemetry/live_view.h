#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/core/units.h"

namespace outrider {

/// One figure of a live view, with its values at two instants.
struct LiveFigure {
  enum class Kind : std::uint8_t {
    kCount,       ///< shown unchanged
    kPackets,     ///< shown as packets per second over the interval
    kBytes,       ///< shown as bits per second over the interval
    kNotCounted,  ///< nothing counts it: it has no values
    kLink,        ///< bytes at L1, shown as a share of the link's rate
  };
  std::string name;
  Kind kind = Kind::kCount;
  std::uint64_t before = 0;
  std::uint64_t now = 0;
  BitRate rate{};  ///< kLink: of the link; zero: not known
};

/// Shows figures of a running program once per interval: in a terminal as a block that is
/// redrawn in place, elsewhere as one new line each time. Not thread-safe.
class LiveView {
 public:
  /// @param out must outlive the view
  /// @param terminal whether `out` understands ANSI escape sequences
  LiveView(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}

  /// @param at_seconds time of the run; @param interval_seconds since the last figures, > 0
  void show(double at_seconds, double interval_seconds, std::span<const LiveFigure> figures);

  [[nodiscard]] bool terminal() const noexcept { return terminal_; }
  /// Draws `lines` over those of the last time, cut to the size of the terminal: lines that
  /// wrap or scroll could not be drawn over. @pre terminal()
  void redraw(std::span<const std::string> lines);
  /// Writes text and flushes it.
  void write(std::string_view text);

 private:
  std::ostream& out_;
  bool terminal_;
  std::size_t drawn_lines_ = 0;
  std::uint64_t logged_ = 0;  ///< lines of the log at the last drawing
};

/// Formats a figure as "1.25 Mpps", "812 Mbit/s", "17", "81.2 %".
std::string format_live(const LiveFigure& figure, double interval_seconds);

/// Formats seconds as "1.0 s".
std::string format_seconds(double seconds);

/// Returns `head` and the figures, separated by two spaces, with a newline.
std::string live_line(std::string_view head, std::span<const LiveFigure> figures,
                      double interval_seconds);

/// Returns the lines that a terminal of that size can show and draw over. If some are left
/// out, the last line says how many. Pure. @param columns,rows 0: no limit
std::vector<std::string> fitted(std::span<const std::string> lines, std::size_t columns,
                                std::size_t rows);

}  // namespace outrider
