#include "tools/lab/import/import_experiment.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <set>

#include "common/config/toml_text.h"
#include "tools/lab/fabric/topology_file.h"
#include "tools/lab/import/connection_matrix.h"
#include "tools/lab/import/import_jobs.h"
#include "tools/lab/import/lossless_settings.h"
#include "tools/lab/import/nic_choice.h"
#include "tools/lab/import/tier_topology.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostHosts = 10'000;  ///< of a group in an experiment

/// Tells the faults of a file by its path.
void tell(const ForeignFile& file, const ConfigIssues& of_file, ConfigIssues& issues) {
  for (const ConfigIssue& issue : of_file)
    issues.push_back(
        {file.path.string() + (issue.key.empty() ? "" : ": " + issue.key), issue.problem});
  issues.count_unkept(of_file);
}

std::string toml_of(const std::string& text) { return to_toml_text(ConfigValue(text)); }

/// Returns how an experiment in `into` names a file that is there.
std::string path_from(const fs::path& into, const fs::path& file) {
  std::error_code error;
  const fs::path relative = fs::relative(file, into.empty() ? "." : into, error);
  return error || relative.empty() ? fs::absolute(file).string() : relative.string();
}

/// A network that was read, and how the experiment names its file.
struct ImportedNetwork {
  Fabric fabric;
  std::string file;
};

/// Says what stands for hosts with several NICs, and lists them in a file.
void tell_nics(const Fabric& fabric, const std::string& name, ImportedExperiment& made) {
  if (std::ranges::all_of(fabric.slots, [](const FabricSlot& slot) { return slot.nic == 0; }))
    return;
  std::string list = "lab_host,host,nic,switch\n";
  for (std::size_t i = 0; i < fabric.slots.size(); ++i)
    list += "host_" + std::to_string(i) + ',' + std::to_string(fabric.slots[i].node) + ',' +
            std::to_string(fabric.slots[i].nic) + ',' +
            fabric.switches[fabric.slots[i].at_switch].name + '\n';
  made.files.emplace_back(name + ".hosts.csv", list);
  made.understood.push_back("hosts with several NICs: each NIC is a host of the experiment, and " +
                            made.files.back().first +
                            " says which. Flows of two hosts take the nearest pairs of NICs in "
                            "turn, one pair each");
}

std::optional<ImportedNetwork> read_network(const ForeignFile& file, const std::string& name,
                                            const fs::path& into, ImportedExperiment& made,
                                            ConfigIssues& issues) {
  ConfigIssues found;
  std::optional<Fabric> fabric;
  ImportedNetwork network{.fabric = {}, .file = path_from(into, file.path)};
  switch (foreign_kind_of(file.text, file.path)) {
    case ForeignKind::kNodeLink:
      fabric = parse_node_link(file.text, found);
      break;
    case ForeignKind::kTiers: {
      const auto tiers = parse_tier_topology(file.text);
      found.add(tiers.issues);
      if (!tiers) break;
      network.file = name + ".topology.txt";
      made.files.emplace_back(network.file, hpcc_text_of(*tiers.config));
      made.left_out.emplace_back(
          "sizes of queues, and Oversubscribed, which follows from the radices");
      fabric = parse_hpcc_topology(made.files.back().second, found);
      break;
    }
    default:
      fabric = parse_hpcc_topology(file.text, found);
  }
  tell(file, found, issues);
  if (!fabric) return std::nullopt;
  network.fabric = std::move(*fabric);
  const std::size_t hosts = network.fabric.slots.size();
  if (hosts < 2 || hosts > kMostHosts)
    issues.push_back({file.path.string(), std::to_string(hosts) + " hosts: must be from 2 to " +
                                              std::to_string(kMostHosts)});
  tell_nics(network.fabric, name, made);
  std::size_t lossy = 0;
  for (const TrunkEntry& trunk : network.fabric.trunks) lossy += trunk.loss > 0 ? 1 : 0;
  for (const FabricSlot& slot : network.fabric.slots) lossy += slot.loss > 0 ? 1 : 0;
  made.understood.push_back(std::to_string(hosts) + " hosts, " +
                            std::to_string(network.fabric.switches.size()) + " switches, " +
                            std::to_string(network.fabric.trunks.size()) +
                            " links between them; rates and delays" +
                            (lossy == 0 ? "" : "; " + std::to_string(lossy) + " links that lose"));
  return network;
}

/// Flows with the hosts' positions in the experiment.
struct ImportedFlows {
  std::vector<tg::ListedFlow> flows;
  bool as_written = false;  ///< the file itself serves, as its numbers are these positions
};

/// Replaces the nodes of flows by positions, with a fault for each flow that has none.
void place_flows(const ForeignFile& file, const Fabric& fabric, std::vector<tg::ListedFlow>& flows,
                 ConfigIssues& issues) {
  NicChoice nics(fabric);
  for (std::size_t i = 0; i < flows.size() && !issues.has_more(); ++i) {
    const std::string place = file.path.string() + ": flow " + std::to_string(i + 1);
    const std::size_t before = issues.found();
    for (const std::uint32_t end : {flows[i].from, flows[i].to})
      if (!nics.is_host(end))
        issues.push_back({place, "node " + std::to_string(end) + " is a switch of the topology"});
    if (issues.found() != before) continue;
    const auto slots = nics.next(flows[i].from, flows[i].to);
    if (!slots) {
      issues.push_back({place, "no path leads from host " + std::to_string(flows[i].from) +
                                   " to host " + std::to_string(flows[i].to)});
      continue;
    }
    flows[i].from = static_cast<std::uint32_t>(slots->first);
    flows[i].to = static_cast<std::uint32_t>(slots->second);
  }
}

/// Reads a list whose numbers are nodes of the topology.
std::optional<ImportedFlows> read_flow_list(const ForeignFile& file, const ImportedNetwork& network,
                                            ConfigIssues& issues) {
  const auto& slots = network.fabric.slots;
  auto list =
      tg::parse_flow_list(file.text, std::ranges::max(slots, {}, &FabricSlot::node).node + 1);
  tell(file, list.issues, issues);
  if (!list) return std::nullopt;
  ImportedFlows read{.flows = std::move(*list.config), .as_written = true};
  for (std::size_t i = 0; i < slots.size(); ++i) read.as_written &= slots[i].node == i;
  place_flows(file, network.fabric, read.flows, issues);
  return read;
}

std::optional<ImportedFlows> read_matrix(const ForeignFile& file, const ImportedNetwork& network,
                                         ImportedExperiment& made, ConfigIssues& issues) {
  auto matrix = parse_connection_matrix(file.text);
  tell(file, matrix.issues, issues);
  if (!matrix) return std::nullopt;
  std::set<std::uint32_t> nodes;
  for (const FabricSlot& slot : network.fabric.slots)
    nodes.insert(static_cast<std::uint32_t>(slot.node));
  const std::vector<std::uint32_t> by_number(nodes.begin(), nodes.end());
  const std::size_t hosts = by_number.size();
  if (matrix.config->nodes > hosts) {
    issues.push_back({file.path.string(), "Nodes " + std::to_string(matrix.config->nodes) +
                                              ": the topology has " + std::to_string(hosts) +
                                              " hosts"});
    return std::nullopt;
  }
  ImportedFlows read{.flows = std::move(matrix.config->flows)};
  for (tg::ListedFlow& flow : read.flows)
    for (std::uint32_t* end : {&flow.from, &flow.to}) *end = by_number[*end];
  place_flows(file, network.fabric, read.flows, issues);
  if (matrix.config->waiting > 0)
    made.left_out.push_back(std::to_string(matrix.config->waiting) +
                            " flows that wait for a trigger: they have no start of their own");
  if (matrix.config->failures > 0)
    made.left_out.push_back(std::to_string(matrix.config->failures) + " failures of links");
  made.left_out.emplace_back("ids, messages, priorities and triggers of flows");
  return read;
}

std::string csv_of(const std::vector<tg::ListedFlow>& flows) {
  std::string text = "start_seconds,from,to,bytes\n";
  std::array<char, 96> line{};
  for (const tg::ListedFlow& flow : flows) {
    std::snprintf(line.data(), line.size(), "%.9f,%u,%u,%llu\n", seconds(flow.at), flow.from,
                  flow.to, static_cast<unsigned long long>(flow.bytes));
    text += line.data();
  }
  return text;
}

std::string flows_text(const std::vector<tg::ListedFlow>& flows) {
  double bytes = 0;
  std::set<std::uint32_t> hosts;
  for (const tg::ListedFlow& flow : flows) {
    bytes += static_cast<double>(flow.bytes);
    hosts.insert({flow.from, flow.to});
  }
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "%zu flows between %zu hosts, %.4g bytes, over %.4g s",
                flows.size(), hosts.size(), bytes, seconds(flows.back().at));
  return text.data();
}

/// Returns how every experiment begins.
std::string title_of(const ForeignFile& file, const std::string& name,
                     const std::string& question) {
  return "# Made by `outrider-lab import` of " + file.path.filename().string() +
         ".\nname = " + toml_of(name) + "\nquestion = " + toml_of(question) + "\n";
}

/// Returns the network of a file.
std::string fabric_of(const ImportedNetwork& network) {
  return "\n[fabric]\nkind = \"file\"\nfile = " + toml_of(network.file) + "\n";
}

/// Returns the part of the experiment that every import without jobs has.
std::string head_of(const ForeignFile& file, const std::string& name,
                    const ImportedNetwork& network, const std::string& question) {
  return title_of(file, name, question) + fabric_of(network) +
         "\n[[hosts]]                # host n is the topology's n-th, switch by switch\n"
         "name = \"host\"\ncount = " +
         std::to_string(network.fabric.slots.size()) + "\nplacement = \"pack\"\n";
}

constexpr const char* kOneArm =
    "\n[[arm]]                  # add arms with other settings, to compare them with this one\n"
    "label = \"as-imported\"\n";

/// Says what carries the flows of a file, and why.
std::string_view transport_of(ForeignKind kind) {
  if (kind == ForeignKind::kFlowList)
    return "RDMA, as in HPCC's simulator: flows go over RoCEv2 with DCQCN, and switches mark and "
           "pause by the rates of its NICs";
  if (kind == ForeignKind::kConnectionMatrix)
    return "no transport, which htsim takes from the program that reads the file: flows go over "
           "TCP";
  return "no transport, which the columns do not name: flows go over TCP";
}

void write_flows(const ForeignFile& file, const ImportedNetwork& network, const ImportedFlows& read,
                 const std::string& name, const fs::path& into, ImportedExperiment& made) {
  std::string list = path_from(into, file.path);
  if (!read.as_written) {
    list = name + ".flows.csv";
    made.files.emplace_back(list, csv_of(read.flows));
  }
  made.what += ": " + flows_text(read.flows);
  made.understood.emplace_back("sources, destinations, sizes, and starts from that of the first");
  const ForeignKind kind = foreign_kind_of(file.text, file.path);
  made.understood.emplace_back(transport_of(kind));
  const bool rdma = kind == ForeignKind::kFlowList;
  made.text = head_of(file, name, network, "How long do these flows take?") +
              "\n[[background]]\nname = \"flows\"\nfrom = \"host\"\nto = \"host\"\nlist = " +
              toml_of(list) + '\n' +
              (rdma ? "protocol = \"roce\"        # with DCQCN unless roce.controller says else\n"
                      "transport.priority = 3   # of the pauses that stop it\n"
                    : "") +
              "\n[parameters]\nlimit_seconds = 60       # ends a run whose flows do not end\n" +
              (rdma ? lossless_settings_of(network.fabric) : "") + kOneArm;
}

void write_load(const ForeignFile& file, const ImportedNetwork& network, const std::string& name,
                ImportedExperiment& made) {
  made.left_out.emplace_back(
      "traffic: a topology has none. The experiment assumes flows of web search at a load of 0.3");
  made.text =
      head_of(file, name, network, "How long do flows take on this network?") +
      "\n[[background]]           # assumed: put your own traffic here\nname = \"flows\"\n"
      "from = \"host\"\nto = \"host\"\nload = 0.3               # of the hosts' NICs\n"
      "sizes = \"web-search\"\n\n[parameters]\nlimit_seconds = 0.01     # a run ends then\n" +
      kOneArm;
}

/// Returns a trace's name without the number of its rank, "all_gather" of "all_gather.3.et".
fs::path name_of_ranks(const fs::path& path) { return fs::path(path).replace_extension().stem(); }

/// Groups the files by jobs: of Chakra's traces all ranks are one.
std::vector<ForeignJob> jobs_of(const std::vector<ForeignFile>& files) {
  std::vector<ForeignJob> jobs;
  for (const ForeignFile& file : files) {
    const bool chakra = foreign_kind_of(file.text, file.path) == ForeignKind::kChakraTrace;
    if (chakra && !jobs.empty() && jobs.back().files.front().path.extension() == ".et" &&
        jobs.back().files.front().path.parent_path() == file.path.parent_path() &&
        name_of_ranks(jobs.back().files.front().path) == name_of_ranks(file.path))
      jobs.back().files.push_back(file);
    else jobs.push_back({{file}});
  }
  return jobs;
}

/// Makes the experiment of traces. @param network nullptr: it is assumed
void write_jobs(const std::vector<ForeignFile>& files, const ImportedNetwork* network,
                const std::string& name, ImportedExperiment& made, ConfigIssues& issues) {
  std::vector<JobTrace> traces;
  std::size_t hosts = 0;
  const std::vector<ForeignJob> jobs = jobs_of(files);
  for (const ForeignJob& job : jobs) {
    auto read = read_job(job);
    issues.add(read.issues);
    if (!read) continue;
    hosts += read.config->list.ranks;
    traces.push_back(std::move(*read.config));
  }
  if (!issues.empty()) return;
  if (network != nullptr && network->fabric.slots.size() < hosts)
    return issues.push_back({files.front().path.string(),
                             "needs " + std::to_string(hosts) + " hosts: the topology has " +
                                 std::to_string(network->fabric.slots.size())});
  if (jobs.size() > 1) made.what += ", one of " + std::to_string(jobs.size()) + " jobs";
  if (network == nullptr)
    made.left_out.emplace_back(
        "a network: the experiment assumes racks of eight hosts at 100 Gbit/s");
  made.text =
      title_of(files.front(), name, "How long does an iteration of this job take?") +
      "seeds = 1                    # nothing is drawn\n" +
      (network == nullptr ? assumed_network(hosts) : fabric_of(*network)) +
      "\n[network]\nmeasured = " +
      (network == nullptr
           ? toml_of("leaf_0.to_trace" + std::string(jobs.size() > 1 ? "0" : "") + "_worker_0")
           : "\"worst\"") +
      "\n" + jobs_text(traces, name, made) + kOneArm;
}

/// Says why a kind makes no experiment; empty if it does.
std::string refusal_of(ForeignKind kind, bool with_topology) {
  if (kind == ForeignKind::kUnknown)
    return "is of no form that is known here: lists of flows, connection matrices and topologies "
           "of HPCC, ns-3 and htsim are, and workloads of SimAI, AICB and Chakra";
  if (is_topology(kind) && with_topology)
    return "is a topology itself: name the file of flows first, and this one behind --topology";
  if (is_topology(kind)) return {};
  if (kind == ForeignKind::kGpuTopology)
    return "is a topology of SimAI, which cannot be imported: its NVSwitches join the GPUs of one "
           "server alone, and here a path must lead from each switch with hosts to each other one";
  if (has_flows(kind) && !with_topology)
    return "says nothing of the network: name its file behind --topology";
  return {};
}

void check_topology(const ForeignFile& topology, ConfigIssues& issues) {
  const ForeignKind kind = foreign_kind_of(topology.text, topology.path);
  if (kind == ForeignKind::kGpuTopology)
    issues.push_back({topology.path.string(), refusal_of(kind, false)});
  else if (!is_topology(kind))
    issues.push_back({topology.path.string(), "is no topology, and stands behind --topology"});
}

}  // namespace

ConfigResult<ImportedExperiment> import_experiment(const std::vector<ForeignFile>& files,
                                                   const ForeignFile* topology,
                                                   const std::string& name, const fs::path& into) {
  ConfigResult<ImportedExperiment> result{ImportedExperiment{}, {}};
  ImportedExperiment& made = *result.config;
  const ForeignFile& file = files.front();
  const ForeignKind kind = foreign_kind_of(file.text, file.path);
  made.what = std::string(name_of(kind));
  if (const auto problem = refusal_of(kind, topology != nullptr); !problem.empty())
    result.issues.push_back({file.path.string(), problem});
  for (std::size_t i = 1; i < files.size(); ++i)
    if (!has_job(foreign_kind_of(files[i].text, files[i].path)) || !has_job(kind))
      result.issues.push_back(
          {files[i].path.string(), "stands beside " + file.path.string() +
                                       ": several files must be traces of jobs, all of them"});
  if (topology != nullptr) check_topology(*topology, result.issues);
  std::optional<ImportedNetwork> network;
  if (result.issues.empty() && (!has_job(kind) || topology != nullptr))
    network = read_network(topology == nullptr ? file : *topology, name, into, made, result.issues);
  if (has_job(kind)) {
    if (result.issues.empty())
      write_jobs(files, network ? &*network : nullptr, name, made, result.issues);
  } else if (network && result.issues.empty() && has_flows(kind)) {
    const auto read = kind == ForeignKind::kConnectionMatrix
                          ? read_matrix(file, *network, made, result.issues)
                          : read_flow_list(file, *network, result.issues);
    if (kind == ForeignKind::kFlowList) made.left_out.emplace_back("priority groups and ports");
    if (kind == ForeignKind::kFlowTable) made.left_out.emplace_back("further columns");
    if (read && result.issues.empty()) write_flows(file, *network, *read, name, into, made);
  } else if (network && result.issues.empty()) {
    write_load(file, *network, name, made);
  }
  if (!result.issues.empty()) result.config.reset();
  return result;
}

}  // namespace outrider::lab
