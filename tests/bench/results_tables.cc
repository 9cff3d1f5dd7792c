// Rows per second that results take and give: flows of many cases into results.sqlite and
// flows.csv, and a sum over them. Five million rows shall be stored in half a minute, and summed in
// five seconds.
#include <benchmark/benchmark.h>

#include <filesystem>

#include "tests/unit/lab/measure/metrics_fixture.h"
#include "tools/lab/results/bundle.h"
#include "tools/lab/results/query.h"

namespace outrider {
namespace {

namespace fs = std::filesystem;
using namespace lab;

constexpr std::size_t kCases = 50;

/// Results of cases that have this many flows together.
class Flows {
 public:
  explicit Flows(std::size_t rows) {
    for (std::uint64_t seed = 1; seed <= kCases; ++seed) {
      cases_.push_back(lab_test::make_case("off", 1));
      cases_.back().seed = seed;
    }
    for (const Case& c : cases_)
      experiment_.runs.push_back({.definition = &c, .result = lab_test::make_result(10)});
    summary_ = summarise(experiment_);
    run_ = experiment_.runs.front();
    for (std::size_t i = 0; i < rows / kCases; ++i) {
      tg::FlowReport flow;
      flow.name = "flow " + std::to_string(i);
      flow.delivered_bytes = 1000 * i;
      run_.result.traffic.flows.push_back(std::move(flow));
    }
  }
  void write(const fs::path& directory) const {
    write_bundle(directory, summary_, [this](std::size_t i) {
      CaseRun run = run_;
      run.definition = &cases_[i];
      return run;
    });
  }

 private:
  std::vector<Case> cases_{};
  Experiment experiment_{};
  Summary summary_{};
  CaseRun run_{};
};

fs::path directory() { return fs::temp_directory_path() / "outrider-results-tables"; }

void store_flows(benchmark::State& state) {
  const Flows flows(static_cast<std::size_t>(state.range(0)));
  for (auto _ : state) flows.write(directory());
  state.SetItemsProcessed(state.iterations() * state.range(0));
  fs::remove_all(directory());
}
BENCHMARK(store_flows)->ArgName("rows")->Arg(100'000)->Arg(5'000'000)->Unit(benchmark::kSecond);

void sum_flows(benchmark::State& state) {
  Flows(static_cast<std::size_t>(state.range(0))).write(directory());
  const ResultsReader results(directory() / kDatabaseFile);
  for (auto _ : state)
    benchmark::DoNotOptimize(rows_as_csv(results.query(
        "SELECT label, SUM(delivered_bytes), MAX(rtos_data) FROM flows GROUP BY label")));
  state.SetItemsProcessed(state.iterations() * state.range(0));
  fs::remove_all(directory());
}
BENCHMARK(sum_flows)->ArgName("rows")->Arg(100'000)->Arg(5'000'000)->Unit(benchmark::kSecond);

}  // namespace
}  // namespace outrider

BENCHMARK_MAIN();
