#include "trafficgen/workload/config/model_profile.h"

#include <algorithm>

#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "common/config/file_kind.h"

namespace outrider::tg {
namespace {

constexpr auto kComputeSources = choices<ComputeSource>({{"paper", ComputeSource::kPaper},
                                                         {"scaled", ComputeSource::kScaled},
                                                         {"recorded", ComputeSource::kRecorded}});
constexpr std::size_t kMaxMeasured = 65'536;          ///< values of one time
constexpr std::uint64_t kMaxModelBytes = 1ULL << 50;  ///< also keeps the sum from overflowing

void check_compute(const Checks& root, const ModelProfile& p) {
  if (p.forward) root.positive("forward", *p.forward);
  if (p.backward) root.positive("backward", *p.backward);
  if (p.forward && !p.backward) root.fault("backward", "is required with forward");
  if (p.backward && !p.forward) root.fault("forward", "is required with backward");
  if (!p.forward || !p.backward) return;
  if (!p.compute_source) root.fault("compute_source", "is required with forward and backward");
  if (!p.compute_basis) root.fault("compute_basis", "is required with forward and backward");
}

/// Checks the measured values of one time.
void check_measured(const Checks& root, std::string_view key, const MeasuredTimes& measured) {
  const std::string sequence = std::string(key) + "_sequence";
  const std::string quantiles = std::string(key) + "_quantiles";
  if (!measured.sequence.empty() && !measured.quantiles.empty())
    root.fault(quantiles, "must be left out with " + sequence + ": one of them says how it varies");
  const auto check_list = [&](const std::string& name, const std::vector<Duration>& values) {
    root.require(values.size() <= kMaxMeasured, name, std::to_string(values.size()) + " values",
                 "must be at most " + std::to_string(kMaxMeasured));
    for (std::size_t i = 0; i < std::min(values.size(), kMaxMeasured); ++i)
      if (!root.below(name, i).positive("", values[i])) return;
  };
  check_list(sequence, measured.sequence);
  check_list(quantiles, measured.quantiles);
  root.require(measured.quantiles.size() != 1, quantiles, "1 value",
               "must be at least 2: the least value and the largest");
  const auto fall = std::ranges::is_sorted_until(measured.quantiles);
  if (fall != measured.quantiles.end())
    root.below(quantiles, static_cast<std::size_t>(fall - measured.quantiles.begin()))
        .fault("", format_duration(*fall), "must not be less than the value before it");
}

/// A value of a sequence is of one iteration, so that all sequences are equally long.
void check_all_measured(const Checks& root, const ModelProfile& p) {
  if (!has_measured_times(p)) return;
  if (!p.forward || !p.backward)
    root.fault("forward", "and backward are required with measured times");
  check_measured(root, "compute", p.compute_measured);
  check_measured(root, "forward", p.forward_measured);
  std::size_t length = p.forward_measured.sequence.size();
  bool parts = !p.forward_measured.empty();
  for (std::size_t i = 0; i < p.steps.size(); ++i) {
    const auto at = root.below("steps", i);
    const MeasuredTimes& measured = p.steps[i].measured;
    check_measured(at, "after", measured);
    parts |= !measured.empty();
    if (measured.sequence.empty()) continue;
    if (length == 0) length = measured.sequence.size();
    at.require(measured.sequence.size() == length, "after_sequence",
               std::to_string(measured.sequence.size()) + " values",
               "must be as many as the sequence before it has, " + std::to_string(length) +
                   ": one for each iteration");
  }
  if (parts && !p.compute_measured.empty())
    root.fault(p.compute_measured.sequence.empty() ? "compute_quantiles" : "compute_sequence",
               "must be left out where forward or a step has measured times: they add up to it");
}

/// The steps must cover all tensors, from the last to the first, and the whole backward pass.
void check_steps(const Checks& root, const ModelProfile& p) {
  if (p.steps.empty()) return;
  if (!p.backward) return root.fault("steps", "need forward and backward");
  Duration sum{};
  bool summable = true;
  std::uint64_t end = p.tensors.size();
  for (std::size_t i = 0; i < p.steps.size(); ++i) {
    const auto at = root.below("steps", i);
    const BackwardStep& step = p.steps[i];
    at.require(step.first_tensor < end, "first_tensor", std::to_string(step.first_tensor),
               "must be below " + std::to_string(end) + ", where the step before begins");
    end = std::min<std::uint64_t>(end, step.first_tensor);
    summable = at.positive("after", step.after) && summable;
    sum += step.after;
  }
  summable = root.require(end == 0, "steps", std::to_string(end) + " tensors are in none",
                          "the last step must begin with tensor 0") &&
             summable;
  root.require(!summable || sum == *p.backward, "steps", format_duration(sum),
               "must add up to backward, " + format_duration(*p.backward));
}

}  // namespace

template <class V>
void describe_measured(V& v, const std::string& key, MeasuredTimes& c) {
  v.duration(key + "_sequence", c.sequence);
  v.duration(key + "_quantiles", c.quantiles);
}

template <class V>
void describe(V& v, BackwardStep& c) {
  v.value("first_tensor", c.first_tensor, Presence::kRequired);
  v.duration("after", c.after, Presence::kRequired);
  describe_measured(v, "after", c.measured);
}

template <class V>
void describe(V& v, Tensor& c) {
  v.value("name", c.name, Presence::kRequired);
  v.value("bytes", c.bytes, Presence::kRequired);
}

template <class V>
void describe(V& v, ModelProfile& c) {
  v.value("name", c.name, Presence::kRequired);
  v.value("precision", c.precision);
  v.value("parameters", c.parameters, Presence::kRequired);
  v.bytes("total_bytes", c.total_bytes, Presence::kRequired);
  v.value("source", c.source, Presence::kRequired);
  v.duration("forward", c.forward);
  v.duration("backward", c.backward);
  describe_measured(v, "compute", c.compute_measured);
  describe_measured(v, "forward", c.forward_measured);
  v.choice("compute_source", c.compute_source, kComputeSources);
  v.value("compute_basis", c.compute_basis);
  v.tables("steps", c.steps);
  v.tables("tensors", c.tensors);
}

bool has_measured_times(const ModelProfile& p) noexcept {
  const auto varies = [](const BackwardStep& step) { return !step.measured.empty(); };
  return !p.compute_measured.empty() || !p.forward_measured.empty() ||
         std::ranges::any_of(p.steps, varies);
}

ConfigIssues validate(const ModelProfile& profile) {
  ConfigIssues issues;
  const Checks root(issues);
  root.require(!profile.name.empty(), "name", "\"\"", "must not be empty");
  root.require(!profile.source.empty(), "source", "\"\"", "must not be empty");
  root.in_range("parameters", profile.parameters, 1, kMaxModelBytes);
  check_compute(root, profile);
  check_steps(root, profile);
  check_all_measured(root, profile);
  if (profile.tensors.empty()) root.fault("tensors", "a model must have at least one tensor");

  std::uint64_t sum = 0;
  bool summable = !profile.tensors.empty();
  UniqueValues<std::string> names;
  for (std::size_t i = 0; i < profile.tensors.size(); ++i) {
    const auto at = root.below("tensors", i);
    const auto& tensor = profile.tensors[i];
    names.add(at, "name", tensor.name, Checks::quoted(tensor.name),
              "tensors[" + std::to_string(i) + "]");
    summable = at.in_range("bytes", tensor.bytes, 1, kMaxModelBytes, "bytes") && summable;
    sum += tensor.bytes;
  }
  root.require(!summable || sum == profile.total_bytes, "total_bytes",
               std::to_string(profile.total_bytes) + " bytes",
               "must be the sum over the tensors, " + std::to_string(sum));
  return issues;
}

ConfigResult<ModelProfile> load_model_profile(const std::string& path) {
  return load_config<ModelProfile>(path, FileKind::kModel);
}

std::string to_toml(const ModelProfile& profile) { return write_config(profile); }

}  // namespace outrider::tg
