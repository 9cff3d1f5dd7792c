// An experiment of the lab as text: it is refused with every fault named, or it is valid. Then each
// of its arms makes both programs' configurations, which are valid as well, or says why it does
// not. Files that it names do not exist here.
#include <algorithm>
#include <numeric>

#include "tests/fuzz/fuzz_main.h"
#include "tools/lab/experiment/experiment.h"
#include "tools/lab/experiment/search_file.h"
#include "tools/lab/plan/plan.h"

namespace outrider::fuzz {
namespace {

using namespace lab;

/// Returns whether its cases are small enough to be built by the hundred in a second.
bool is_small(const ExperimentFile& e, const CaseParameters& p) {
  constexpr std::uint32_t kMost = 16;
  const std::uint32_t hosts =
      std::accumulate(e.hosts.begin(), e.hosts.end(), 0U,
                      [](std::uint32_t n, const auto& h) { return n + h.count.fixed; });
  return hosts <= kMost && e.switches.size() <= kMost && p.workers <= kMost && p.servers <= kMost &&
         p.jobs <= kMost && long_flows_per_pair(p) <= kMost;
}

void build(const ExperimentFile& e, const Arm& arm) {
  if (!is_small(e, arm.parameters)) return;
  (void)resolved_parameters(e, arm.parameters);
  ConfigIssues issues;
  const auto built = build_case(e, arm.label, arm.parameters, 1, issues);
  FUZZ_REQUIRE(built.has_value() == issues.empty());
  if (!built) return;
  FUZZ_REQUIRE(validate(built->switches).empty() && validate(built->traffic).empty());
}

}  // namespace

void run(FuzzInput in) {
  const auto read = [](const ConfigTable& table) { return experiment_from(table, kNowhere); };
  const auto result = read_or_refuse(in.text(), read);
  if (!result) return;
  const ExperimentFile& e = *result.config;
  FUZZ_REQUIRE(validate(e).empty() && !e.arms.empty());
  for (const Sweep& sweep : e.sweeps) FUZZ_REQUIRE(!sweep.points.empty() && !sweep.arms.empty());
  for (std::size_t i = 0; i < std::min<std::size_t>(e.arms.size(), 8); ++i) build(e, e.arms[i]);
}

}  // namespace outrider::fuzz
