#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "common/core/burst_identity.h"
#include "common/core/figure.h"
#include "common/core/histogram.h"
#include "common/core/traffic_class.h"
#include "common/telemetry/identity_fields.h"

namespace outrider {

/// A value of a table: none (an empty cell of CSV, NULL of SQL), a number, or a text that somebody
/// else owns.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string_view>;

enum class CellKind : std::uint8_t { kInteger, kReal, kText, kAny };

/// A column of a table. Its unit is the end of its name: "_ns", "_bytes", "_packets".
struct TableColumn {
  std::string name;
  CellKind kind = CellKind::kText;
  std::string help{};  ///< one line, without a full stop; empty: the name says it
};

/// Splits a record into the columns, or the cells, of a row, by the bindings of json_fields.h, so
/// that a figure has the same name in both. Every record of a type has the same columns:
///
/// * a record within the record has its own columns: a field `signal` of times_ns becomes
///   times_signal_ns. An identity becomes its plain fields;
/// * a histogram becomes count, mean, minimum, quantiles and maximum;
/// * lists of records are left out: they are tables of their own.
///
/// A value that does not exist (an instant of -1, a number that is not defined, an absent record, a
/// quantile of an empty histogram) is an empty cell. Cells refer to the texts of the record.
template <bool kColumns>
class RecordSplitter {
 public:
  using Part = std::conditional_t<kColumns, TableColumn, Cell>;

  /// @param parts  to which the record's are appended; outlives this
  explicit RecordSplitter(std::vector<Part>& parts) : parts_(parts) {}

  template <class T>
  void value(const Figure& figure, const T& v) {
    described(figure.help, [&] { value(figure.field, v); });
  }
  template <class T>
  void value(const Described& field, const T& v) {
    described(field.help, [&] { value(field.field, v); });
  }
  template <std::integral T>
  void value(const char* name, T v) {
    if constexpr (!std::same_as<T, bool>)
      if (!kColumns && std::cmp_equal(v, -1) && std::string_view(name).ends_with("_ns"))
        return add(name, CellKind::kInteger, {});
    add(name, CellKind::kInteger, static_cast<std::int64_t>(v));
  }
  void value(const char* name, double v) {
    add(name, CellKind::kReal, std::isnan(v) ? Cell{} : Cell(v));
  }
  void value(const char* name, const std::string& v) {
    add(name, CellKind::kText, v.empty() ? Cell{} : Cell(std::string_view(v)));
  }
  void value(const char* name, BurstDirection v) {
    add(name, CellKind::kText, std::string_view(v == BurstDirection::kPush ? "push" : "pull"));
  }
  void value(const char* name, TrafficClass v) { add(name, CellKind::kText, name_of(v)); }
  void value(const char* name, const Histogram& h) {
    static constexpr std::pair<const char*, double> kQuantiles[] = {
        {"p50", 0.5},       {"p90", 0.9},         {"p99", 0.99},         {"p99.9", 0.999},
        {"p99.99", 0.9999}, {"p99.999", 0.99999}, {"p99.9999", 0.999999}};
    value((std::string(name) + "_count").c_str(), h.count());
    within(name, [&] {
      const bool was_blank = std::exchange(blank_, blank_ || h.count() == 0);
      value("mean", h.mean());
      value("min", h.min());
      for (const auto& [label, q] : kQuantiles) value(label, h.count() == 0 ? 0 : h.quantile(q));
      value("max", h.max());
      blank_ = was_blank;
    });
  }
  template <class T>
  void value(const char* name, const PerClass<T>& by_class) {
    within(name, [&] {
      for (std::size_t c = 0; c < kTrafficClasses; ++c)
        value(std::string(kTrafficClassNames[c]).c_str(), by_class.values[c]);
    });
  }
  template <class T>
  void value(const char* name, const std::optional<T>& v) {
    const bool was_blank = std::exchange(blank_, blank_ || !v);
    value(name, v.value_or(T{}));
    blank_ = was_blank;
  }
  template <class T>
  void value(const char*, const std::vector<T>&) {}
  template <class T>
  void value(const char* name, const T& record) requires requires(RecordSplitter& v) {
    fields(v, record);
  }
  {
    if (std::same_as<T, BurstIdentity>) fields(*this, record);
    else within(name, [&] { fields(*this, record); });
  }

 private:
  template <class F>
  void described(std::string_view help, F f) {
    const auto before = std::exchange(help_, help);
    f();
    help_ = before;
  }
  /// Adds the parts of a nested record; the unit stays last in the names of its columns.
  template <class F>
  void within(std::string_view name, F parts) {
    if constexpr (!kColumns) return parts();
    std::string_view unit;
    for (const std::string_view known : {"_ns", "_bytes", "_milli"})
      if (name.ends_with(known)) unit = known;
    const auto prefix = std::exchange(
        prefix_, prefix_ + std::string(name.substr(0, name.size() - unit.size())) + '_');
    const auto suffix = std::exchange(suffix_, std::string(unit) + suffix_);
    parts();
    prefix_ = prefix;
    suffix_ = suffix;
  }
  void add(std::string_view name, CellKind kind, Cell cell) {
    if constexpr (kColumns)
      parts_.push_back({prefix_ + std::string(name) + suffix_, kind, std::string(help_)});
    else parts_.push_back(blank_ ? Cell{} : cell);
  }

  std::vector<Part>& parts_;
  std::string prefix_, suffix_;
  std::string_view help_;
  bool blank_ = false;
};

/// Appends the cells of a record, which refer to its texts.
template <class R>
void append_cells(std::vector<Cell>& cells, const R& record) {
  RecordSplitter<false> splitter(cells);
  fields(splitter, record);
}

template <class R>
std::vector<TableColumn> columns_of() {
  const R none{};
  std::vector<TableColumn> columns;
  RecordSplitter<true> splitter(columns);
  fields(splitter, none);
  return columns;
}

}  // namespace outrider
