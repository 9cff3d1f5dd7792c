#include "tools/lab/cli/suite_accuracy.h"

#include <array>
#include <exception>
#include <string>
#include <utility>

#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/suite/suite_benchmark.h"

namespace outrider::lab {
namespace {

/// The shipped streams and switch that accuracy is measured with, beside the suite of this name.
constexpr const char* kSuiteOfFiles = "rfc2544";

std::string at_rate(double packets_per_second) {
  return " at " + std::to_string(static_cast<long>(packets_per_second / 1e3)) + " kpps";
}

std::vector<SuiteAccuracy> figures_of(const tg::BenchmarkResult& result) {
  static constexpr std::array<std::pair<const char*, const char*>, 4> kShown{
      {{"achieved_over_requested", "rate sent, of that asked for,"},
       {"gap_error_seconds_median", "error of gaps, median,"},
       {"gap_error_seconds_p99", "error of gaps, p99,"},
       {"lateness_seconds_p99", "lateness, p99,"}}};
  std::vector<SuiteAccuracy> figures;
  for (const tg::BenchmarkPoint& point : result.points) {
    const double rate = tg::mean_of(point.values("requested_packets_per_second"));
    for (const auto& [name, words] : kShown) {
      const Column column = shown_figure(name).column;
      figures.push_back({words + at_rate(rate), tg::mean_of(point.values(name)) * column.scale,
                         std::string(column.unit)});
    }
  }
  return figures;
}

}  // namespace

std::vector<SuiteAccuracy> measured_accuracy(const SuiteRun& run) {
  const SuiteTest test{.name = "accuracy",
                       .streams = std::string(kSuiteOfFiles) + "/accuracy.toml",
                       .under_test = std::string(kSuiteOfFiles) + "/switch.toml"};
  try {
    const auto order = load_benchmark(test, suite_path(kSuiteOfFiles).parent_path());
    if (!order) throw std::runtime_error(format_issues(test.streams, order.issues));
    return figures_of(measured(*order.config, test, run));
  } catch (const std::exception& error) {
    say(std::string("outrider-lab: the generator's accuracy is not measured: ") + error.what());
    return {};
  }
}

}  // namespace outrider::lab
