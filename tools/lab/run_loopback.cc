#include "tools/lab/run_loopback.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "common/dpdk/error.h"
#include "common/runtime/poll_stop.h"
#include "switch/config_toml.h"
#include "switch/report_json.h"
#include "tools/lab/plan.h"
#include "tools/lab/plan_switches.h"
#include "tools/lab/run_pool.h"
#include "tools/lab/run_process.h"
#include "trafficgen/config_toml.h"
#include "trafficgen/report_json.h"

namespace outrider {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds kPoll{50};
constexpr milliseconds kPatience{10'000};        ///< for a program to end when asked
constexpr milliseconds kStartAllowance{60'000};  ///< EAL, devices, links

/// A directory of its own under the system's temporary one: a socket's path must
/// be short, and nobody else may find it.
class SocketDirectory {
 public:
  SocketDirectory() {
    std::string made = fs::temp_directory_path() / "outrider-lab-XXXXXX";
    if (mkdtemp(made.data()) == nullptr) throw DpdkError("mkdtemp", made, errno);
    path_ = made;
  }
  ~SocketDirectory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  SocketDirectory(const SocketDirectory&) = delete;
  SocketDirectory& operator=(const SocketDirectory&) = delete;
  [[nodiscard]] std::string socket(std::size_t i) const {
    return path_ / (std::to_string(i) + ".sock");
  }

 private:
  fs::path path_;
};

/// The two configurations with devices that exist. Both sides name their devices
/// after the switch, so equal names meet at one socket.
Case with_sockets(const Case& c, const SocketDirectory& sockets) {
  Case joined = c;
  auto& devices = joined.switches.devices;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices[i].device = vhost_device(i, sockets.socket(i));
    const auto peer =
        std::ranges::find(joined.traffic.devices, devices[i].name, &GeneratorDeviceConfig::name);
    if (peer != joined.traffic.devices.end())
      peer->device = virtio_user_device(i, sockets.socket(i));
  }
  return joined;
}

void write_file(const fs::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  if (!file.flush()) throw std::runtime_error(path.string() + " cannot be written");
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error(path.string() + " is missing");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

milliseconds longest_run(const Case& c) {
  const auto limit =
      std::ranges::find(c.parameters, "limit_seconds", &Parameters::value_type::first);
  return std::chrono::duration_cast<milliseconds>(from_seconds(std::get<double>(limit->second)));
}

/// Both programs of one run. Throws std::runtime_error, saying which one died.
class LoopbackRun {
 public:
  LoopbackRun(const Case& c, const fs::path& directory, const std::vector<unsigned>& cpus)
      : definition_(with_sockets(c, sockets_)), directory_(directory) {
    fs::create_directories(directory_);
    write_file(directory_ / "switch.toml", to_toml(definition_.switches));
    // Absolute, as the path of a model is relative to the file.
    for (auto& job : definition_.traffic.jobs)
      if (job.model) job.model = fs::absolute(*job.model).string();
    write_file(directory_ / "trafficgen.toml", to_toml(definition_.traffic));
    start("outrider-switch", "switch", cpus[0], switch_);
    start("outrider-trafficgen", "trafficgen", cpus[1], generator_);
  }

  RunResult run() {
    RunResult result;
    result.interrupted = !wait();
    const int generator = generator_->finish(kPatience);
    const int sw = switch_->finish(kPatience);
    require_end(*generator_, generator, result.interrupted);
    require_end(*switch_, sw, result.interrupted);
    result.switches = switch_report_from_json(read_file(directory_ / "switch.json"));
    result.traffic = generator_report_from_json(read_file(directory_ / "trafficgen.json"));
    return result;
  }

 private:
  void start(const char* program, const std::string& stem, unsigned cpu,
             std::optional<ChildProcess>& process) {
    process.emplace(
        own_directory() / program,
        std::vector<std::string>{"--config", directory_ / (stem + ".toml"), "--report",
                                 directory_ / (stem + ".json"), "--lcore", std::to_string(cpu)},
        directory_ / (stem + ".log"));
  }

  /// @return false if a stop signal came first
  bool wait() {
    const auto limit = longest_run(definition_) + kStartAllowance;
    for (milliseconds waited{0}; waited < limit; waited += kPoll) {
      if (stop_requested()) return false;
      if (generator_->status()) return true;
      if (switch_->status()) throw std::runtime_error(died(*switch_, *switch_->status()));
      std::this_thread::sleep_for(kPoll);
    }
    throw std::runtime_error("outrider-trafficgen did not finish within " +
                             std::to_string(limit.count() / 1000) +
                             " s; its last lines:" + generator_->last_words());
  }

  /// 0 and "ledger not balanced" leave a report; so does an end that we asked for.
  static void require_end(const ChildProcess& process, int status, bool interrupted) {
    constexpr int kLedger = 4, kInterrupted = 130;
    if (status == 0 || status == kLedger || (interrupted && status == kInterrupted)) return;
    throw std::runtime_error(died(process, status));
  }

  static std::string died(const ChildProcess& process, int status) {
    const std::string how = status > 128 ? "was killed by signal " + std::to_string(status - 128)
                                         : "ended with status " + std::to_string(status);
    return process.name() + ' ' + how + "; its last lines:" + process.last_words();
  }

  SocketDirectory sockets_;
  Case definition_;
  fs::path directory_;
  std::optional<ChildProcess> switch_;
  std::optional<ChildProcess> generator_;
};

CaseRun run_both(const Case& c, const fs::path& directory, const std::vector<unsigned>& cpus) {
  CaseRun run{.definition = &c, .result = LoopbackRun(c, directory, cpus).run()};
  if (!run.result.interrupted) {
    RunResult alone = LoopbackRun(without_background(c), directory / "alone", cpus).run();
    if (!alone.interrupted) run.alone = std::move(alone);
  }
  run.switch_toml = to_toml(c.switches);
  run.traffic_toml = to_toml(c.traffic);
  trim(run);
  return run;
}

}  // namespace

RunOutcome run_cases_loopback(const RunOrder& order, const fs::path& directory) {
  const auto cpus = usable_cpus();
  if (cpus.size() < 2)
    throw EnvironmentError(
        "the loopback runtime needs two CPUs, one for each program; this process may use " +
        std::to_string(cpus.size()) + ". Use --runtime virtual.");
  RunOutcome outcome;
  std::size_t done = 0;
  for (const std::size_t i : order.wanted) {
    if (stop_requested()) break;
    order.progress(done++, order.wanted.size());
    const Case& c = order.cases[i];
    const std::string stem = c.label + "-seed" + std::to_string(c.seed);
    try {
      outcome.runs.push_back(
          run_both(c, directory / "loopback" / (std::to_string(i) + '-' + stem), cpus));
      if (order.on_run && !outcome.runs.back().result.interrupted)
        order.on_run(i, serialize(outcome.runs.back()));
    } catch (const EnvironmentError&) {
      throw;
    } catch (const std::runtime_error& error) {
      outcome.failures.push_back({order.names[i], error.what()});
    }
  }
  outcome.interrupted = stop_requested();
  if (!outcome.interrupted) order.progress(done, order.wanted.size());
  return outcome;
}

}  // namespace outrider
