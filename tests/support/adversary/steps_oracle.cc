#include "tests/support/adversary/steps_oracle.h"

#include <algorithm>

#include "tests/support/regulator_bound.h"

namespace outrider {
namespace {

/// Calls of one packet that may find something due. At its arrival the regulator hears its payload
/// or START, and is asked for the threshold by the hold (twice) and by the marker (twice), or by
/// the windows and the marker. At a departure the hold and the marker ask.
constexpr std::uint64_t kCallsOfArrival = 5, kCallsOfDeparture = 2;
/// A reload brings the queue up to date before and after it changes the policy.
constexpr std::uint64_t kCallsOfReload = 2;

std::uint64_t departed_from(const sw::PortQueue& queue) {
  const sw::QueueCounters& n = queue.outcomes().counters();
  return sum(n.transmitted) + sum(n.drops);
}

std::string complaint(std::uint64_t steps, const std::string& what, std::uint64_t most) {
  return "the regulator takes " + std::to_string(steps) + " steps for " + what + ", the most is " +
         std::to_string(most);
}

}  // namespace

std::uint64_t StepsOracle::advance(const sw::PortQueue& queue) {
  const std::uint64_t now = queue.regulation().steps();
  const std::uint64_t spent = now < steps_ ? now : now - steps_;  // smaller: it is a new one
  steps_ = now;
  departed_ = departed_from(queue);
  return spent;
}

std::optional<std::string> StepsOracle::judge(const sw::PortQueue& queue,
                                              const RegulationPolicy& policy,
                                              std::uint64_t arrived) {
  const std::uint64_t departed = departed_from(queue) - departed_;
  const std::uint64_t spent = advance(queue);
  most_ = std::max(most_, spent);
  const std::uint64_t most =
      (arrived * kCallsOfArrival + departed * kCallsOfDeparture) * most_steps_of_call(policy);
  if (spent <= most) return std::nullopt;
  return complaint(
      spent,
      std::to_string(arrived) + " packets that came and " + std::to_string(departed) + " that left",
      most);
}

std::optional<std::string> StepsOracle::judge_reload(const sw::PortQueue& queue,
                                                     const RegulationPolicy& before,
                                                     const RegulationPolicy& after) {
  const std::uint64_t spent = advance(queue);
  std::uint64_t most = 0;
  for (const RegulationPolicy& p : {before, after})
    most = std::max(most, most_steps_of_control(p) + kCallsOfReload * most_steps_of_call(p));
  if (spent <= most) return std::nullopt;
  return complaint(spent, "a reload", most);
}

std::uint64_t StepsOracle::most_packets_behind(const RegulationPolicy& policy) {
  // An entry begins, is put off once, and ends.
  const std::uint64_t due = 3ULL * policy.max_entries + policy.predict.max_jobs;
  return due / (Regulator::kMostEvents - 3) + 1;
}

}  // namespace outrider
