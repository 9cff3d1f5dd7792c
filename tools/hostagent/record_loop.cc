#include "tools/hostagent/record_loop.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tools/hostagent/agent_error.h"
#include "tools/hostagent/agent_report.h"
#include "tools/hostagent/burst_csv.h"
#include "tools/hostagent/burst_watch.h"
#include "tools/hostagent/flow_numbers.h"
#include "tools/hostagent/instance_lock.h"
#include "tools/hostagent/job_profile.h"
#include "tools/hostagent/privileges.h"
#include "tools/hostagent/stop_signals.h"

namespace outrider::agent {
namespace {

Time time_of(std::uint64_t ns) { return Time{std::chrono::nanoseconds(ns)}; }

/// Most flows (directions of connections) remembered at a time; at most 32 MiB of bursts.
constexpr std::size_t kMaxFlows = 1024;

/// Returns the directory of the recording. One that does not exist is made for the user.
std::filesystem::path directory_of(const AgentOptions& options, const Privileges& privileges) {
  std::error_code failed;
  const bool made = std::filesystem::create_directories(options.out, failed);
  if (failed) throw AgentError(options.out + ": cannot be made: " + failed.message());
  if (made) privileges.give(options.out);
  return options.out;
}

/// The agent that records a worker's bursts.
class RecordAgent {
 public:
  RecordAgent(const AgentOptions& options, const Privileges& privileges)
      : directory_(directory_of(options, privileges)),
        interface_(interface_named(options.interface)),
        // Its filters take the places of those of `announce` and `answer`.
        announce_lock_("announce", interface_),
        answer_lock_("answer", interface_),
        max_bursts_(options.max_bursts),
        watch_(interface_, options, WatchedIngress::kPulls,
               [this](const AgentOnset& o) { on_onset(o); }) {}

  void run();
  [[nodiscard]] nlohmann::ordered_json report() const;

 private:
  void on_onset(const AgentOnset& onset);
  /// Returns the number of a flow. A new flow may make an older one be forgotten.
  std::size_t number_of(const AgentFlowKey& key);
  void add(const AgentFlowKey& key, bool pull, std::uint64_t begun_ns, std::uint64_t ended_ns,
           std::uint64_t bytes);
  void finish();

  std::filesystem::path directory_;
  NetworkInterface interface_;
  InstanceLock announce_lock_, answer_lock_;
  StopSignals stop_;
  std::uint64_t max_bursts_;
  std::unique_ptr<BurstCsv> csv_;  ///< made by run(), as the user that the agent goes on as
  JobProfile profile_;
  FlowNumbers flows_{kMaxFlows};
  std::uint64_t forgotten_ = 0;
  BurstWatch watch_;
};

std::size_t RecordAgent::number_of(const AgentFlowKey& key) {
  const auto [number, forgotten] = flows_.number_of(key);
  if (forgotten) {
    ++forgotten_;
    profile_.forget(*forgotten);
    csv_->forget(*forgotten);
  }
  return number;
}

void RecordAgent::add(const AgentFlowKey& key, bool pull, std::uint64_t begun_ns,
                      std::uint64_t ended_ns, std::uint64_t bytes) {
  const RecordedBurst burst{.flow = number_of(key),
                            .pull = pull,
                            .begun = time_of(begun_ns),
                            .ended = time_of(ended_ns),
                            .bytes = bytes};
  csv_->add(burst);
  profile_.add(burst);
}

void RecordAgent::on_onset(const AgentOnset& onset) {
  number_of(onset.flow);
  if (onset.previous_bytes > 0)
    add(onset.flow, onset.from_server != 0, onset.previous_begun_ns, onset.previous_ended_ns,
        onset.previous_bytes);
}

/// Writes the files. A burst ends when the next begins, so the last burst of each flow must be
/// read from the program.
void RecordAgent::finish() {
  watch_.consume();
  auto last = watch_.flows();
  std::ranges::sort(last, {}, [](const auto& f) { return f.second.last_payload_ns; });
  for (const auto& [key, flow] : last)
    add(key, flow.from_server != 0, flow.burst_begun_ns, flow.last_payload_ns, flow.burst_bytes);
  csv_->close();
  if (const auto result = profile_.result()) {
    write_whole_file(directory_ / "profile.toml", profile_toml(*result, "recorded"));
    std::printf("profile of %zu iterations in %s\n", result->computes.size(),
                (directory_ / "profile.toml").c_str());
  } else {
    std::puts("no profile: no push has followed a pull");
  }
}

void RecordAgent::run() {
  csv_ = std::make_unique<BurstCsv>(directory_ / "bursts.csv", max_bursts_);
  if (watch_.replaced_leftover()) std::puts("replaced what a killed agent had left");
  std::printf("recording at %s\n", interface_.name.c_str());
  std::fflush(stdout);
  std::array<pollfd, 2> waiting{{{watch_.fd(), POLLIN, 0}, {stop_.fd(), POLLIN, 0}}};
  while (waiting[1].revents == 0) {
    if (poll(waiting.data(), waiting.size(), -1) < 0) continue;
    watch_.consume();
  }
  finish();
}

nlohmann::ordered_json RecordAgent::report() const {
  const auto counts = watch_.counts();
  auto out = json_of(counts);
  out["flows"] = flows_.given();
  out["flows_forgotten"] = forgotten_;
  out["bursts_written"] = csv_->rows();
  out["bursts_left_out"] = csv_->left_out();
  // Every onset begins a burst, which is added when the next begins, or at the end.
  out["bursts_forgotten"] = counts[kAgentOnsets] - csv_->rows() - csv_->left_out();
  out["cost"] = json_of(watch_.cost());
  return out;
}

}  // namespace

int run_record(const AgentOptions& options) {
  const Privileges privileges(options.user);
  ReportFile report(options.report);
  RecordAgent agent(options, privileges);
  privileges.drop();
  privileges.check_may_write(options.out);
  agent.run();
  report.say(agent.report());
  return kExitOk;
}

}  // namespace outrider::agent
