#pragma once

#include <array>
#include <concepts>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/burst_identity.h"
#include "common/core/histogram.h"
#include "common/core/traffic_class.h"
#include "common/telemetry/csv_text.h"

namespace outrider {

/// Splits a record into the cells of a CSV line, by the bindings of json_fields.h, so that
/// a figure has the same name in both. Every record of a type has the same columns:
///
/// * a record within the record has its own columns: a field `signal` of times_ns becomes
///   times_signal_ns. An identity becomes its plain fields;
/// * a histogram becomes count, mean, minimum, quantiles and maximum;
/// * lists of records are left out: they have files of their own.
///
/// A value that does not exist (an instant of -1, an absent record, a quantile of an empty
/// histogram) is an empty cell.
class CsvFieldWriter {
 public:
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  [[nodiscard]] const std::vector<std::string>& cells() const noexcept { return cells_; }

  void value(const char* name, bool v) { add(name, v ? "1" : "0"); }
  template <std::integral T>
  void value(const char* name, T v) {
    const bool never = std::string_view(name).ends_with("_ns") && std::cmp_equal(v, -1);
    add(name, never ? std::string() : std::to_string(v));
  }
  void value(const char* name, double v) {
    std::array<char, 32> text{};
    std::snprintf(text.data(), text.size(), "%.9g", v);
    add(name, text.data());
  }
  void value(const char* name, const std::string& v) { add(name, csv_text(v)); }
  void value(const char* name, BurstDirection v) {
    add(name, v == BurstDirection::kPush ? "push" : "pull");
  }
  void value(const char* name, TrafficClass v) { add(name, std::string(name_of(v))); }
  void value(const char* name, const Histogram& h);

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
  void value(const char* name, const T& record) requires requires(CsvFieldWriter& v) {
    fields(v, record);
  }
  {
    if (std::same_as<T, BurstIdentity>) fields(*this, record);
    else within(name, [&] { fields(*this, record); });
  }

 private:
  /// Adds the columns of a nested record; the unit stays last in their names.
  template <class F>
  void within(std::string_view name, F parts) {
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
  void add(std::string_view name, std::string cell) {
    names_.push_back(prefix_ + std::string(name) + suffix_);
    cells_.push_back(blank_ ? std::string() : std::move(cell));
  }

  std::string prefix_, suffix_;
  bool blank_ = false;
  std::vector<std::string> names_, cells_;
};

inline void CsvFieldWriter::value(const char* name, const Histogram& h) {
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

/// Writes cells as a line; cells that contain separators must be quoted already.
inline void csv_line(std::string& text, const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i) (i == 0 ? text : text += ',') += cells[i];
  text += '\n';
}

/// Returns a line of names, then one line for each record.
template <class R>
std::string csv_of(const std::vector<R>& records) {
  std::string text;
  const R none{};
  CsvFieldWriter header;
  fields(header, none);
  csv_line(text, header.names());
  for (const R& record : records) {
    CsvFieldWriter line;
    fields(line, record);
    csv_line(text, line.cells());
  }
  return text;
}

}  // namespace outrider
