#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace outrider {

/// One figure of a live view, taken twice.
struct LiveFigure {
  enum class Kind : std::uint8_t {
    kCount,    ///< shown as it is
    kPackets,  ///< shown as packets a second over the interval
    kBytes,    ///< shown as bits a second over the interval
  };
  std::string name;
  Kind kind = Kind::kCount;
  std::uint64_t before = 0;
  std::uint64_t now = 0;
};

/// Shows figures of a running program once an interval: in a terminal as a block
/// that is drawn over itself, elsewhere as one line each time. Not thread-safe.
class LiveView {
 public:
  /// @param out must outlive the view
  /// @param terminal `out` understands ANSI escape sequences
  LiveView(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}

  /// @param at_seconds of the run; @param interval_seconds since the figures before, > 0
  void show(double at_seconds, double interval_seconds, std::span<const LiveFigure> figures);

  [[nodiscard]] bool terminal() const noexcept { return terminal_; }
  /// Draws `lines` over those of the last time, as far as the terminal is wide and high:
  /// what were to wrap or scroll could not be drawn over. @pre terminal()
  void redraw(std::span<const std::string> lines);
  /// Appends text, at once.
  void write(std::string_view text);

 private:
  std::ostream& out_;
  bool terminal_;
  std::size_t drawn_lines_ = 0;
  std::uint64_t logged_ = 0;  ///< lines of the log when it was drawn
};

/// "1.25 Mpps", "812 Mbit/s", "17": three significant digits.
std::string format_live(const LiveFigure& figure, double interval_seconds);

/// "1.0 s"
std::string format_seconds(double seconds);

/// `head` and the figures, parted by two spaces, with a newline.
std::string live_line(std::string_view head, std::span<const LiveFigure> figures,
                      double interval_seconds);

/// The lines that a terminal of that size can show and draw over; a last one says how many
/// are left out. Pure. @param columns,rows 0: any number
std::vector<std::string> fitted(std::span<const std::string> lines, std::size_t columns,
                                std::size_t rows);

}  // namespace outrider
