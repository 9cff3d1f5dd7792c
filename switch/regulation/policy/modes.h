#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace outrider {

/// What is done to background so that a burst finds room, by most modes while one is announced.
enum class RegulationMode : std::uint8_t {
  kOff,
  kMark,
  kPace,
  kMarkPace,
  kWindow,
  kMarkWindow,
  kSteer,
  kFairWindow,
};

/// A mode of regulation: its name in files, and what of a queue it needs. The switch makes the
/// queue's parts from these, checks join other settings to them by the functions below, and nothing
/// else asks for a mode by its name.
struct ModeRow {
  RegulationMode mode{};
  std::string_view name{};
  bool marks = false;          ///< the low threshold marks packets (the PCN paper)
  bool paces = false;          ///< background enters the queue only while it is below the threshold
  bool holds_windows = false;  ///< background's windows are held
  /// Held flows are not marked at the low threshold: it is for those that cannot be held.
  bool spares_held = false;
  bool steers = false;          ///< the burst goes to another queue; background is left alone
  bool shares_windows = false;  ///< background's windows are its fair share, without any burst

  friend bool operator==(const ModeRow&, const ModeRow&) = default;
};

/// All modes, in the order of the enumeration.
inline constexpr auto kModeRows = std::to_array<ModeRow>({
    {.mode = RegulationMode::kOff, .name = "off"},
    {.mode = RegulationMode::kMark, .name = "mark", .marks = true},
    {.mode = RegulationMode::kPace, .name = "pace", .paces = true},
    {.mode = RegulationMode::kMarkPace, .name = "mark_pace", .marks = true, .paces = true},
    {.mode = RegulationMode::kWindow,
     .name = "window",
     .marks = true,
     .holds_windows = true,
     .spares_held = true},
    {.mode = RegulationMode::kMarkWindow,
     .name = "mark_window",
     .marks = true,
     .holds_windows = true},
    {.mode = RegulationMode::kSteer, .name = "steer", .steers = true},
    {.mode = RegulationMode::kFairWindow, .name = "fair_window", .shares_windows = true},
});

constexpr const ModeRow& row_of(RegulationMode mode) noexcept {
  return kModeRows[static_cast<std::size_t>(mode)];
}
static_assert([] {
  for (const auto& row : kModeRows)
    if (&row_of(row.mode) != &row) return false;
  return true;
}());

// Short forms of what a row says.
constexpr bool marks(RegulationMode m) noexcept { return row_of(m).marks; }
constexpr bool paces(RegulationMode m) noexcept { return row_of(m).paces; }
constexpr bool holds_windows(RegulationMode m) noexcept { return row_of(m).holds_windows; }
constexpr bool steers(RegulationMode m) noexcept { return row_of(m).steers; }
constexpr bool shares_windows(RegulationMode m) noexcept { return row_of(m).shares_windows; }

/// Returns whether announced or predicted bursts make the mode act: it needs their signals.
constexpr bool acts_on_bursts(RegulationMode m) noexcept {
  return marks(m) || paces(m) || holds_windows(m) || steers(m);
}
/// Returns whether a reload may change from and to the mode. It may if a queue has no part for it,
/// or, as for pacing, one in all modes; others are made with the queue.
constexpr bool reloads(RegulationMode m) noexcept {
  ModeRow row = row_of(m);
  row.mode = {};
  row.name = {};
  row.marks = row.paces = false;
  return row == ModeRow{};
}
/// Returns whether the mode rewrites windows: the queue follows flows of TCP in both directions.
constexpr bool rewrites_windows(RegulationMode m) noexcept {
  return holds_windows(m) || shares_windows(m);
}

}  // namespace outrider
