#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "common/core/figure.h"
#include "common/core/per_reason.h"
#include "common/core/traffic_class.h"

namespace outrider {

/// One number of a record: its row, and the element of the row that it is.
struct FigureValue {
  Figure figure;
  std::string_view part;           ///< name of the nested record, e.g. "pace"; empty: none
  std::string_view traffic_class;  ///< empty: all classes together
  std::string_view reason;         ///< empty: all reasons together
  std::uint64_t value = 0;
};

/// Splits a record into its numbers by its rows: one element for each number that is a Figure,
/// in order. Everything else in the record is left out. Slow to compile for large records, so
/// use it only in the .cc file that returns the list.
class FigureCollector {
 public:
  [[nodiscard]] std::vector<FigureValue> take() noexcept { return std::move(values_); }

  template <std::integral T>
  void value(const Figure& figure, T v) {
    add(figure, v);
  }
  /// A figure that is not counted has no number.
  template <std::integral T>
  void value(const Figure& figure, const std::optional<T>& v) {
    if (v) add(figure, *v);
  }
  template <std::integral T>
  void value(const Figure& figure, const PerClass<T>& by_class) {
    for_each_class(by_class, [&](T v) { add(figure, v); });
  }
  template <class E>
  void value(const Figure& figure, const PerReason<E>& by_reason) {
    for (std::size_t i = 0; i < by_reason.size(); ++i) {
      reason_ = names_of(E{})[i];
      add(figure, by_reason[i]);
    }
    reason_ = {};
  }
  template <class E>
  void value(const Figure& figure, const PerClass<PerReason<E>>& by_class) {
    for_each_class(by_class, [&](const PerReason<E>& v) { value(figure, v); });
  }
  /// Handles a record of figures within the record.
  template <class T>
  void value(const char* name, const T& record) requires requires(FigureCollector& v) {
    fields(v, record);
  }
  {
    part_ = name;
    fields(*this, record);
    part_ = {};
  }
  template <class T>
  void value(const char*, const T&) {}

 private:
  void add(const Figure& figure, std::integral auto v) {
    values_.push_back({figure, part_, class_, reason_, static_cast<std::uint64_t>(v)});
  }
  template <class T, class F>
  void for_each_class(const PerClass<T>& by_class, F f) {
    for (std::size_t c = 0; c < kTrafficClasses; ++c) {
      class_ = kTrafficClassNames[c];
      f(by_class.values[c]);
    }
    class_ = {};
  }

  std::string_view part_, class_, reason_;
  std::vector<FigureValue> values_;
};

/// Returns the figures of a record that has rows; see FigureCollector.
template <class R>
std::vector<FigureValue> figures_of_fields(const R& record) {
  FigureCollector collector;
  fields(collector, record);
  return collector.take();
}

}  // namespace outrider
