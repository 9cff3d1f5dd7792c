#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "common/config/config_file.h"
#include "common/config/process_checks.h"
#include "common/runtime/poll_stop.h"
#include "common/telemetry/exit_status.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/cli/cli_finished.h"
#include "tools/lab/cli/cli_part.h"
#include "tools/lab/cli/cli_plan.h"
#include "tools/lab/cli/cli_results.h"
#include "tools/lab/plan/testbed.h"
#include "tools/lab/ranks/mpi_module.h"
#include "tools/lab/ranks/ranked_cases.h"
#include "tools/lab/ranks/same_run.h"
#include "tools/lab/run/cpus.h"
#include "tools/lab/run/run_loopback.h"
#include "tools/lab/run/run_pool.h"
#include "tools/lab/run/run_programs.h"
#include "tools/lab/run/run_store.h"
#include "tools/lab/summary/summary.h"

namespace outrider::lab {
namespace {

/// Loads the testbed. @return a default one if the options name none; nothing, after printing a
/// message, on a fault
std::optional<Testbed> testbed_of(const LabOptions& options, const std::vector<Case>& cases) {
  if ((options.runtime == Runtime::kTestbed) != !options.testbed.empty()) {
    say("outrider-lab: --testbed FILE belongs to --runtime testbed, and that to it");
    return std::nullopt;
  }
  if (options.testbed.empty()) return Testbed{};
  auto loaded = load_testbed(options.testbed);
  if (loaded) merge_issues(loaded.issues, missing_devices(*loaded.config, cases.front()));
  if (loaded.issues.empty()) return std::move(*loaded.config);
  std::fputs(format_issues(options.testbed, loaded.issues).c_str(), stderr);
  return std::nullopt;
}

RunOutcome run_order(const LabOptions& options, const RunOrder& order, const Testbed& testbed,
                     const std::filesystem::path& directory, Peers* peers) {
  if (options.runtime == Runtime::kTestbed) return run_cases_testbed(order, directory, testbed);
  if (options.runtime == Runtime::kLoopback) return run_cases_loopback(order, directory);
  if (peers != nullptr) return run_cases_on_peers(order, *peers, options.ranks);
  const std::size_t ranks = options.ranks.ranks;
  const std::size_t jobs =
      options.jobs != 0 ? options.jobs : std::max<std::size_t>(usable_cpus().size() / ranks, 1);
  return ranks > 1 ? run_cases_on_local_ranks(order, jobs, options.ranks)
                   : run_cases_virtual(order, jobs, options.ranks.tiles);
}

/// Returns what in the cases real processes cannot do; empty if they can do everything.
std::string for_virtual_time_alone(const std::vector<Case>& cases) {
  const auto learns = [](const tg::JobConfig& job) {
    return job.learner.model != tg::LearnerModel::kNone;
  };
  for (const Case& c : cases) {
    if (const std::size_t devices = c.switches.devices.size(); devices > kMaxDevices)
      return "fabric: " + std::to_string(devices) +
             " switches with hosts are for virtual time alone: between processes each is a device, "
             "of which DPDK opens " +
             std::to_string(kMaxDevices);
    if (!c.changes.empty())
      return "fabric.failure: is for virtual time alone: nothing takes a link down between "
             "processes";
    if (!c.observed.captures.empty())
      return "observe.captures: is for virtual time alone: between processes, outrider-switch "
             "--capture SWITCH.PORT=FILE writes them";
    if (c.traffic.attribution)
      return "attribution: is for virtual time alone: with real processes nobody can say what was "
             "served while a packet waited";
    if (std::ranges::any_of(c.traffic.jobs, learns))
      return "learner: is for virtual time alone: its sums would keep a process from its queues";
  }
  return {};
}

/// Returns why the cases cannot be cut as the options say; empty if they can.
std::string no_ranks_for(const LabOptions& options, const Planned& planned) {
  if (options.ranks.tiles != 0 && options.runtime != Runtime::kVirtual)
    return "--tiles is for virtual time alone";
  if (options.ranks.ranks == 1) return {};
  if (options.runtime != Runtime::kVirtual) return "--ranks is for virtual time alone";
  if (!planned.cases.empty() && !planned.cases.front().observed.captures.empty())
    return "observe.captures: one rank alone writes them; leave --ranks or the captures out";
  std::vector<std::size_t> all(planned.cases.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return uncuttable({planned.cases, planned.names, all, {}, {}}, options.ranks);
}

/// Returns why an option would have no effect beside the runtime or the ranks; empty if each has.
std::string without_effect(const LabOptions& options) {
  const bool is_virtual = options.runtime == Runtime::kVirtual;
  if (options.exclude_flagged && is_virtual)
    return "--exclude-flagged is for real time: in virtual time no poll loop is ever away";
  if (options.jobs != 0 && !is_virtual)
    return "--jobs is for virtual time alone: real processes need their machine to themselves";
  const RankOptions& ranks = options.ranks;
  const RankOptions usual;
  const char* of_ranks = ranks.cut != usual.cut                 ? "--cut"
                         : ranks.least_work != usual.least_work ? "--least-work"
                         : ranks.profile                        ? "--profile"
                                                                : nullptr;
  if (of_ranks != nullptr && ranks.ranks == 1 && !options.ranks_given)
    return std::string(of_ranks) + " needs --ranks above 1, or mpirun: one rank has no cut";
  return {};
}

/// Returns why the cases cannot be run as the options say; empty if they can.
std::string refusal_of(const LabOptions& options, const Planned& planned) {
  std::string cause = without_effect(options);
  if (cause.empty()) cause = no_part_for(options, planned.cases.size());
  return cause.empty() ? no_ranks_for(options, planned) : cause;
}

/// Returns what has to be the same for a finished run to be taken again.
std::string program_of(const LabOptions& options, const Testbed& testbed) {
  return program_identity() + (options.testbed.empty() ? "" : write_config(testbed));
}

/// Runs all cases and writes their results into the directory.
int run_all(const LabOptions& options, const Planned& planned, const CaseSession& session,
            const std::filesystem::path& directory) {
  const auto lock =
      take(directory, options, scope_of(planned.file.name, options.runtime, planned.cases));
  if (!lock) return kExitUsage;
  if (show_finished(options, session.store, planned.file.question, planned.cases, directory))
    return kExitOk;
  if (options.fresh) session.store.clear();
  std::vector<std::size_t> all(planned.cases.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const Experiment experiment{
      .name = planned.file.name,
      .runtime = options.runtime,
      .planned_cases = planned.cases.size(),
      .question = planned.file.question,
      .flagged = options.exclude_flagged ? Flagged::kExcluded : Flagged::kKept,
      .quick = options.quick,
      .advised = planned.advised};
  FinishedRuns runs(options.runtime, experiment.flagged);
  const RunOutcome outcome = run_session(session, all, runs);
  if (outcome.interrupted && outcome.failures.empty() && runs.digests().empty()) {
    say("outrider-lab: interrupted before a case was complete: there are no results");
    return kExitInterrupted;
  }
  const ShownResults shown =
      show_results(options, experiment, outcome, runs, planned.cases, planned.names, directory);
  if (outcome.interrupted)
    say("outrider-lab: interrupted: " + std::to_string(shown.complete) + " of " +
        std::to_string(planned.cases.size()) +
        " cases are complete; the same command runs the rest (" + store_text(session.store) + ")");
  if (shown.written) say("outrider-lab: results are in " + directory.string());
  if (shown.written && !outcome.interrupted && outcome.failures.empty()) session.store.clear();
  if (shown.written && shown.status == kExitOk)
    mark_finished(options, session.store, planned.file.question, planned.cases, directory);
  return shown.status;
}

/// Runs the cases, or a part of them.
/// @param peers  the other ranks of an MPI job; nullptr without one
int run_planned(const LabOptions& options, const Planned& planned, Peers* peers) {
  const auto virtual_alone = for_virtual_time_alone(planned.cases);
  if (options.runtime != Runtime::kVirtual && !virtual_alone.empty()) {
    say(options.file + ": " + virtual_alone);
    return kExitUsage;
  }
  const auto testbed = testbed_of(options, planned.cases);
  if (!testbed) return kExitUsage;
  const std::filesystem::path directory = directory_of(options, planned.file.name);
  if (!prepare(directory)) return kExitUsage;
  const RunStore store(directory, program_of(options, *testbed));
  const CaseSession session{
      planned.file.name,
      planned.cases,
      planned.names,
      options.runtime,
      store,
      [&](const RunOrder& order) { return run_order(options, order, *testbed, directory, peers); },
      options.references};
  return options.part ? run_part(options, planned, session)
                      : run_all(options, planned, session, directory);
}

/// Returns what the other ranks compare with theirs.
RankIdentity identity_of(const LabOptions& options, const std::optional<Planned>& planned) {
  if (!planned)
    return rank_identity("cannot plan the experiment: `outrider-lab plan " + options.file +
                         "` with the same options says why");
  std::string cause = refusal_of(options, *planned);
  return cause.empty() ? rank_identity(planned->cases, options.ranks)
                       : rank_identity(std::move(cause));
}

/// Runs what mpirun has started, as one of its ranks.
int run_under_mpi(LabOptions options, std::uint32_t launched) {
  MpiRanks mpi = join_mpi(launched);
  options.ranks.ranks = launched;
  try {
    const auto planned = load(options, mpi.peers->rank() == 0);
    const RankIdentity identity = identity_of(options, planned);
    const auto refused = difference(*mpi.peers, identity);
    const std::string causes = (planned ? identity.fault : "") + refused.value_or("");
    if (!causes.empty() && mpi.peers->rank() == 0) say("outrider-lab: " + causes);
    if (refused) return kExitUsage;
    if (mpi.peers->rank() == 0) {
      const int status = run_planned(options, *planned, mpi.peers.get());
      mpi.peers->least(-1);  // no more cases
      return status;
    }
    serve_peers(planned->cases, planned->names, options.references, *mpi.peers, options.ranks);
    return kExitOk;
  } catch (const std::exception& error) {
    say(std::string("outrider-lab: ") + error.what());
    mpi.abort(kExitFailure);
    throw;
  }
}

}  // namespace

namespace {

int list_cases(const LabOptions& options) {
  const auto planned = plan_cases(options.file, plan_options(options));
  if (!planned) return kExitUsage;
  std::printf("%zu\n", planned->cases.size());
  return kExitOk;
}

}  // namespace

int run_command(const LabOptions& given) {
  if (given.list_cases) return list_cases(given);
  catch_stop_signals();  // first, so that results are written after Ctrl-C
  LabOptions options = given;
  const auto launched = launched_ranks();
  options.ranks_given = options.ranks_given || launched.has_value();
  if (launched.value_or(1) > 1) return run_under_mpi(options, *launched);
  const auto planned = load(options);
  if (!planned) return kExitUsage;
  const std::string cause = refusal_of(options, *planned);
  if (cause.empty()) return run_planned(options, *planned, nullptr);
  say("outrider-lab: " + cause);
  return kExitUsage;
}

}  // namespace outrider::lab
