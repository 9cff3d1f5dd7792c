#include "trafficgen/workload/config/job_config.h"

#include <algorithm>
#include <set>
#include <string>

#include "common/config/toml_text.h"
#include "common/net/tos_signal.h"

namespace outrider::tg {
namespace {

constexpr std::uint64_t kMaxWorkers = 256;
/// Bounds the records, which are kept for all iterations: about 300 B per worker and iteration.
constexpr std::uint64_t kMaxWorkerIterations = 1ULL << 22;
constexpr std::uint64_t kMaxBurstBytes = 1ULL << 50;

/// Checks that no START is due before its iteration, or the run, begins.
void check_lead(const Checks& at, const JobConfig& job) {
  if (job.announce.lead_source != LeadSource::kOverlap) return;
  const SignalFaultsConfig& faults = job.announce.faults;
  const auto fits = [&](Duration room, const std::string& what) {
    const auto announce = at.below("announce");
    const bool lead =
        announce.require(job.announce.lead <= room, "lead", format_duration(job.announce.lead),
                         "must not be longer than " + what + ", " + format_duration(room));
    if (!lead || faults.early == 0) return;
    announce.below("faults").require(
        job.announce.lead + faults.early_by <= room, "early_by", format_duration(faults.early_by),
        "must not be longer, together with lead, than " + what + ", " + format_duration(room));
  };
  const auto may_grow = [&](Duration room, const std::string& what) {
    const auto& limit = job.announce.lead_limit;
    at.below("announce")
        .require(!limit || *limit <= room, "lead_limit",
                 format_duration(limit.value_or(Duration{})),
                 "must not be longer than " + what + ", " + format_duration(room));
  };
  if (job.schedule == Schedule::kFixed) {
    fits(job.first_due, "first_due");
    fits(job.period, "period");
    may_grow(job.period, "period");
  } else if (job.compute) {
    fits(*job.compute, "compute");
    may_grow(*job.compute, "compute");
  }
}

/// Checks that somebody can tell the lead that the job follows.
void check_told_lead(const Checks& at, const AnnounceConfig& announce) {
  if (!announce.lead_limit) return;
  const std::string limit = format_duration(*announce.lead_limit);
  at.require(*announce.lead_limit >= announce.lead, "lead_limit", limit,
             "must not be shorter than lead, " + format_duration(announce.lead));
  at.require(announce.lead_source != LeadSource::kNone, "lead_limit", limit,
             "needs lead_source \"wait\" or \"overlap\": no START is sent with \"none\"");
  at.require(announce.signal_form == SignalForm::kUdp, "lead_limit", limit,
             "needs signal_form \"udp\": an answer in the TOS byte has no room for a lead");
  at.require(!announce.signal_key, "lead_limit", limit,
             "needs a job without signal_key: the tag of a signed answer covers all of it");
}

/// Checks that a START and its copies leave before those of the next iteration are due.
void check_delayed_starts(const Checks& at, const JobConfig& job) {
  const SignalFaultsConfig& f = job.announce.faults;
  const std::string rule = "must be shorter than period, " + format_duration(job.period);
  if (f.late > 0) at.require(f.late_by < job.period, "late_by", format_duration(f.late_by), rule);
  if (f.duplicated > 0)
    at.require(f.copy_gap * f.copies < job.period, "copy_gap", format_duration(f.copy_gap),
               "times copies " + rule);
}

void check_pulls(const Checks& at, const JobConfig& job) {
  if (!job.announce.pulls) return;
  at.below("announce")
      .require(job.collective == Collective::kPs && job.pull, "pulls", "true",
               "needs collective \"ps\" with pull = true: nothing else has pulls");
}

void check_schedule(const Checks& at, const JobConfig& job) {
  if (job.schedule == Schedule::kFixed) {
    if (job.period == Duration::zero()) {
      at.fault("period", "is required with schedule \"fixed\"");
    } else if (job.period > Duration::zero()) {
      at.require(job.due_jitter < job.period, "due_jitter", format_duration(job.due_jitter),
                 "must be shorter than period, " + format_duration(job.period));
      check_delayed_starts(at.below("announce").below("faults"), job);
    }
  } else {
    if (!job.compute && !job.model && !job.steps)
      at.fault("compute", "is required with schedule \"closed_loop\" and burst_bytes");
  }
  check_lead(at, job);
}

/// Rejects lengths of computation where due times are fixed, because they would have no effect.
void require_closed_loop(const Checks& at, const JobConfig& job, std::string_view key, bool used) {
  if (used && job.schedule != Schedule::kClosedLoop)
    at.fault(key, "needs schedule \"closed_loop\": with \"fixed\" the due times are given");
}

void check_straggler(const Checks& at, const JobConfig& job, const StragglerConfig& s) {
  for (std::size_t i = 0; i < s.workers.size(); ++i)
    at.below("workers", i)
        .require(std::ranges::find(job.workers, s.workers[i]) != job.workers.end(), "",
                 Checks::quoted(s.workers[i]), "is no worker of this job");
  require_closed_loop(at, job, "factor", s.factor != 1);
  if (s.factor == 1 && s.delay == Duration::zero())
    at.fault("delay", "one of factor and delay is required: this straggler is as fast as ever");
}

void check_compute(const Checks& at, const JobConfig& job) {
  const auto jitter = [&at](std::string_view key, double value) {
    at.require(value >= 0 && value < 1, key, std::to_string(value),
               "must be at least 0 and less than 1");
  };
  jitter("compute_jitter", job.compute_jitter);
  jitter("batch_jitter", job.batch_jitter);
  require_closed_loop(at, job, "batch_jitter", job.batch_jitter != 0);
  require_closed_loop(at, job, "compute_factors", !job.compute_factors.empty());
  if (!job.compute_factors.empty())
    at.require(job.compute_factors.size() == job.workers.size(), "compute_factors",
               std::to_string(job.compute_factors.size()) + " factors",
               "must be one for each worker, " + std::to_string(job.workers.size()));
  for (std::size_t i = 0; i < job.stragglers.size(); ++i)
    check_straggler(at.below("straggler", i), job, job.stragglers[i]);
}

/// Checks a job without servers.
void check_among_workers(const Checks& at, const JobConfig& job) {
  const std::string with = "with collective " + Checks::quoted(name_of(job.collective));
  if (!job.servers.empty())
    at.fault("servers", "must not be given " + with + ": workers send to each other");
  at.require(job.workers.size() != 1, "workers", "1 workers", "must be at least 2 " + with);
  if (job.synchronisation != Synchronisation::kBsp)
    at.fault("synchronisation", "must be \"bsp\" " + with + ": its messages are a barrier");
  at.require(job.pull, "pull", "false", "must be true " + with);
  at.require(job.aggregate == Duration::zero(), "aggregate", format_duration(job.aggregate),
             "must be 0s " + with + ": it is the time of a server");
  if (job.shard_by != ShardRule::kBytes)
    at.fault("shard_by", "must be \"bytes\" " + with + ": there are no shards");
  if (!is_all_reduce(job.collective) && job.model)
    at.fault("model", "must not be given " + with +
                          ", whose data are activations: burst_bytes says how many");
}

void check_collective(const Checks& at, const JobConfig& job) {
  at.below("all_to_all")
      .require(job.all_to_all.skew == 0 || job.collective == Collective::kAllToAll, "skew",
               to_toml_text(ConfigValue(job.all_to_all.skew)), "needs collective \"all_to_all\"");
  at.below("pipeline")
      .require(!job.pipeline.micro_batches || job.collective == Collective::kPipeline,
               "micro_batches", std::to_string(job.pipeline.micro_batches.value_or(0)),
               "needs collective \"pipeline\"");
  if (!has_servers(job.collective)) check_among_workers(at, job);
  if (job.steps.has_value() != (job.collective == Collective::kSteps))
    at.fault("steps",
             job.steps ? "needs collective \"steps\"" : "is required with collective \"steps\"");
}

/// Returns the least bytes of a burst: one for each server, or for each part that no message cuts.
std::uint64_t least_burst_bytes(const JobConfig& job) {
  if (job.collective == Collective::kPipeline) return micro_batches_of(job);
  return std::max<std::uint64_t>(listeners_of(job).size(), 1);
}

void check_synchronisation(const Checks& at, const JobConfig& job) {
  const bool bounded = job.synchronisation == Synchronisation::kSsp;
  if (bounded && !job.staleness_bound)
    at.fault("staleness_bound", "is required with synchronisation \"ssp\"");
  if (!bounded && job.staleness_bound)
    at.fault("staleness_bound", std::to_string(*job.staleness_bound),
             "needs synchronisation \"ssp\"");
  const bool in_turn = job.synchronisation == Synchronisation::kR2sp;
  check(at.below("r2sp"), job.r2sp, in_turn, job.learner.model != LearnerModel::kNone);
  if (job.r2sp.tune_batch && job.compute == Duration::zero())
    at.below("r2sp").fault("tune_batch",
                           "needs compute above 0s: a larger batch would cost nothing");
  if (in_turn && job.schedule != Schedule::kClosedLoop)
    at.fault("synchronisation", "\"r2sp\"",
             "needs schedule \"closed_loop\": with \"fixed\" all workers' bursts are due together, "
             "whoever was held");
  if (job.shard_by != ShardRule::kBytes && !job.model)
    at.fault("shard_by", "needs a model: burst_bytes has no tensors to assign");
}

/// Checks that the readiness of each tensor's gradient is known if the policy needs it.
void check_send_policy(const Checks& at, const JobConfig& job) {
  check(at.below("policy"), job.send_policy, job.policy);
  const bool by_tensor = job.policy.granularity == Granularity::kTensor;
  check(at.below("message"), job.message, by_tensor);
  if (job.send_policy == SendPolicyKind::kFifo && !by_tensor) return;
  const auto needs = [&](bool holds, std::string_view what) {
    if (holds) return;
    if (by_tensor) at.below("policy").fault("granularity", "\"tensor\"", what);
    else at.fault("send_policy", "\"wfbp\"", what);
  };
  needs(job.model.has_value(), "needs a model: burst_bytes has no tensors");
  needs(job.schedule == Schedule::kClosedLoop,
        "needs schedule \"closed_loop\": a fixed one has no backward pass");
  needs(job.collective == Collective::kPs,
        "needs collective \"ps\": without servers, messages are not tensors");
  if (!by_tensor) return;
  needs(job.pull, "needs pull: without, no layer waits for its parameters");
  needs(job.synchronisation == Synchronisation::kBsp,
        "needs synchronisation \"bsp\": a piece is answered when all workers have sent it");
}

/// Checks the settings that a learner depends on.
void check_learner(const Checks& at, const JobConfig& job) {
  const auto learner = at.below("learner");
  check(learner, job.learner);
  if (job.learner.model == LearnerModel::kNone) return;
  if (job.collective != Collective::kPs)
    learner.fault("model", "needs collective \"ps\": gradients are applied at servers");
  else if (!job.pull)
    learner.fault("model", "needs pull: without, workers never get the servers' parameters");
  if (job.burst_bytes)
    at.require(*job.burst_bytes >= parameters_of(job.learner), "burst_bytes",
               std::to_string(*job.burst_bytes) + " bytes",
               "must be at least one for each of the learner's " +
                   std::to_string(parameters_of(job.learner)) + " parameters");
}

void check_arrivals(const Checks& at, const JobConfig& job) {
  at.require(job.tcp_port + job.arrivals.size() <= 65535, "arrivals",
             std::to_string(job.arrivals.size()) + " arrivals",
             "need a port each from tcp_port up, and " + std::to_string(job.tcp_port) +
                 " leaves fewer below 65536");
}

void check_hosts(const Checks& at, const JobConfig& job) {
  const bool few = at.in_range("workers", job.workers.size(), 1, kMaxWorkers, "workers");
  std::set<std::string> workers;
  for (std::size_t i = 0; i < job.workers.size() && few; ++i)
    at.below("workers", i)
        .require(workers.insert(job.workers[i]).second, "", Checks::quoted(job.workers[i]),
                 "is named twice");
  if (!has_servers(job.collective)) return;
  if (job.servers.empty()) at.fault("servers", "must name at least one host");
  std::set<std::string> servers;
  for (std::size_t i = 0; i < job.servers.size(); ++i) {
    const auto& server = job.servers[i];
    const auto element = at.below("servers", i);
    element.require(servers.insert(server).second, "", Checks::quoted(server), "is named twice");
    element.require(!workers.contains(server), "", Checks::quoted(server),
                    "must not be a worker of the same job");
  }
}

}  // namespace

void check(const Checks& at, const AnnounceConfig& announce) {
  at.require(tos_signal::is_encodable(announce.threshold_packets), "threshold_packets",
             std::to_string(announce.threshold_packets) + " packets",
             "must be a multiple of 5 from 5 to 75: the signal carries no other");
  if (announce.repeats > 0 && announce.ack_timeout > Duration::zero())
    at.require(announce.repeat_after < announce.ack_timeout, "repeat_after",
               format_duration(announce.repeat_after),
               "must be shorter than ack_timeout, " + format_duration(announce.ack_timeout) +
                   ": then nobody waits any more");
  check_told_lead(at, announce);
  const bool is_udp = announce.signal_form == SignalForm::kUdp;
  if (announce.signal_key)
    at.require(is_udp, "signal_key", Checks::quoted(*announce.signal_key),
               "needs signal_form \"udp\": the TOS byte has no room for a tag");
  const SignalFaultsConfig& faults = announce.faults;
  at.below("faults").require(faults.forged_tag == ForgedTag::kNone || announce.signal_key,
                             "forged_tag", "\"wrong\"",
                             "needs signal_key: a job without a key has no tags");
  at.below("faults").require(faults.replayed_per_second == 0 || is_udp, "replayed_per_second",
                             to_toml_text(ConfigValue(faults.replayed_per_second)),
                             "needs signal_form \"udp\": with \"tos\" a replay is a copy, see "
                             "duplicated");
  check(at.below("faults"), announce.faults, announce.lead_source != LeadSource::kNone,
        announce.lead_source == LeadSource::kOverlap);
}

void check(const Checks& at, const JobConfig& job) {
  check_hosts(at, job);
  check_collective(at, job);
  const int sizes =
      int{job.model.has_value()} + int{job.burst_bytes.has_value()} + int{job.steps.has_value()};
  if (sizes != 1)
    at.fault(job.model || sizes == 0 ? "model" : "steps",
             sizes == 0  ? "one of model, burst_bytes and steps is required"
             : job.model ? "must not be given together with burst_bytes or steps"
                         : "must not be given together with burst_bytes");
  if (job.burst_bytes)
    at.in_range("burst_bytes", *job.burst_bytes, least_burst_bytes(job), kMaxBurstBytes, "bytes");
  const std::uint64_t workers = std::clamp<std::uint64_t>(job.workers.size(), 1, kMaxWorkers);
  at.in_range("iterations", job.iterations, 1, kMaxWorkerIterations / workers);
  check_synchronisation(at, job);
  check_send_policy(at, job);
  check_arrivals(at, job);
  check_compute(at, job);
  check_schedule(at, job);
  check_pulls(at, job);
  check(at.below("announce"), job.announce);
  check_learner(at, job);
}

JobConfig arrival(const JobConfig& job, std::size_t n) {
  JobConfig c = job;
  if (n == 0) return c;
  c.name += "#" + std::to_string(n + 1);
  c.start += c.arrivals[n - 1];
  c.tcp_port = static_cast<std::uint16_t>(c.tcp_port + n);
  return c;
}

}  // namespace outrider::tg
