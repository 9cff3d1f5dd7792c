#pragma once

#include <cstdint>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

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

 private:
  std::ostream& out_;
  bool terminal_;
  std::size_t drawn_lines_ = 0;
};

/// "1.25 Mpps", "812 Mbit/s", "17": three significant digits.
std::string format_live(const LiveFigure& figure, double interval_seconds);

}  // namespace outrider
