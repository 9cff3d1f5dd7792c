#include "tools/lab/summary/summary.h"

#include <algorithm>
#include <cassert>

#include "tools/lab/summary/metric.h"
#include "tools/lab/summary/summary_arms.h"
#include "tools/lab/summary/table_notes.h"

namespace outrider::lab {

namespace {

std::vector<CaseJob> jobs_of(const Case& definition) {
  std::vector<CaseJob> jobs;
  for (const auto& job : definition.traffic.jobs)
    jobs.push_back({.name = job.name,
                    .workers = job.workers.size(),
                    .servers = job.servers.size(),
                    .collective = job.collective});
  return jobs;
}

CaseSummary summary_of(const CaseRun& run, Runtime runtime, Flagged flagged) {
  const Case& c = *run.definition;
  return {.label = c.label,
          .role = c.role,
          .parameters = c.parameters,
          .seed = c.seed,
          .base_rtt = c.base_rtt,
          .jobs = jobs_of(c),
          .interrupted = run.result.interrupted,
          .metrics = measure(c, runtime, run.result, flagged),
          .references = references_of(c, run.result, run.alone ? &*run.alone : nullptr),
          .background_cost = {},
          .alone = run.alone ? measure_alone(c, *run.alone) : AloneMetrics{},
          .of_rows = values_of_run(run)};
}

/// Returns an empty text if every packet of a run is accounted for.
std::string imbalance_of(const RunResult& r) {
  if (r.switches.ledger_balanced && r.traffic.ledger_balanced && r.mbufs_leaked == 0) return {};
  const auto verdict = [](bool balanced) { return balanced ? "ok" : "not balanced"; };
  return std::string("switch ") + verdict(r.switches.ledger_balanced) + ", generator " +
         verdict(r.traffic.ledger_balanced) + ", buffers leaked " + std::to_string(r.mbufs_leaked);
}

}  // namespace

RunDigest digest(const CaseRun& run, Runtime runtime, Flagged flagged) {
  assert(run.definition != nullptr);
  RunDigest d{.definition = run.definition,
              .own = summary_of(run, runtime, flagged),
              .cost = observe_cost(*run.definition, runtime, run.result),
              .ran_alone = run.alone.has_value()};
  if (auto fault = imbalance_of(run.result); !fault.empty())
    d.unbalanced.push_back("(" + fault + ")");
  for (const auto& group : run.result.traffic.flow_groups)
    if (auto text = tg::not_offered_text(group); !text.empty())
      d.not_offered.push_back(std::move(text));
  if (!run.alone) return d;
  if (auto fault = imbalance_of(*run.alone); !fault.empty())
    d.unbalanced.push_back("without background (" + fault + ")");
  return d;
}

Summary summarise(const Experiment& experiment, std::span<const RunDigest* const> digests) {
  Summary summary{{.experiment = experiment.name,
                   .question = experiment.question,
                   .runtime = experiment.runtime,
                   .interrupted = experiment.planned_cases > digests.size(),
                   .planned_cases = std::max(experiment.planned_cases, digests.size()),
                   .finished_cases = digests.size(),
                   .quick = experiment.quick}};
  summary.advice.reserve(experiment.advised.size());
  for (const auto& advised : experiment.advised)
    summary.advice.push_back(advised.key + ": " + advised.problem);
  if (experiment.advised.has_more()) summary.advice.emplace_back("and more than these");
  std::vector<const Case*> cases;
  std::vector<const CostObservation*> observations;
  for (const RunDigest* d : digests) {
    cases.push_back(d->definition);
    observations.push_back(&d->cost);
    summary.cases.push_back(d->own);
    summary.interrupted |= summary.cases.back().interrupted;
  }
  const CasePoints points = points_of(cases);
  const auto costs = background_costs(observations, points);
  CasePoints against_off = points;
  against_off.baseline = points.off;
  const auto costs_against_off = background_costs(observations, against_off);
  for (std::size_t i = 0; i < cases.size(); ++i) {
    CaseSummary& c = summary.cases[i];
    if (points.baseline[i] < cases.size()) c.baseline = points.baseline[i];
    if (points.off[i] < cases.size()) c.off = points.off[i];
    c.network_alone = summary.cases[c.off.value_or(i)].alone;
    c.point = points.point[i];
    c.background_cost = costs[i];
    if (c.off != c.baseline) c.cost_against_off = costs_against_off[i];
  }
  summary.arms = summarise_arms(summary.cases);
  summary.warnings = warnings_of(summary);
  return summary;
}

Summary summarise(const Experiment& experiment) {
  std::vector<RunDigest> digests;
  digests.reserve(experiment.runs.size());
  std::vector<const RunDigest*> all;
  for (const auto& run : experiment.runs)
    all.push_back(&digests.emplace_back(digest(run, experiment.runtime, experiment.flagged)));
  return summarise(experiment, all);
}

}  // namespace outrider::lab
