#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/histogram.h"

namespace outrider::tg {

/// A figure that benchmarks give.
struct BenchmarkFigure {
  std::string_view name;
  std::string_view unit;  ///< number, share, packets, bytes, s, bit/s or packets/s
  std::string_view help;  ///< one line, without a full stop
};

/// Returns all figures, in the order of tables.
std::span<const BenchmarkFigure> benchmark_figures();

/// Returns nullptr if there is no figure of this name.
const BenchmarkFigure* find_benchmark_figure(std::string_view name);

/// What was measured at one setting.
struct BenchmarkPoint {
  std::vector<std::pair<std::string, double>> at{};  ///< what tells it from others: frame_bytes
  /// Figures by name, each with a value for each repetition; NaN: not defined.
  std::vector<std::pair<std::string, std::vector<double>>> figures{};
  std::optional<Histogram> latency_ns{};  ///< of all repetitions; only of latencies

  /// Adds a repetition's value. @pre find_benchmark_figure(name)
  void add(std::string_view name, double value);
  /// Returns the values of a figure; none if the point does not have it.
  [[nodiscard]] std::span<const double> values(std::string_view name) const;
};

struct BenchmarkResult {
  std::string kind{};
  std::vector<BenchmarkPoint> points{};
  std::vector<std::string> notes{};  ///< why a figure is as it is, a sentence each
  bool finished = false;             ///< false: interrupted
};

/// Returns the mean of a figure's values; NaN if one is not defined or there is none.
double mean_of(std::span<const double> values);

/// One JSON object, and back. @throws std::runtime_error naming what is wrong
std::string to_json(const BenchmarkResult& result);
BenchmarkResult benchmark_result_from_json(std::string_view text);

/// Returns a table for the user, a line a point, and the notes.
std::string to_text(const BenchmarkResult& result);

}  // namespace outrider::tg
