#include "tools/lab/import/import_jobs.h"

#include <algorithm>

#include "common/config/toml_text.h"
#include "tools/lab/import/aicb_workload.h"
#include "tools/lab/import/chakra_trace.h"
#include "tools/lab/import/simai_workload.h"

namespace outrider::lab {

ConfigResult<JobTrace> read_job(const ForeignJob& job) {
  const ForeignFile& first = job.files.front();
  ConfigResult<JobTrace> read;
  switch (foreign_kind_of(first.text, first.path)) {
    case ForeignKind::kSimaiWorkload:
      read = parse_simai_workload(first.text);
      break;
    case ForeignKind::kAicbWorkload:
      read = parse_aicb_workload(first.text);
      break;
    default: {
      std::vector<std::string_view> ranks;
      for (const ForeignFile& file : job.files) ranks.push_back(file.text);
      read = parse_chakra_trace(ranks);
    }
  }
  if (read) read.issues = tg::validate(read.config->list);
  if (!read.issues.empty()) read.config.reset();
  ConfigIssues by_path;
  for (const ConfigIssue& issue : read.issues)
    by_path.push_back(
        {first.path.string() + (issue.key.empty() ? "" : ": " + issue.key), issue.problem});
  by_path.count_unkept(read.issues);
  read.issues = std::move(by_path);
  return read;
}

std::string jobs_text(const std::vector<JobTrace>& jobs, const std::string& name,
                      ImportedExperiment& made) {
  std::string text;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const std::string number = jobs.size() == 1 ? "" : std::to_string(j);
    const std::string of_job = jobs.size() == 1 ? "" : "job " + std::to_string(j) + ": ";
    const std::string file = name + (number.empty() ? "" : "-" + number) + ".steps.csv";
    made.files.emplace_back(file, tg::step_list_text(jobs[j].list));
    for (const std::string& line : jobs[j].understood) made.understood.push_back(of_job + line);
    for (const std::string& line : described(jobs[j].list))
      made.understood.push_back(of_job + line);
    for (const std::string& line : jobs[j].left_out) made.left_out.push_back(of_job + line);
    text += "\n[[job]]\nname = \"trace" + number +
            "\"\nworkers = " + std::to_string(jobs[j].list.ranks) +
            "\nmtu_bytes = 4204         # RoCEv2 packets with 4096 bytes of payload\n"
            "collective = \"steps\"\nsteps = " +
            to_toml_text(ConfigValue(file)) + "\nplacement = \"pack\"\n";
  }
  return text + R"(
[parameters]
job.schedule = "closed_loop"
job.compute = "0s"           # before the first step; the list has the rest
job.compute_jitter = 0.0
job.iterations = 1
skip_iterations = 0
warm_up_seconds = 0
background.flows_per_pair = 0
job.announce.lead_source = "none"
ddl.transport.protocol = "roce"
ddl.transport.priority = 3
switch.queue.limit_packets = 4000
switch.queue.lossless.xoff_bytes = "200kB"
switch.queue.lossless.headroom_bytes = "100kB"
switch.marker.kind = "red"
switch.marker.red = { kmin_packets = 100.0, kmax_packets = 400.0, pmax = 0.1 }
switch.marker.not_ect = "pass"
)";
}

std::string assumed_network(std::size_t hosts) {
  constexpr std::size_t kInRack = 8, kFewestRacks = 2;
  const std::size_t racks = std::max((hosts + kInRack - 1) / kInRack, kFewestRacks);
  return "\n[fabric]                     # assumed: put your own network here\nkind = "
         "\"leaf_spine\"\nleaves = " +
         std::to_string(racks) + "\nspines = 4\nhosts_per_leaf = " + std::to_string(kInRack) +
         "\nhost_rate = \"100gbit\"\nhost_delay = \"500ns\"\nuplink_delay = \"500ns\"\n"
         "oversubscription = 1\n";
}

}  // namespace outrider::lab
