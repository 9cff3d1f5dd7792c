#include "tools/lab/cli/advise_files.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <stdexcept>

#include "common/config/config_file.h"
#include "common/config/file_kind.h"
#include "common/config/shipped_file.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tools/lab/advise/remedy_list.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/run/run_process.h"

namespace outrider::lab {

namespace fs = std::filesystem;

namespace {

/// One link, as most users begin.
constexpr const char* kNewFile =
    R"(# What `outrider-lab advise` reads: an experiment (docs/experiments.md) without arms, with
# [change] and [goal]. Racks, several jobs and RoCEv2: docs/advise.md has a whole example.

[network]                            # one link between two switches
rate = "25gbit"                      # of the hosts, and of the link
rtt = "50us"                         # from a worker to a server and back, with empty queues
background_hosts = 3                 # that send background, and as many that receive it

[parameters]
switch.queue.limit_bytes = "600kB"   # buffer of a port; switch.buffer.total_bytes: of the switch
# switch.marker.threshold_packets = "90kB"  # today's ECN threshold [rtt x rate / sqrt(3)]
workers = 8
job.model = "resnet50"               # a name of conf/models, or a path; or both of the next two
# job.burst_bytes = "10MB"           # of each worker
# job.period = "20ms"                # from one burst to the next

[[background]]                       # as many groups as there are kinds of traffic
name = "long"
from = "sender"
to = "receiver"
long_flows = 3

[[background]]
name = "short"
from = "sender"
to = "receiver"
load = 0.3                           # of the link
sizes = "web-search"                 # a name of conf/distributions, or a path

[change]                             # what may be changed
switches = "outrider"                # "settings": of other makers too; "nothing"
second_queue = true                  # ports have a queue that the job may have for itself
hosts = true                         # workers may announce their bursts
policy = true                        # the framework may send its gradients in another order

[goal]
background_lost = 0.1                # at most so many bytes of background for each byte of bursts
short_flows = 1.1                    # p99 of flows up to 100 kB, at most so many times today's
gain = 0.05                          # a remedy that saves less time is not worth it
)";

}  // namespace

fs::path conf_of_program() {
  if (auto conf = conf_directory()) return *conf;
  throw std::runtime_error("no folder conf with remedies.toml is above " +
                           own_directory().string());
}

std::string identity_of(const AdvisedFile& advised) {
  ConfigTable all = advised.experiment;
  all["change"] = ConfigValue(to_config_table(advised.change));
  all["goal"] = ConfigValue(to_config_table(advised.goal));
  return "# What `outrider-lab advise` was asked, with what it assumed.\n" + to_toml_text(all);
}

bool is_free(const fs::path& directory, const AdvisedFile& advised, bool force) {
  const fs::path kept = directory / kAskedFile;
  if (force || !fs::exists(kept)) return true;
  std::ifstream earlier(kept);
  const std::string text{std::istreambuf_iterator<char>(earlier), {}};
  if (text == identity_of(advised)) return true;
  say("outrider-lab: " + directory.string() +
      " has the advice for another file: give --out DIR, or --force to replace it");
  return false;
}

bool is_for_advise(const std::string& path) {
  const auto file = read_file_of(path, FileKind::kExperiment);
  const auto has_any = [&file](std::initializer_list<const char*> keys) {
    return std::ranges::any_of(keys, [&](const char* key) { return file.config->get(key); });
  };
  return file && has_any({"change", "goal"}) && !has_any({"arm", "rivals", "base"});
}

int check_advised(const std::string& path) {
  const auto advised = load_advised(path);
  if (!advised) {
    std::fputs(format_issues(path, advised.issues).c_str(), stderr);
    return kExitUsage;
  }
  const UsableArms arms = usable_arms(*advised.config, conf_of_program());
  for (const std::string& one : arms.left_out) say("outrider-lab: not tried: " + one);
  if (arms.labels.size() == 1) {
    say(kNothingToAdvise);
    return kExitUsage;
  }
  std::printf("%s: no fault; a file for `outrider-lab advise %s`, which compares %zu arms\n",
              path.c_str(), path.c_str(), arms.labels.size());
  return kExitOk;
}

int write_new_advised(const std::string& file) {
  if (file.empty()) {
    std::fputs(kNewFile, stdout);
    return kExitOk;
  }
  if (fs::exists(file)) {
    say("outrider-lab: " + file + " is there: give another name");
    return kExitUsage;
  }
  write_whole_file(file, kNewFile);
  say("outrider-lab: " + file + " is an experiment to put your own numbers in");
  return kExitOk;
}

}  // namespace outrider::lab
