#pragma once

#include <cstdint>
#include <type_traits>

namespace outrider {

/// Describes one number of a report. Its row in fields() is the only place that does. The JSON
/// report takes the name from it, Prometheus takes series, type and help, and DPDK telemetry
/// and the live view take whether and under which name they show it.
///
///     template <class V, class R>
///     requires std::same_as<std::remove_const_t<R>, PaceCounters>
///     void fields(V& v, R& r) {
///       v.value(counter("held", "packets", "Packets that waited before the queue"), r.held);
///     }
struct Figure {
  enum class Kind : std::uint8_t {
    kCounter,  ///< only grows; Prometheus appends "_total"
    kGauge,
  };

  const char* field;  ///< name in the report
  Kind kind;
  const char* unit;  ///< of the value: "packets", "ns"; agrees with a unit in the name
  const char* help;  ///< one line
  const char* exported = nullptr;  ///< name in Prometheus, if not `field`
  const char* live = nullptr;      ///< label in the live view, which shows it once it is not zero
  bool in_outline = false;         ///< shown by DPDK telemetry in the outline of a port
  bool rare = false;               ///< not in an outline while it is zero

  [[nodiscard]] constexpr Figure as(const char* name) const noexcept {
    Figure other = *this;
    other.exported = name;
    return other;
  }
  [[nodiscard]] constexpr Figure shown_as(const char* label) const noexcept {
    Figure other = *this;
    other.live = label;
    return other;
  }
  [[nodiscard]] constexpr Figure outlined() const noexcept {
    Figure other = *this;
    other.in_outline = true;
    return other;
  }
  /// For what most ports do not have.
  [[nodiscard]] constexpr Figure outlined_if_any() const noexcept {
    Figure other = outlined();
    other.rare = true;
    return other;
  }
  /// For writers that need only the name, such as JSON and CSV.
  constexpr operator const char*() const noexcept { return field; }
};

constexpr Figure counter(const char* field, const char* unit, const char* help) noexcept {
  return {field, Figure::Kind::kCounter, unit, help};
}
constexpr Figure gauge(const char* field, const char* unit, const char* help) noexcept {
  return {field, Figure::Kind::kGauge, unit, help};
}

/// Describes a field that is a column of a table and no number of a report: an instant, or what a
/// record is of. Its unit is the end of its name.
struct Described {
  const char* field;
  const char* help;  ///< one line, without a full stop
  constexpr operator const char*() const noexcept { return field; }
};

/// Returns `record` as its base, const if it is: fields() of a struct passes it to fields() of
/// the base.
template <class Base, class R>
constexpr auto& base_of(R& record) noexcept {
  if constexpr (std::is_const_v<R>) return static_cast<const Base&>(record);
  else return static_cast<Base&>(record);
}

}  // namespace outrider
