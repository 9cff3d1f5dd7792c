#include "tools/hostagent/job_profile.h"

#include <algorithm>
#include <numeric>

#include "common/config/quantities.h"

namespace outrider::agent {
namespace {

constexpr std::uint64_t kBytesPerParameter = 4;

template <class Value>
Value median(std::vector<Value> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

template <class Value>
void keep(std::vector<Value>& values, std::size_t& next, Value value) {
  if (values.size() < JobProfile::kKept) values.push_back(value);
  else values[next] = value;
  next = (next + 1) % JobProfile::kKept;
}

/// Returns the elements of an array, some in each line.
std::string lines_of(const std::vector<Duration>& values) {
  constexpr std::size_t kInALine = 8;
  std::string text;
  for (std::size_t i = 0; i < values.size(); ++i)
    text += (i % kInALine == 0 ? "\n  \"" : " \"") + format_duration(values[i]) + "\",";
  return text + '\n';
}

}  // namespace

void JobProfile::add(const RecordedBurst& burst) {
  Bytes& flow = flows_[burst.flow];
  flow.pull = burst.pull;
  keep(flow.values, flow.next, burst.bytes);
  if (burst.pull) {
    pulled_at_ = std::max(pulled_at_.value_or(burst.ended), burst.ended);
    return;
  }
  // The first flow of a push shows when the worker had finished computing.
  if (!pulled_at_ || burst.begun <= *pulled_at_) return;
  keep(computes_ns_, next_compute_, std::int64_t{(burst.begun - *pulled_at_).count()});
  pulled_at_.reset();
}

void JobProfile::forget(std::size_t flow) { flows_.erase(flow); }

std::optional<JobProfile::Result> JobProfile::result() const {
  if (computes_ns_.empty()) return std::nullopt;
  Result result;
  result.compute = Duration{median(computes_ns_)};
  // Once the ring is full, its oldest value is the next to be replaced.
  const std::size_t kept = computes_ns_.size(), oldest = kept < kKept ? 0 : next_compute_;
  for (std::size_t i = 0; i < kept; ++i)
    result.computes.emplace_back(computes_ns_[(oldest + i) % kept]);
  for (const auto& [number, flow] : flows_) {
    const std::uint64_t bytes = median(flow.values);
    if (flow.pull) result.pull_bytes += bytes;
    else result.push_bytes.push_back(bytes);
  }
  if (result.push_bytes.empty()) return std::nullopt;
  return result;
}

std::string profile_toml(const JobProfile::Result& r, const std::string& name) {
  const auto total = std::accumulate(r.push_bytes.begin(), r.push_bytes.end(), std::uint64_t{0});
  const Duration forward = r.compute / 3;
  std::string text =
      "# Written by outrider-hostagent record.\nname = \"" + name +
      "\"\nprecision = \"fp32\"\nparameters = " +
      std::to_string(std::max<std::uint64_t>(total / kBytesPerParameter, 1)) +
      "\ntotal_bytes = " + std::to_string(total) + "\nsource = \"recorded: median bursts of " +
      std::to_string(r.computes.size()) + " iterations; pulled " + std::to_string(r.pull_bytes) +
      " bytes\"\nforward = \"" + format_duration(forward) + "\"\nbackward = \"" +
      format_duration(r.compute - forward) +
      "\"\ncompute_source = \"recorded\"\ncompute_basis = \"from the end of a pull "
      "to the next push; forward to backward 1:2 is an assumption\"\n"
      "# of each iteration: forward and backward pass\ncompute_sequence = [" +
      lines_of(r.computes) + "]\ntensors = [\n";
  for (std::size_t i = 0; i < r.push_bytes.size(); ++i)
    text += "  { name = \"flow_" + std::to_string(i) +
            "\", bytes = " + std::to_string(r.push_bytes[i]) + " },\n";
  return text + "]\n";
}

}  // namespace outrider::agent
