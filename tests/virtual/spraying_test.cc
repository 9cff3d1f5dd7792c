// Goal: packets of bounded loss may take any of the equal-cost paths. Two uplinks carry equal
// loads, and a transport that needs no order pays almost nothing for it.
// Method: ten seeds of a shortened version of the shipped leaf-spine.
#include <gtest/gtest.h>

#include "common/config/config_file.h"
#include "tests/support/pool.h"
#include "tests/support/simulation.h"
#include "tests/support/source_path.h"
#include "tools/lab/measure/metrics_paths.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/simulation/run_virtual.h"

namespace outrider::spraying_test {
using namespace lab;
namespace {

constexpr std::uint32_t kSeeds = 10;

/// Returns the cases of dlcp-spine.toml with two iterations of 1 MB and only its first point.
std::vector<Case> short_cases() {
  const std::filesystem::path directory(source_path("conf/experiments"));
  ConfigTable file = read_toml_file((directory / "dlcp-spine.toml").string()).config.value();
  ConfigTable& parameters = *file["parameters"].as<ConfigTable>();
  (void)assign(parameters, "job.iterations", ConfigValue(std::int64_t{2}));
  (void)assign(parameters, "job.burst_bytes", ConfigValue(std::string("1MB")));
  std::erase_if(file.members, [](const ConfigMember& m) { return m.key == "sweep"; });
  const auto experiment = experiment_from(file, directory);
  return make_plan(experiment.config.value(), {.seeds = kSeeds}).config.value();
}

struct Outcome {
  double imbalance = 0;  ///< mean over the seeds
  double most_imbalance = 0;
  double burst_seconds = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t retransmitted = 0;
};

Outcome outcome_of(const std::vector<Case>& cases, std::string_view label, rte_mempool& pool) {
  Outcome o;
  std::vector<double> seconds;
  for (const Case& c : cases) {
    if (c.label != label) continue;
    const RunResult r = run_virtual(c, pool, {});
    EXPECT_TRUE(r.traffic.jobs_finished);
    const double imbalance = path_balance(c.switches, r.switches).mmr - 1;
    o.imbalance += imbalance / kSeeds;
    o.most_imbalance = std::max(o.most_imbalance, imbalance);
    for (const auto& b : r.traffic.bursts) {
      if (b.identity.direction != BurstDirection::kPush) continue;
      seconds.push_back(static_cast<double>(b.delivered_ns - b.released_ns) / 1e9);
      o.data_bytes += b.bytes;
      o.retransmitted += b.retransmitted;
    }
  }
  o.burst_seconds = mean(seconds);
  return o;
}

TEST(Spraying, BalancesTheUplinksAndCostsNoTime) {
  const auto cases = short_cases();
  const Mempool pool = make_test_pool(60'000);
  const Outcome by_flow = outcome_of(cases, "off-mlt-0", *pool);
  const Outcome sprayed = outcome_of(cases, "off-mlt-0-sprayed", *pool);
  EXPECT_GT(by_flow.imbalance, 0.1) << "else there would be nothing to balance";
  EXPECT_LT(sprayed.most_imbalance, 0.02);
  EXPECT_LT(sprayed.burst_seconds, 1.03 * by_flow.burst_seconds);
  // A probe may overtake data on the other path, which is then sent again.
  const double packets = static_cast<double>(sprayed.data_bytes) / 1420;
  EXPECT_LT(static_cast<double>(sprayed.retransmitted),
            static_cast<double>(by_flow.retransmitted) + 0.01 * packets);
}

}  // namespace
}  // namespace outrider::spraying_test
