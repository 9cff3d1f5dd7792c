#include "tools/lab/summary/summary.h"

#include <algorithm>
#include <cassert>

#include "tools/lab/summary/metric.h"
#include "tools/lab/summary/summary_arms.h"

namespace outrider::lab {

namespace {

CaseSummary summary_of(const CaseRun& run, Runtime runtime, Flagged flagged) {
  const Case& c = *run.definition;
  return {.label = c.label,
          .parameters = c.parameters,
          .seed = c.seed,
          .base_rtt = c.base_rtt,
          .interrupted = run.result.interrupted,
          .metrics = measure(c, runtime, run.result, flagged),
          .references = references_of(c, run.result, run.alone ? &*run.alone : nullptr),
          .background_cost = {},
          .alone = run.alone ? measure_alone(c, *run.alone) : AloneMetrics{},
          .of_rows = values_of_run(run)};
}

}  // namespace

Summary summarise(const Experiment& experiment) {
  Summary summary{.experiment = experiment.name,
                  .question = experiment.question,
                  .runtime = experiment.runtime,
                  .interrupted = experiment.planned_cases > experiment.runs.size(),
                  .planned_cases = std::max(experiment.planned_cases, experiment.runs.size()),
                  .quick = experiment.quick,
                  .cases = {},
                  .arms = {}};
  std::vector<const Case*> cases;
  std::vector<CostInput> inputs;
  for (const auto& run : experiment.runs) {
    assert(run.definition != nullptr);
    cases.push_back(run.definition);
    inputs.push_back({run.definition, experiment.runtime, &run.result});
    summary.cases.push_back(summary_of(run, experiment.runtime, experiment.flagged));
    summary.interrupted |= run.result.interrupted;
  }
  const CasePoints points = points_of(cases);
  const auto costs = background_costs(inputs, points);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CaseSummary& c = summary.cases[i];
    if (points.off_case[i] < cases.size()) c.off_case = points.off_case[i];
    c.network_alone_seconds = summary.cases[c.off_case.value_or(i)].alone.communication_seconds;
    c.point = points.point[i];
    c.background_cost = costs[i];
  }
  summary.arms = summarise_arms(summary.cases);
  return summary;
}

}  // namespace outrider::lab
