#include "tools/lab/advise/cluster_file.h"

#include <string_view>
#include <system_error>
#include <utility>

#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "common/config/file_kind.h"
#include "trafficgen/background/capture_frames.h"
#include "trafficgen/config/config.h"
#include "trafficgen/import/flow_list.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

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

/// Makes a file's path one that does not depend on where the program runs.
void find_path(std::string& text, const fs::path& from) {
  if (!text.empty()) text = fs::absolute(from / text).lexically_normal().string();
}

/// Makes a table [job] the only one of a list. @return whether it was one
bool list_job(ConfigTable& file) {
  const ConfigValue* job = file.get("job");
  if (job == nullptr || job->as<ConfigTable>() == nullptr) return false;
  file["job"] = ConfigValue(ConfigValue::Array{*job});
  return true;
}

bool is_empty(const ConfigValue& value) {
  const auto* text = value.as<std::string>();
  const auto* count = value.as<std::int64_t>();
  const auto* share = value.as<double>();
  return (text != nullptr && text->empty()) || (count != nullptr && *count == 0) ||
         (share != nullptr && *share == 0);
}

/// Says whether a key says something in the cluster. Without a fabric there is one job, and hosts
/// have one place.
bool means_something(std::string_view key, bool in_fabric) {
  if (key == "name") return false;
  return in_fabric || (key != "placement" && key != "collective" && key != "count");
}

/// Appends the keys of `all` that `written` does not have.
/// @param written  nullptr: has none
void add_assumed(const ConfigTable& all, const ConfigTable* written, bool in_fabric,
                 const std::string& prefix, std::vector<std::string>& out) {
  for (const auto& [key, value] : all.members) {
    const ConfigValue* own = written == nullptr ? nullptr : written->get(key);
    if (const auto* table = value.as<ConfigTable>())
      add_assumed(*table, own == nullptr ? nullptr : own->as<ConfigTable>(), in_fabric,
                  prefix + key + '.', out);
    else if (own == nullptr && !is_array_of_tables(value) && !is_empty(value) &&
             means_something(key, in_fabric))
      out.push_back(prefix + key + " = " + display(value));
  }
}

void find_topology(ConfigTable& file, const fs::path& from) {
  constexpr std::string_view kKey = "fabric.file";
  const ConfigValue* value = find(std::as_const(file), kKey);
  const auto* text = value == nullptr ? nullptr : value->as<std::string>();
  if (text == nullptr) return;
  std::string path = *text;
  find_path(path, from);
  (void)assign(file, kKey, ConfigValue(path));
}

/// Makes the paths of the files in a cluster absolute, or says which name is none.
void find_files(Cluster& c, const fs::path& from, const fs::path& conf, ConfigIssues& issues) {
  const Checks at(issues);
  for (std::size_t i = 0; i < c.jobs.size(); ++i)
    find(c.jobs[i].model, conf / "models", ".toml", from, at.below("job", i), "model");
  find(c.background.sizes, conf / "distributions", ".cdf", from, at.below("background"), "sizes");
  find_path(c.background.list, from);
  find_path(c.background.capture, from);
}

/// Reads the files of background, to refuse them before anything runs.
void check_traffic(const Cluster& c, ConfigIssues& issues) {
  const auto tell = [&issues](const char* key, const std::string& file, const auto& read) {
    Checks(issues).below("background").faults_of_file(key, file, read.issues);
  };
  const ClusterBackground& b = c.background;
  if (!b.list.empty()) tell("list", b.list, tg::load_flow_list(b.list, listed_hosts(c)));
  if (!b.capture.empty())
    tell("capture", b.capture, tg::load_capture_frames(b.capture, tg::HostConfig{}.mtu_bytes));
}

}  // namespace

ConfigResult<Cluster> cluster_from(ConfigTable file, const fs::path& from, const fs::path& conf) {
  const bool one_job = list_job(file);
  find_topology(file, from);
  ConfigResult<Cluster> result{Cluster{}, {}};
  read_config(file, "", *result.config, result.issues);
  ConfigIssues rules = validate(*result.config);
  find_files(*result.config, from, conf, rules);
  if (result.issues.empty() && rules.empty()) check_traffic(*result.config, rules);
  merge_issues(result.issues, rules);
  for (auto& issue : result.issues)
    if (constexpr std::string_view kListed = "job[0]"; one_job && issue.key.starts_with(kListed))
      issue.key.replace(0, kListed.size(), "job");
  if (!result.issues.empty()) result.config.reset();
  return result;
}

ConfigResult<Cluster> load_cluster(const std::string& path, const fs::path& conf) {
  auto file = read_file_of(path, FileKind::kCluster);
  if (!file) return {{}, std::move(file.issues)};
  return cluster_from(std::move(*file.config), fs::path(path).parent_path(), conf);
}

std::vector<std::string> assumed(ConfigTable written, const Cluster& cluster) {
  const bool one_job = list_job(written);
  ConfigTable all = to_config_table(cluster);
  if (cluster.network.marks && !cluster.network.mark_at_bytes)
    (void)assign(all, "network.mark_at", ConfigValue(std::to_string(mark_at(cluster)) + " bytes"));
  std::vector<std::string> out;
  const bool in_fabric = cluster.in_fabric();
  add_assumed(all, &written, in_fabric, "", out);
  const ConfigValue* of_file = written.get("job");
  const auto* jobs = of_file == nullptr ? nullptr : of_file->as<ConfigValue::Array>();
  const auto& made = *all.get("job")->as<ConfigValue::Array>();
  for (std::size_t i = 0; jobs != nullptr && i < made.size() && i < jobs->size(); ++i)
    add_assumed(*made[i].as<ConfigTable>(), (*jobs)[i].as<ConfigTable>(), in_fabric,
                one_job ? "job." : "job[" + std::to_string(i) + "].", out);
  return out;
}

std::string new_cluster() {
  return R"(# A cluster for `outrider-lab advise`: one link, which a training job shares with other
# traffic. Racks, several jobs and collectives need a [fabric]: docs/advise.md.

[network]
rate = "25gbit"              # of the hosts, and of the link
rtt = "50us"                 # from a worker to a server and back, with empty queues
buffer = "600kB"             # of the port
# shared = true              # the buffer is the whole switch's, its ports take what they need
# mark_at = "90kB"           # ECN threshold of today [rtt x rate / sqrt(3)]
# marks = false              # the switch gives no ECN marks today
second_queue = true          # the port has a queue that the job may have for itself

[change]
switch = "outrider"          # "settings": thresholds and queues alone; "nothing": not the switch
hosts = true                 # workers may announce their bursts
policy = true                # the framework may send its gradients in another order

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
# list = "flows.csv"         # flows of your own, see docs/configuration.md; with hosts = ...
# capture = "link.pcap"      # packets of your own, see docs/own-traffic.md; they obey nothing
controller = "dctcp"
ecn = true                   # its senders obey marks

[goal]
background_lost = 0.1        # at most so many bytes of background for each byte of the bursts
short_flows = 1.1            # p99 of flows up to 100 kB, at most so many times today's
gain = 0.05                  # a remedy that saves less time is not worth it
)";
}

}  // namespace outrider::lab
