// Rules of the agent's options, each for itself and together.
#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "common/config/quantities.h"
#include "common/config/toml_text.h"
#include "tools/hostagent/bpf/wire.h"
#include "tools/hostagent/options.h"

namespace outrider::agent {
namespace {

std::string share_fault(const char* flag, double value, const char* rule) {
  return std::string(flag) + ": " + to_toml_text(ConfigValue(value)) + ": must be " + rule;
}

void require_hold(const HoldOptions& o, std::vector<std::string>& faults) {
  const auto require = [&faults](bool holds, std::string fault) {
    if (!holds) faults.push_back(std::move(fault));
  };
  constexpr std::uint64_t kSlowest = 8;  // a byte a second
  constexpr std::uint64_t kFastest = 100'000'000'000;
  require(o.rate.bits_per_second >= kSlowest && o.rate.bits_per_second <= kFastest,
          "--rate: " + format_rate(o.rate) + ": must be at least 8bit and at most 100gbit");
  require(o.rtt <= std::chrono::seconds(1),
          "--rtt: " + format_duration(o.rtt) + ": must be at most 1s");
  require(o.floor >= 0 && o.floor <= 1, share_fault("--floor", o.floor, "0 to 1"));
  require(o.standing >= 1 && o.standing <= 10, share_fault("--standing", o.standing, "1 to 10"));
  require(o.wait > Duration::zero(), "--wait: 0s: must be above 0s");
  require(o.idle_end > Duration::zero(), "--idle-end: 0s: must be above 0s");
  require(o.longest > o.lead, "--longest: " + format_duration(o.longest) +
                                  ": must be above --lead, " + format_duration(o.lead));
  require(o.longest <= HoldOptions::kWindow,
          "--longest: " + format_duration(o.longest) + ": must be at most 10s");
  require(o.sender_share > 0 && o.sender_share <= 1,
          share_fault("--sender-share", o.sender_share, "above 0 and at most 1"));
  require(o.budget_share > 0 && o.budget_share <= 1,
          share_fault("--budget-share", o.budget_share, "above 0 and at most 1"));
  require(o.job_ports.size() <= AGENT_MAX_JOB_PORTS,
          "--job-port: " + std::to_string(o.job_ports.size()) + " ports: must be at most " +
              std::to_string(AGENT_MAX_JOB_PORTS));
  require(std::ranges::find(o.job_ports, 0) == o.job_ports.end(),
          "--job-port: 0: must be 1 to 65535");
}

/// @pre o.lead_limit
void require_told_lead(const AgentOptions& o, std::vector<std::string>& faults) {
  const std::string fault = "--lead-limit: " + format_duration(*o.lead_limit) + ": ";
  if (*o.lead_limit < o.lead)
    faults.push_back(fault + "must be at least --lead, " + format_duration(o.lead));
  if (o.lead == Duration::zero())
    faults.push_back(fault + "needs --lead above 0s: else STARTs leave with the first byte");
  if (o.form != SignalForm::kUdp)
    faults.push_back(fault + "needs --form udp: an answer in the TOS byte has no room for a lead");
  if (o.signal_key)
    faults.push_back(fault + "needs no --signal-key: the tag of a signed answer covers all of it");
}

}  // namespace

std::vector<std::string> faults_of(const AgentOptions& o) {
  std::vector<std::string> faults;
  const auto require = [&faults](bool holds, std::string fault) {
    if (!holds) faults.push_back(std::move(fault));
  };
  require(o.signal_port > 0, "--signal-port: 0: must be 1 to 65535");
  if (o.command == AgentCommand::kHold) require_hold(o.hold, faults);
  const bool watches = o.command == AgentCommand::kAnnounce || o.command == AgentCommand::kRecord;
  if (!watches) return faults;
  require(o.idle_gap > Duration::zero(), "--idle-gap: 0s: must be above 0s");
  if (o.command == AgentCommand::kRecord) return faults;
  require(o.worker < 32768, "--worker: " + std::to_string(o.worker) + ": must be 0 to 32767");
  require(o.threshold_packets % 5 == 0 && o.threshold_packets >= 5 && o.threshold_packets <= 75,
          "--threshold: " + std::to_string(o.threshold_packets) +
              ": must be a multiple of 5 from 5 to 75");
  require(o.max_period >= o.idle_gap, "--max-period: " + format_duration(o.max_period) +
                                          ": must be at least --idle-gap, " +
                                          format_duration(o.idle_gap));
  require(o.lead <= o.max_period, "--lead: " + format_duration(o.lead) +
                                      ": must be at most --max-period, " +
                                      format_duration(o.max_period));
  if (o.lead_limit) require_told_lead(o, faults);
  return faults;
}

}  // namespace outrider::agent
