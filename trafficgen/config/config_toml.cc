#include "trafficgen/config/config_toml.h"

#include <algorithm>
#include <filesystem>

#include "common/config/config_file.h"
#include "common/config/file_kind.h"
#include "common/config/shipped_file.h"
#include "common/config/signal_key_file.h"
#include "common/net/mlt_message.h"
#include "trafficgen/config/config_limits.h"
#include "trafficgen/import/step_list.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::tg {
namespace {

/// Checks that each server has a tensor; otherwise it would never be pushed to.
void check_shards(const Checks& at, const JobConfig& job, const ModelProfile& model) {
  at.require(model.total_bytes >= listeners_of(job).size(), "model", Checks::quoted(*job.model),
             "has fewer bytes than there are servers, or workers without them");
  if (job.shard_by == ShardRule::kBytes || job.servers.empty()) return;
  at.require(job.servers.size() <= model.tensors.size(), "servers",
             std::to_string(job.servers.size()) + " servers",
             "must be at most one for each of the model's " + std::to_string(model.tensors.size()) +
                 " tensors with this shard_by");
}

/// Checks that with the bounded-loss transport every server holds whole values of every tensor.
void check_values(const Checks& at, const JobConfig& job, const ModelProfile& model) {
  const bool whole = std::ranges::all_of(
      model.tensors, [](const Tensor& t) { return t.bytes % mlt::kValueBytes == 0; });
  at.require(whole, "model", Checks::quoted(*job.model),
             "has a tensor that is no multiple of 4 bytes, as protocol \"mlt\" needs");
  at.require(model.total_bytes >= mlt::kValueBytes * listeners_of(job).size(), "model",
             Checks::quoted(*job.model),
             "has fewer values of 4 bytes than there are servers, or workers without them");
  const std::uint64_t shards = mlt::kValueBytes * std::max<std::uint64_t>(job.servers.size(), 1);
  at.require(job.shard_by != ShardRule::kBytes || model.total_bytes % shards == 0, "shard_by",
             "\"bytes\"",
             "cuts a value of 4 bytes in two, as the model's bytes are no multiple of " +
                 std::to_string(shards) + "; protocol \"mlt\" needs \"balanced\" here");
}

/// Checks that tensors that are not cut fit into the credit.
void check_credit(const Checks& at, const JobConfig& job, const ModelProfile& model) {
  if (!job.policy.credit_bytes || job.policy.partition_bytes) return;
  std::uint64_t largest_bytes = 0;
  for (const Tensor& t : model.tensors) largest_bytes = std::max(largest_bytes, t.bytes);
  at.below("policy").require(
      *job.policy.credit_bytes >= largest_bytes, "credit_bytes",
      std::to_string(*job.policy.credit_bytes) + " bytes",
      "without partition_bytes must be at least the model's largest tensor, " +
          std::to_string(largest_bytes));
}

/// Checks that the model has the tensors that the blocks name.
void check_blocks(const Checks& at, const JobConfig& job, const ModelProfile& model) {
  if (job.policy.blocks.empty()) return;
  const std::uint32_t last = job.policy.blocks.back();
  at.below("policy").require(
      last < model.tensors.size(), "blocks", std::to_string(last),
      "must be below the model's tensors, " + std::to_string(model.tensors.size()));
}

bool is_mlt(const GeneratorConfig& config, const std::string& transport) {
  const auto it = std::ranges::find(config.transports, transport, &TransportConfig::name);
  return it != config.transports.end() && it->protocol == TransportProtocol::kMlt;
}

void check_model(const Checks& at, const JobConfig& job, const GeneratorConfig& config) {
  const auto profile = load_model_profile(*job.model);
  if (!profile) {
    at.faults_of_file("model", *job.model, profile.issues);
    return;
  }
  check_shards(at, job, *profile.config);
  if (is_mlt(config, job.transport)) check_values(at, job, *profile.config);
  const bool by_tensor = job.policy.granularity == Granularity::kTensor;
  if ((job.send_policy != SendPolicyKind::kFifo || by_tensor) && !profile.config->compute())
    at.fault("send_policy", "needs a model whose profile has forward and backward times");
  check_credit(at, job, *profile.config);
  check_blocks(at, job, *profile.config);
  if (job.schedule != Schedule::kClosedLoop || job.compute) return;
  const auto compute = profile.config->compute();
  if (!compute) at.fault("compute", "is required: the model's profile has no compute times");
  else if (job.announce.lead_source == LeadSource::kOverlap)
    at.below("announce")
        .require(job.announce.lead <= *compute, "lead", format_duration(job.announce.lead),
                 "must not be longer than the model's compute time, " + format_duration(*compute));
}

}  // namespace

/// Checks that the list of a job has a step for each of its workers, and no other.
void check_steps(const Checks& at, const JobConfig& job) {
  const auto list = load_step_list(*job.steps);
  if (!list) return at.faults_of_file("steps", *job.steps, list.issues);
  at.require(list.config->ranks == job.workers.size(), "steps", Checks::quoted(*job.steps),
             "has " + std::to_string(list.config->ranks) + " ranks, and the job has " +
                 std::to_string(job.workers.size()) + " workers: there must be as many");
}

ConfigIssues validate_signal_keys(const GeneratorConfig& config) {
  ConfigIssues issues;
  const Checks root(issues);
  for (std::size_t i = 0; i < config.jobs.size(); ++i) {
    const auto& file = config.jobs[i].announce.signal_key;
    if (!file) continue;
    for (const auto& issue : read_signal_key(*file).issues)
      root.below("job", i)
          .below("announce")
          .fault("signal_key", Checks::quoted(*file), issue.problem);
  }
  return issues;
}

/// Returns the largest packet that both hosts take. A host that is not there is reported elsewhere.
std::uint32_t mtu_between(const GeneratorConfig& config, const CaptureConfig& capture) {
  std::uint32_t mtu_bytes = kMaxHostMtuBytes;
  for (const HostConfig& host : config.hosts)
    if (host.name == capture.from || host.name == capture.to)
      mtu_bytes = std::min(mtu_bytes, host.mtu_bytes);
  return mtu_bytes;
}

ConfigIssues validate_models(const GeneratorConfig& config) {
  ConfigIssues issues;
  const Checks root(issues);
  for (std::size_t i = 0; i < config.jobs.size(); ++i)
    if (config.jobs[i].model) check_model(root.below("job", i), config.jobs[i], config);
  for (std::size_t i = 0; i < config.jobs.size(); ++i)
    if (config.jobs[i].steps) check_steps(root.below("job", i), config.jobs[i]);
  for (std::size_t i = 0; i < config.flows.size(); ++i)
    check_files(root.below("flows", i), config.flows[i]);
  for (std::size_t i = 0; i < config.captures.size(); ++i)
    check_file(root.below("capture", i), config.captures[i],
               mtu_between(config, config.captures[i]));
  return issues;
}

ConfigResult<GeneratorConfig> generator_config_from(const ConfigTable& file,
                                                    const std::string& directory) {
  ConfigResult<GeneratorConfig> result{GeneratorConfig{}, {}};
  auto& config = *result.config;
  read_config(file, "", config, result.issues);
  const auto from_here = [&directory](std::string& path) {
    path = (std::filesystem::path(directory) / path).lexically_normal().string();
  };
  for (auto& job : config.jobs) {
    if (job.model) *job.model = named_file(*job.model, "models", ".toml", directory);
    if (job.steps) from_here(*job.steps);
    if (job.announce.signal_key) from_here(*job.announce.signal_key);
  }
  for (auto& flows : config.flows) {
    if (flows.list) from_here(*flows.list);
    if (flows.distribution)
      *flows.distribution = named_file(*flows.distribution, "distributions", ".cdf", directory);
  }
  for (auto& capture : config.captures) from_here(capture.file);
  merge_issues(result.issues, validate(config));
  merge_issues(result.issues, validate_models(config));
  merge_issues(result.issues, validate_signal_keys(config));
  if (!result.issues.empty()) result.config.reset();
  return result;
}

ConfigResult<GeneratorConfig> load_generator_config(const std::string& path) {
  auto file = read_file_of(path, FileKind::kGenerator);
  if (!file) return {{}, std::move(file.issues)};
  return generator_config_from(*file.config, std::filesystem::path(path).parent_path().string());
}

std::string to_toml(const GeneratorConfig& config) { return write_config(config); }

}  // namespace outrider::tg
