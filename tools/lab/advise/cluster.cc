#include "tools/lab/advise/cluster.h"

#include <algorithm>
#include <cmath>
#include <system_error>

#include "common/config/checks.h"
#include "common/config/choices.h"
#include "common/config/config_file.h"
#include "switch/config/queue_config.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kFrameBytes = sw::kFullFrameBytes;
constexpr std::uint64_t kLeastMark_frames = 10;
constexpr std::uint32_t kMostHosts = 256;

constexpr auto kFreedoms = choices<SwitchFreedom>({{"nothing", SwitchFreedom::kNothing},
                                                   {"settings", SwitchFreedom::kSettings},
                                                   {"outrider", SwitchFreedom::kOutrider}});

void check(const Checks& at, const ClusterNetwork& n) {
  at.rate("rate", n.rate);
  at.positive("rtt", n.rtt);
  at.in_range("buffer", n.buffer_bytes, 2 * kFrameBytes, std::uint64_t{1} << 30, "bytes");
  if (n.mark_at_bytes) {
    at.require(n.marks, "mark_at", std::to_string(*n.mark_at_bytes) + " bytes",
               "must be left out with marks = false");
    at.in_range("mark_at", *n.mark_at_bytes, kFrameBytes, n.buffer_bytes, "bytes");
  }
}

void check(const Checks& at, const ClusterJob& j) {
  at.in_range("workers", j.workers, 1, kMostHosts);
  at.in_range("servers", j.servers, 1, kMostHosts);
  if (j.model.empty() == !j.burst_bytes)
    at.fault("model", "give either the model, or burst and period");
  if (j.burst_bytes.has_value() != j.period.has_value())
    at.fault(j.burst_bytes ? "period" : "burst", "burst and period belong together");
  if (j.burst_bytes) at.in_range("burst", *j.burst_bytes, 1, std::uint64_t{1} << 36, "bytes");
  if (j.period) at.positive("period", *j.period);
}

void check(const Checks& at, const ClusterBackground& b) {
  at.in_range("long_flows", b.long_flows, 0, kMostHosts);
  at.in_interval("load", b.load, 0, 1, true);
  if (b.load > 0 && b.sizes.empty())
    at.fault("sizes", "load needs the sizes of its flows, such as \"web-search\"");
  if (b.load == 0 && !b.sizes.empty()) at.fault("sizes", "must be left out without load");
  if (b.load == 0 && b.long_flows == 0)
    at.fault("long_flows", "there is no background: nothing is to be kept from the job");
}

/// Replaces a name by the path of its file in `folder`, and a path by one that does not depend on
/// where the program runs.
void find(std::string& text, const fs::path& folder, const char* extension, const fs::path& from,
          const Checks& at, std::string_view key) {
  if (text.empty()) return;
  const bool is_name = text.find_first_of("./") == std::string::npos;
  const fs::path path = is_name ? folder / (text + extension) : from / text;
  std::error_code unread;
  if (fs::exists(path, unread)) {
    text = fs::absolute(path).lexically_normal().string();
    return;
  }
  std::string names;
  for (const auto& entry : fs::directory_iterator(folder, unread))
    if (entry.path().extension() == extension)
      names += (names.empty() ? "" : ", ") + entry.path().stem().string();
  at.fault(key, Checks::quoted(text), "must be the path of a file, or one of " + names);
}

}  // namespace

void describe(Settings& v, ClusterNetwork& c) {
  v.rate("rate", c.rate, Presence::kRequired);
  v.duration("rtt", c.rtt, Presence::kRequired);
  v.bytes("buffer", c.buffer_bytes, Presence::kRequired);
  v.value("marks", c.marks);
  v.bytes("mark_at", c.mark_at_bytes);
  v.value("second_queue", c.second_queue);
}

void describe(Settings& v, ClusterChange& c) {
  v.choice("switch", c.switches, kFreedoms);
  v.value("hosts", c.hosts);
}

void describe(Settings& v, ClusterJob& c) {
  v.value("workers", c.workers, Presence::kRequired);
  v.value("servers", c.servers);
  v.value("model", c.model);
  v.bytes("burst", c.burst_bytes);
  v.duration("period", c.period);
  v.choice("policy", c.policy, tg::kSendPolicies);
  v.choice("controller", c.controller, tg::kControllers);
}

void describe(Settings& v, ClusterBackground& c) {
  v.value("long_flows", c.long_flows);
  v.share("load", c.load);
  v.value("sizes", c.sizes);
  v.choice("controller", c.controller, tg::kControllers);
  v.value("ecn", c.ecn);
}

void describe(Settings& v, ClusterGoal& c) {
  v.value("background_lost", c.background_lost);
  v.value("short_flows", c.short_flows);
  v.share("gain", c.gain);
}

void describe(Settings& v, Cluster& c) {
  v.table("network", c.network, Presence::kRequired);
  v.table("change", c.change);
  v.table("job", c.job, Presence::kRequired);
  v.table("background", c.background, Presence::kRequired);
  v.table("goal", c.goal);
}

ConfigIssues validate(const Cluster& cluster) {
  ConfigIssues issues;
  const Checks at(issues);
  check(at.below("network"), cluster.network);
  check(at.below("job"), cluster.job);
  check(at.below("background"), cluster.background);
  at.below("goal").in_interval("background_lost", cluster.goal.background_lost, 0, 100, true);
  at.below("goal").in_interval("short_flows", cluster.goal.short_flows, 0, 100, false);
  at.below("goal").in_interval("gain", cluster.goal.gain, 0, 1, true);
  return issues;
}

ConfigResult<Cluster> load_cluster(const std::string& path, const fs::path& conf) {
  auto cluster = load_config<Cluster>(path);
  if (!cluster) return cluster;
  ConfigIssues issues;
  const Checks at(issues);
  const fs::path from = fs::path(path).parent_path();
  find(cluster.config->job.model, conf / "models", ".toml", from, at.below("job"), "model");
  find(cluster.config->background.sizes, conf / "distributions", ".cdf", from,
       at.below("background"), "sizes");
  if (issues.empty()) return cluster;
  return {{}, std::move(issues)};
}

std::uint64_t mark_at(const ClusterNetwork& network) {
  if (network.mark_at_bytes) return *network.mark_at_bytes;
  const double path_bytes =
      seconds(network.rtt) * static_cast<double>(network.rate.bits_per_second) / 8;
  return std::clamp(static_cast<std::uint64_t>(path_bytes / std::sqrt(3.0)),
                    kLeastMark_frames * kFrameBytes,
                    std::max(network.buffer_bytes, kLeastMark_frames * kFrameBytes));
}

std::string new_cluster() {
  return R"(# A cluster for `outrider-lab advise`: one link, which a training job shares with other
# traffic.

[network]
rate = "25gbit"              # of the hosts, and of the link
rtt = "50us"                 # from a worker to a server and back, with empty queues
buffer = "600kB"             # of the port
# mark_at = "90kB"           # ECN threshold of today [rtt x rate / sqrt(3)]
# marks = false              # the switch gives no ECN marks today
second_queue = true          # the port has a queue that the job may have for itself

[change]
switch = "outrider"          # "settings": thresholds and queues alone; "nothing": not the switch
hosts = true                 # workers may announce their bursts

[job]
workers = 8
servers = 1
model = "resnet50"           # a name of conf/models, or a path; or both of the next two
# burst = "10MB"             # of each worker
# period = "20ms"            # from one burst to the next
policy = "fifo"              # how the framework sends: fifo, wfbp, p3, credit, fusion, prophet
controller = "dctcp"         # congestion control of the job's hosts: dctcp, cubic, reno

[background]
long_flows = 3
load = 0.3                   # of the link, by flows that come and go
sizes = "web-search"         # of these flows: a name of conf/distributions, or a path
controller = "dctcp"
ecn = true                   # its senders obey marks

[goal]
background_lost = 0.1        # at most so many bytes of background for each byte of the bursts
short_flows = 1.1            # p99 of flows up to 100 kB, at most so many times today's
gain = 0.05                  # a remedy that saves less time is not worth it
)";
}

}  // namespace outrider::lab
