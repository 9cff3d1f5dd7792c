#include "trafficgen/apps/generator_jobs.h"

#include <algorithm>
#include <stdexcept>

#include "common/config/signal_key_file.h"
#include "trafficgen/workload/config/model_profile.h"
#include "trafficgen/workload/plan/release_profile.h"
#include "trafficgen/workload/plan/shards.h"

namespace outrider::tg {

namespace {

/// Plans when gradients are ready, and in which pieces they leave.
void plan_release(const JobConfig& job, const ModelProfile& model, Job::Setup& setup) {
  const bool by_tensor = job.policy.granularity == Granularity::kTensor;
  if (job.collective == Collective::kPs &&
      (job.send_policy != SendPolicyKind::kFifo || by_tensor || setup.mlt)) {
    setup.pieces = pieces_of(model, job.servers.size(), job.shard_by);
    if (const auto bytes = partition_of(job.send_policy, job.policy))
      setup.pieces = cut_partitions(setup.pieces, *bytes);
  }
  if (!model.compute() || job.schedule != Schedule::kClosedLoop) return;
  setup.ready_shares = ready_shares(model);
  setup.forward_share = seconds(*model.forward) / seconds(*model.compute());
  setup.recorded = RecordedTimes(model);
}

}  // namespace

GeneratorJobs::GeneratorJobs(const GeneratorConfig& config, const Generator::Options& options,
                             const GeneratorHosts& hosts, GoodputSeries& goodput)
    : config_(config),
      options_(options),
      hosts_(hosts),
      goodput_(goodput),
      next_owner_(owners_of(config) != 0 ? 1 : 0) {
  for (std::size_t i = 0; i < config.jobs.size(); ++i)
    make_job(config.jobs[i], static_cast<std::uint16_t>(i), 0);
  for (std::size_t i = 0; i < config.jobs.size(); ++i)
    for (std::size_t n = 1; n <= config.jobs[i].arrivals.size(); ++n)
      make_job(arrival(config.jobs[i], n), static_cast<std::uint16_t>(i),
               static_cast<std::uint32_t>(n) * config.jobs[i].iterations);
  make_tensorlights();
}

SignalKey GeneratorJobs::signal_key(const std::string& name) const {
  if (const auto given = options_.signal_keys.find(name); given != options_.signal_keys.end())
    return given->second;
  const auto read = read_signal_key(name);
  if (!read) throw std::runtime_error(format_issues(name, read.issues));
  return *read.config;
}

void GeneratorJobs::size_up(const JobConfig& job, Job::Setup& setup) {
  setup.compute = job.compute.value_or(Duration::zero());
  setup.burst_bytes = job.burst_bytes.value_or(0);
  if (!job.servers.empty()) setup.shard_bytes = even_shards(setup.burst_bytes, job.servers.size());
  if (job.steps) {
    auto list = load_step_list(*job.steps);
    if (!list) throw std::runtime_error(format_issues(*job.steps, list.issues));
    setup.steps = std::move(*list.config);
    setup.burst_bytes = bytes_sent(setup.steps) / setup.steps.ranks;
  }
  if (job.model) {
    const auto profile = load_model_profile(*job.model);
    if (!profile) throw std::runtime_error(format_issues(*job.model, profile.issues));
    setup.burst_bytes = profile.config->total_bytes;
    if (!job.servers.empty())
      setup.shard_bytes = shard_bytes_of(*profile.config, job.servers.size(), job.shard_by);
    plan_release(job, *profile.config, setup);
    if (!job.compute) {
      const auto compute = profile.config->compute();
      if (!compute && job.schedule == Schedule::kClosedLoop)
        throw std::runtime_error(*job.model + ": has no compute time; set job.compute");
      setup.compute = compute.value_or(Duration::zero());
    }
  }
  if (setup.burst_bytes < parameters_of(job.learner))
    throw std::runtime_error(*job.model + ": has fewer bytes than job.learner has parameters");
}

void GeneratorJobs::make_job(const JobConfig& job, std::uint16_t draws_as,
                             std::uint32_t first_iteration) {
  const std::uint32_t first_owner = next_owner_;
  if (next_owner_ != 0) next_owner_ += static_cast<std::uint32_t>(job.workers.size());
  jobs_.emplace_back();
  if (!options_.share.has(config_, job)) return;
  const TransportConfig& transport = transport_named(config_, job.transport);
  Job::Setup setup{.config = job,
                   .id = static_cast<std::uint16_t>(jobs_.size() - 1),
                   .tcp = transport.tcp,
                   .workers = hosts_.named(job.workers),
                   .servers = hosts_.named(job.servers),
                   .draws_as = draws_as,
                   .first_iteration = first_iteration,
                   .seed = config_.seed,
                   .first_owner = first_owner};
  if (transport.protocol == TransportProtocol::kMlt) setup.mlt = transport.mlt;
  if (transport.protocol == TransportProtocol::kRoce) setup.roce = transport.roce;
  if (job.announce.signal_key) setup.signal_key = signal_key(*job.announce.signal_key);
  size_up(job, setup);
  setup.nic_classes = nic_classes_of(setup);
  jobs_.back() = std::make_unique<Job>(setup, goodput_);
}

std::vector<std::uint8_t> GeneratorJobs::nic_classes_of(const Job::Setup& setup) {
  if (config_.tensorlights.mode == TensorLightsMode::kOff) return {};
  served_bytes_.resize(hosts_.all().size());
  std::vector<std::uint8_t> classes;
  for (std::size_t s = 0; s < setup.servers.size(); ++s) {
    const auto same = std::ranges::find(setup.servers, setup.servers[s]);
    const auto before = static_cast<std::size_t>(same - setup.servers.begin());
    if (before < s) {  // another server of this job is on the same host
      classes.push_back(classes[before]);
      continue;
    }
    auto& here = served_bytes_[*hosts_.index_of(setup.servers[s]->address())];
    here.push_back(setup.burst_bytes);
    classes.push_back(static_cast<std::uint8_t>(here.size()));
  }
  return classes;
}

void GeneratorJobs::make_tensorlights() {
  for (std::size_t h = 0; h < served_bytes_.size(); ++h)
    if (!served_bytes_[h].empty())
      tensorlights_.push_back(
          std::make_unique<TensorLights>(config_.tensorlights, served_bytes_[h], *hosts_.all()[h]));
}

void GeneratorJobs::start(Time now) const {
  for (const auto& lights : tensorlights_) lights->start(now);
  for (const auto& job : jobs_)
    if (job != nullptr) job->start(now);
}

bool GeneratorJobs::finished() const noexcept {
  return std::ranges::all_of(jobs_,
                             [](const auto& job) { return job == nullptr || job->finished(); });
}

}  // namespace outrider::tg
