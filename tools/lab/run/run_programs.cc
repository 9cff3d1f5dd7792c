#include "tools/lab/run/run_programs.h"

#include <sys/types.h>

#include <algorithm>
#include <random>
#include <stdexcept>
#include <thread>
#include <utility>

#include "common/config/signal_key_file.h"
#include "common/dpdk/eal/error.h"
#include "common/runtime/poll_stop.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "switch/config/config_toml.h"
#include "switch/report/report_json.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/run/run_pool.h"
#include "tools/lab/run/run_site.h"
#include "tools/lab/run/stall_text.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/report/report_json.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kPoll{50};
constexpr milliseconds kPatience{10'000};        ///< time for a program to end when asked
constexpr milliseconds kStartAllowance{60'000};  ///< time to start EAL, devices and links
constexpr int kNoProgressSeconds = 10;           ///< for which the generator goes on alone
constexpr mode_t kOwnerOnly = 0600;

milliseconds longest_run(const Case& c) {
  const auto limit =
      std::ranges::find(c.parameters, "limit_seconds", &Parameters::value_type::first);
  return std::chrono::duration_cast<milliseconds>(from_seconds(std::get<double>(limit->second)));
}

/// The cause lies outside the case: a device, a cable, a peer. The next case will meet it too.
class SurroundingsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

SignalKey random_signal_key(std::uint8_t id) {
  SignalKey key{.id = id, .secret = {}};
  std::random_device device;
  for (std::uint8_t& byte : key.secret) byte = static_cast<std::uint8_t>(device());
  return key;
}

/// Both programs of one run. Throws std::runtime_error naming the program that died.
class ProgramRun {
 public:
  ProgramRun(const Case& c, const fs::path& directory, const Testbed& testbed)
      : definition_(on_testbed(testbed, c)),
        switch_(testbed.sw, testbed.remote_shell, "outrider-switch", "switch", directory),
        generator_(testbed.trafficgen, testbed.remote_shell, "outrider-trafficgen", "trafficgen",
                   directory) {
    fs::create_directories(directory);
    make_signal_keys(directory);
    write_whole_file(directory / "switch.toml", to_toml(definition_.switches));
    tg::GeneratorConfig& traffic = definition_.traffic;
    for (auto& job : traffic.jobs)
      for (auto* file : {&job.model, &job.steps})
        if (*file) *file = generator_.name_there(**file);
    for (auto& flows : traffic.flows)
      tg::for_each_file(flows, [&](std::string& file) { file = generator_.name_there(file); });
    for (auto& capture : traffic.captures) capture.file = generator_.name_there(capture.file);
    write_whole_file(directory / "trafficgen.toml", to_toml(traffic));
    switch_.start();
    if (testbed.sw.host || testbed.trafficgen.host) await_switch();
    generator_.start({"--stall", std::to_string(kNoProgressSeconds)});
  }

  RunResult run() {
    RunResult result;
    result.interrupted = !wait();
    const int generator = generator_.process().finish(kPatience);
    const int sw = switch_.process().finish(kPatience);
    if (generator == kExitStalled) throw SurroundingsError(stalled());
    require_end(generator_.process(), generator, result.interrupted);
    require_end(switch_.process(), sw, result.interrupted);
    result.switches = sw::switch_report_from_json(switch_.report());
    result.traffic = tg::generator_report_from_json(generator_.report());
    return result;
  }

 private:
  /// Gives each job that signs a key that nobody knows, in a file of the run's directory, and the
  /// switches the same file.
  void make_signal_keys(const fs::path& directory) {
    std::uint8_t id = 0;
    for (auto& job : definition_.traffic.jobs) {
      auto& file = job.announce.signal_key;
      if (!file) continue;
      const fs::path path = directory / *file;
      write_whole_file(path, signal_key_text(random_signal_key(id++)), kOwnerOnly);
      file = generator_.name_there(path);
    }
    for (auto& each : definition_.switches.switches)
      for (auto& signer : each.signals.signers)
        for (auto& key : signer.keys) key = switch_.name_there(directory / key);
  }

  /// Waits until the switch polls its devices, or waits for the generator at one of them. Another
  /// machine may take longer than kNoProgressSeconds to start it, and a generator that sends
  /// before gives up.
  void await_switch() {
    for (milliseconds waited{0}; waited < kStartAllowance; waited += kPoll) {
      const ChildProcess& process = switch_.process();
      if (process.has_said("forwarding on ") || process.has_said("waiting for a peer on ")) return;
      if (stop_requested() || switch_.process().status()) return;  // wait() says so
      std::this_thread::sleep_for(kPoll);
    }
  }

  /// Waits until the generator has ended. @return false if a stop signal came first
  /// @throws std::runtime_error if the switch ends first or the time is up
  bool wait() {
    const auto limit = longest_run(definition_) + kStartAllowance;
    for (milliseconds waited{0}; waited < limit; waited += kPoll) {
      if (stop_requested()) return false;
      if (generator_.process().status()) return true;
      if (const auto status = switch_.process().status()) fail(switch_.process(), *status);
      std::this_thread::sleep_for(kPoll);
    }
    throw SurroundingsError("outrider-trafficgen did not finish within " +
                            std::to_string(limit.count() / 1000) +
                            " s; its last lines:" + generator_.process().last_words());
  }

  /// Throws unless the program has left a report. It has after exit status 0, after "ledger not
  /// balanced", and if we asked it to end.
  static void require_end(const ChildProcess& process, int status, bool interrupted) {
    constexpr int kLedger = 4, kInterrupted = 130;
    if (status == 0 || status == kLedger || (interrupted && status == kInterrupted)) return;
    fail(process, status);
  }

  /// Says which side stood still. Throws if a report is missing.
  std::string stalled() {
    return text_of_stall(tg::generator_report_from_json(generator_.report()),
                         sw::switch_report_from_json(switch_.report()), kNoProgressSeconds) +
           " The generator's last lines:" + generator_.process().last_words();
  }

  [[noreturn]] static void fail(const ChildProcess& process, int status) {
    const std::string how = status > 128 ? "was killed by signal " + std::to_string(status - 128)
                                         : "ended with status " + std::to_string(status);
    const std::string text =
        process.name() + ' ' + how + "; its last lines:" + process.last_words();
    if (status == kExitEnvironment) throw SurroundingsError(text);
    throw std::runtime_error(text);
  }

  Case definition_;
  SiteProgram switch_;
  SiteProgram generator_;
};

CaseRun run_with_reference(const Case& c, ReferenceRuns references, const fs::path& directory,
                           const std::function<Testbed(const Case&)>& testbed_of) {
  CaseRun run{.definition = &c, .result = ProgramRun(c, directory, testbed_of(c)).run()};
  if (needs_reference(references, c) && !run.result.interrupted) {
    const Case quiet = without_background(c);
    RunResult alone = ProgramRun(quiet, directory / "alone", testbed_of(quiet)).run();
    if (!alone.interrupted) run.alone = std::move(alone);
  }
  run.switch_toml = to_toml(c.switches);
  run.traffic_toml = to_toml(c.traffic);
  trim(run);
  return run;
}

}  // namespace

RunOutcome run_cases_between(const RunOrder& order, const fs::path& directory,
                             const std::function<Testbed(const Case&)>& testbed_of) {
  RunOutcome outcome;
  std::size_t done = 0;
  bool surroundings = true;  // are to blame for all that has been run last
  for (const std::size_t i : order.wanted) {
    if (stop_requested() || outcome.not_tried != 0) break;
    order.progress(done++, order.wanted.size());
    const Case& c = order.cases[i];
    const std::string folder = std::to_string(i) + '-' + c.label + "-seed" + std::to_string(c.seed);
    try {
      CaseRun run = run_with_reference(c, order.references, directory / folder, testbed_of);
      const std::string text = run.result.interrupted ? std::string() : serialize(run);
      order.on_run(i, std::move(run), text);
      surroundings = false;
    } catch (const EnvironmentError&) {
      throw;
    } catch (const SurroundingsError& error) {
      outcome.failures.push_back({order.names[i], error.what()});
      if (std::exchange(surroundings, true)) outcome.not_tried = order.wanted.size() - done;
    } catch (const std::runtime_error& error) {
      outcome.failures.push_back({order.names[i], error.what()});
    }
  }
  outcome.interrupted = stop_requested();
  if (!outcome.interrupted && outcome.not_tried == 0) order.progress(done, order.wanted.size());
  return outcome;
}

RunOutcome run_cases_testbed(const RunOrder& order, const fs::path& directory,
                             const Testbed& testbed) {
  return run_cases_between(order, directory / "testbed", [&](const Case&) { return testbed; });
}

}  // namespace outrider::lab
