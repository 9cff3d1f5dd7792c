#include "tools/lab/ranks/ranked_cases.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <utility>

#include "common/runtime/poll_stop.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/ranks/local_ranks.h"
#include "tools/lab/ranks/rank_result.h"
#include "tools/lab/ranks/run_ranks.h"
#include "tools/lab/run/case_worker.h"
#include "tools/lab/run/cpus.h"
#include "tools/lab/run/run_pool.h"
#include "tools/lab/simulation/job_iterations.h"
#include "tools/lab/simulation/run_virtual.h"

namespace outrider::lab {
namespace {

using WallClock = std::chrono::steady_clock;

double seconds_since(WallClock::time_point began) {
  return std::chrono::duration<double>(WallClock::now() - began).count();
}

/// Returns a line of what a rank did in one run.
std::string profile_of(const RankResult& part, const Peers& peers, const PeerCosts& before,
                       double seconds) {
  const PeerCosts now = peers.costs();
  const auto rounds = now.rounds - before.rounds;
  const double waited = now.seconds_waited - before.seconds_waited;
  char text[200];
  std::snprintf(text, sizeof text,
                "  rank %u of %u: %llu events, %llu rounds, %.3f s of which %.3f s with the others "
                "(%.1f us a round), %llu bytes sent\n",
                peers.rank(), peers.size(), static_cast<unsigned long long>(part.events),
                static_cast<unsigned long long>(rounds), seconds, waited,
                rounds == 0 ? 0.0 : waited * 1e6 / static_cast<double>(rounds),
                static_cast<unsigned long long>(now.sent_bytes - before.sent_bytes));
  return text;
}

Partition partition_of(const Case& c, const Peers& peers, const RankOptions& options) {
  return make_partition(c.switches, c.traffic, peers.size(), options.cut, options.tiles);
}

/// Returns what this rank's parts of the cases need.
PoolNeed rank_need(const std::vector<Case>& cases, std::span<const std::size_t> items,
                   const Peers& peers, const RankOptions& options) {
  PoolNeed need;
  for (const std::size_t item : items) {
    const Case& c = cases[item];
    const Partition partition = partition_of(c, peers, options);
    need.buffers = std::max(need.buffers, buffers_needed(c, {&partition, peers.rank()}));
    need.attribution |= c.traffic.attribution;
  }
  return need;
}

/// Runs a case on all ranks. @return the run at rank 0, nothing at the others
std::optional<RunResult> run_on(Peers& peers, const Case& c, rte_mempool& pool,
                                const RankOptions& options, const StopCheck& stop) {
  const Partition partition = partition_of(c, peers, options);
  const PeerCosts before = peers.costs();
  const auto began = WallClock::now();
  const RankResult part = run_rank(c, partition, peers, pool, stop);
  const std::string profile = profile_of(part, peers, before, seconds_since(began));
  const std::vector<std::string> texts = peers.gather(serialize(part));
  const std::vector<std::string> profiles = peers.gather(profile);
  if (peers.rank() != 0) return std::nullopt;
  std::vector<RankResult> parts;
  parts.reserve(texts.size());
  for (const std::string& text : texts) parts.push_back(rank_result_from(text));
  if (options.profile) {
    std::string all = "outrider-lab: \"" + c.label + "\", seed " + std::to_string(c.seed) +
                      ", windows of " + std::to_string(partition.lookahead.count()) + " ns, " +
                      std::to_string(partition.tiles) + " tiles each\n";
    for (const std::string& one : profiles) all += one;
    std::fputs(all.c_str(), stderr);
  }
  return join_parts(c, partition, std::move(parts));
}

/// Runs a case and its reference. @return serialize() of the run at rank 0
std::string run_ranked(Peers& peers, const Case& c, ReferenceRuns references, rte_mempool& pool,
                       const RankOptions& options, const StopCheck& stop) {
  CaseRun run{.definition = &c, .result = {}};
  std::optional<RunResult> whole = run_on(peers, c, pool, options, stop);
  // Every rank has to know whether the others go on.
  const bool interrupted = peers.least(whole && whole->interrupted ? 0 : 1) == 0;
  if (whole) run.result = std::move(*whole);
  if (needs_reference(references, c) && !interrupted) {
    const Case alone = without_background(c);
    if (!is_its_own_reference(c, alone)) run.alone = run_on(peers, alone, pool, options, stop);
    else if (peers.rank() == 0) run.alone = run.result;
    for (std::size_t j = 0; j < jobs_to_run_alone(c); ++j) {
      const Case one = with_job_alone(c, j);
      if (const auto of_job = run_on(peers, one, pool, options, stop))
        run.jobs_alone.push_back(iteration_seconds_of(one, of_job->traffic, 0));
    }
  }
  if (peers.rank() != 0) return {};
  trim(run);
  return serialize(run);
}

}  // namespace

std::string uncuttable(const RunOrder& order, const RankOptions& options) {
  for (const std::size_t i : order.wanted) {
    const Case& c = order.cases[i];
    try {
      for (const Case& cut : {c, c.has_job ? without_background(c) : c})
        check_work(
            make_partition(cut.switches, cut.traffic, options.ranks, options.cut, options.tiles),
            options.least_work);
    } catch (const std::runtime_error& error) {
      return "\"" + order.names[i] + "\" cannot be cut: " + error.what();
    }
  }
  return {};
}

RunOutcome run_cases_on_local_ranks(const RunOrder& order, std::size_t jobs,
                                    const RankOptions& options) {
  const auto cpus = usable_cpus();
  PoolOptions pool;
  pool.jobs = jobs;
  pool.order = seed_major(order.cases, order.wanted);
  pool.make_worker = [&](std::size_t worker) -> PoolWork {
    return [&, worker](std::size_t item, const StopCheck& stop) {
      return run_on_local_ranks(options.ranks, [&](Peers& peers) {
        const std::size_t cpu = worker * options.ranks + peers.rank();
        const PoolNeed need = rank_need(order.cases, {&item, 1}, peers, options);
        VirtualWorker own(cpus[cpu % cpus.size()], need.buffers, need.attribution);
        return run_ranked(peers, order.cases[item], order.references, *own.pool, options, stop);
      });
    };
  };
  pool.on_result = [&](std::size_t item, const std::string& text) {
    order.on_run(item, deserialize(order.cases[item], text), text);
  };
  pool.on_progress = order.progress;
  return outcome_of(run_pool(pool), order);
}

RunOutcome run_cases_on_peers(const RunOrder& order, Peers& peers, const RankOptions& options) {
  const PoolNeed need = rank_need(order.cases, order.wanted, peers, options);
  const auto cpus = usable_cpus();
  VirtualWorker own(cpus[peers.rank() % cpus.size()], need.buffers, need.attribution);
  RunOutcome outcome;
  std::size_t done = 0;
  for (const std::size_t item : seed_major(order.cases, order.wanted)) {
    if (stop_requested()) break;
    peers.least(static_cast<std::int64_t>(item));  // others say more than any item
    try {
      const std::string text = run_ranked(peers, order.cases[item], order.references, *own.pool,
                                          options, stop_requested);
      if (stop_requested()) break;
      order.on_run(item, deserialize(order.cases[item], text), text);
    } catch (const std::exception& error) {
      throw std::runtime_error("\"" + order.names[item] + "\": " + error.what());
    }
    order.progress(++done, order.wanted.size());
  }
  outcome.interrupted = done < order.wanted.size();
  return outcome;
}

void serve_peers(const std::vector<Case>& cases, const std::vector<std::string>& names,
                 ReferenceRuns references, Peers& peers, const RankOptions& options) {
  std::vector<std::size_t> all(cases.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  const PoolNeed need = rank_need(cases, all, peers, options);
  const auto cpus = usable_cpus();
  VirtualWorker own(cpus[peers.rank() % cpus.size()], need.buffers, need.attribution);
  constexpr std::int64_t kMore = INT64_MAX;
  for (std::int64_t item; (item = peers.least(kMore)) >= 0;) {
    const auto i = static_cast<std::size_t>(item);
    try {
      run_ranked(peers, cases[i], references, *own.pool, options, stop_requested);
    } catch (const std::exception& error) {
      throw std::runtime_error("\"" + names[i] + "\": rank " + std::to_string(peers.rank()) + ": " +
                               error.what());
    }
  }
}

}  // namespace outrider::lab
