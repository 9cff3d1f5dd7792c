#include "tools/lab/advise/cluster.h"

#include <algorithm>
#include <set>

#include "common/config/checks.h"
#include "common/config/choices.h"
#include "common/config/config_file.h"
#include "switch/config/queue_config.h"
#include "tools/lab/experiment/usual_thresholds.h"
#include "tools/lab/fabric/fabric.h"

namespace outrider::lab {
namespace {

constexpr std::uint64_t kFrameBytes = sw::kFullFrameBytes;
constexpr std::uint32_t kMostHosts = 256;
constexpr std::uint32_t kMostJobs = 256;
constexpr std::uint32_t kFewestSenders = 3;  ///< of flows that come and go

constexpr auto kFreedoms = choices<SwitchFreedom>({{"nothing", SwitchFreedom::kNothing},
                                                   {"settings", SwitchFreedom::kSettings},
                                                   {"outrider", SwitchFreedom::kOutrider}});

void require_least_link(const Checks& at, std::string_view key, BitRate rate) {
  constexpr BitRate kLeast{1'000'000};
  at.require(rate.bits_per_second >= kLeast.bits_per_second, key, format_rate(rate),
             "must be at least " + format_rate(kLeast) +
                 ": queues are tried that guarantee background a share of a link");
}

/// Requires what one link needs, and that it is left out where a fabric has it.
void check_link(const Checks& at, const ClusterNetwork& n, bool in_fabric) {
  constexpr const char* kOfFabric = "must be left out with [fabric], which has it";
  constexpr const char* kRequired = "is required without [fabric]";
  if (in_fabric) {
    if (n.rate) at.fault("rate", format_rate(*n.rate), kOfFabric);
    if (n.rtt) at.fault("rtt", format_duration(*n.rtt), kOfFabric);
    return;
  }
  if (!n.rate) at.fault("rate", kRequired);
  else if (at.rate("rate", *n.rate)) require_least_link(at, "rate", *n.rate);
  if (n.rtt) at.positive("rtt", *n.rtt);
  else at.fault("rtt", kRequired);
}

void check(const Checks& at, const ClusterNetwork& n) {
  at.in_range("buffer", n.buffer_bytes, 2 * kFrameBytes, std::uint64_t{1} << 30, "bytes");
  if (n.alpha && at.require(n.shared, "alpha", display(ConfigValue(*n.alpha)),
                            "must be left out without shared = true"))
    at.in_interval("alpha", *n.alpha, 1e-3, 1e3, true);
  if (!n.mark_at_bytes) return;
  at.require(n.marks, "mark_at", std::to_string(*n.mark_at_bytes) + " bytes",
             "must be left out with marks = false");
  at.in_range("mark_at", *n.mark_at_bytes, kFrameBytes, n.buffer_bytes, "bytes");
}

void check_protocol(const Checks& at, const std::string& protocol) {
  at.require(protocol == "tcp", "protocol", Checks::quoted(protocol),
             "must be \"tcp\": advise knows neither RoCEv2 nor priority flow control (PFC); "
             "`outrider-lab run conf/experiments/roce.toml` compares remedies over them");
}

void check(const Checks& at, const ClusterJob& j) {
  check_protocol(at, j.protocol);
  at.in_range("count", j.count, 1, kMostJobs);
  at.in_range("workers", j.workers, 1, kMostHosts);
  at.in_range("servers", j.servers, 1, kMostHosts);
  at.require(tg::has_servers(j.collective) || j.servers == 1, "servers", std::to_string(j.servers),
             "must be left out with a collective that has none");
  if (j.model.empty() == !j.burst_bytes)
    at.fault("model", "give either the model, or burst and period");
  if (j.burst_bytes.has_value() != j.period.has_value())
    at.fault(j.burst_bytes ? "period" : "burst", "burst and period belong together");
  if (j.burst_bytes) at.in_range("burst", *j.burst_bytes, 1, std::uint64_t{1} << 36, "bytes");
  if (j.period) at.positive("period", *j.period);
}

/// Refuses the keys of a job that need a fabric.
void check_without_fabric(const Checks& at, const ClusterJob& j) {
  constexpr const char* kNeeds = "needs a [fabric], which says where its hosts are";
  if (j.count > 1) at.fault("count", std::to_string(j.count), kNeeds);
  if (j.placement) at.fault("placement", kNeeds);
  if (!tg::has_servers(j.collective))
    at.fault("collective", Checks::quoted(tg::name_of(j.collective)), kNeeds);
}

void check_jobs(const Checks& root, const Cluster& c) {
  if (c.jobs.empty()) root.fault("job", "there must be a [job], or several [[job]]");
  if (!c.in_fabric() && c.jobs.size() > 1)
    root.fault("job", "several jobs need a [fabric], which says where their hosts are");
  std::set<std::string> names;
  for (std::size_t i = 0; i < c.jobs.size(); ++i) {
    const ClusterJob& job = c.jobs[i];
    const Checks at = root.below("job", i);
    check(at, job);
    if (!c.in_fabric()) check_without_fabric(at, job);
    at.require(names.insert(job.name).second, "name", Checks::quoted(job.name),
               "is another job's too");
    if (job.period.has_value() != c.jobs.front().period.has_value())
      at.fault("model", "all jobs need a model, or all of them bursts: one time judges them");
  }
}

void check_background(const Checks& at, const Cluster& c) {
  const ClusterBackground& b = c.background;
  check_protocol(at, b.protocol);
  at.in_range("long_flows", b.long_flows, 0, kMostHosts);
  at.in_interval("load", b.load, 0, 1, true);
  if (b.load > 0 && b.sizes.empty())
    at.fault("sizes", "load needs the sizes of its flows, such as \"web-search\"");
  if (b.load == 0 && !b.sizes.empty()) at.fault("sizes", "must be left out without load");
  if (b.load == 0 && b.long_flows == 0 && b.list.empty() && b.capture.empty())
    at.fault("long_flows", "there is no background: nothing is to be kept from the job");
  at.require(b.capture.empty() || !c.in_fabric(), "capture", Checks::quoted(b.capture),
             "must be left out with [fabric]: a capture is that of one link");
  at.in_range("hosts", b.hosts, 0, 65536);
  if (b.long_flows > 0 && b.hosts != 0)
    at.fault("hosts", std::to_string(b.hosts),
             "must be left out with long_flows, each of which has two hosts");
  const std::uint32_t least = c.in_fabric() ? 2 : b.list.empty() ? 0 : 1;
  if (b.long_flows == 0 && b.hosts < least)
    at.fault("hosts", std::to_string(b.hosts),
             "must say how many hosts send, " + std::to_string(least) + " or more");
}

std::optional<Fabric> fabric_of(const Cluster& c, ConfigIssues& issues) {
  FabricConfig config;
  const std::size_t before = issues.found();
  read_config(c.fabric, "fabric", config, issues);
  if (issues.found() > before) return std::nullopt;
  return build_fabric(config, {}, issues);
}

BitRate slowest_host(const Fabric& fabric) {
  return std::ranges::min_element(fabric.slots, {},
                                  [](const FabricSlot& slot) { return slot.rate.bits_per_second; })
      ->rate;
}

void check_fabric(const Cluster& c, ConfigIssues& issues) {
  const auto fabric = fabric_of(c, issues);
  if (!fabric) return;
  std::uint64_t hosts = listed_hosts(c);
  for (const ClusterJob& job : c.jobs)
    hosts += std::uint64_t{job.count} *
             (job.workers + (tg::has_servers(job.collective) ? job.servers : 0));
  Checks(issues).require(
      hosts <= fabric->slots.size(), "fabric", std::to_string(fabric->slots.size()) + " hosts",
      "must have room for the " + std::to_string(hosts) + " of jobs and background");
  if (!fabric->slots.empty()) require_least_link(Checks(issues), "fabric", slowest_host(*fabric));
}

}  // namespace

void describe(Settings& v, ClusterNetwork& c) {
  v.rate("rate", c.rate);
  v.duration("rtt", c.rtt);
  v.bytes("buffer", c.buffer_bytes, Presence::kRequired);
  v.value("shared", c.shared);
  v.value("alpha", c.alpha);
  v.value("marks", c.marks);
  v.bytes("mark_at", c.mark_at_bytes);
  v.value("second_queue", c.second_queue);
}

void describe(Settings& v, ClusterChange& c) {
  v.choice("switch", c.switches, kFreedoms);
  v.value("hosts", c.hosts);
  v.value("policy", c.policy);
}

void describe(Settings& v, ClusterJob& c) {
  v.value("name", c.name);
  v.value("count", c.count);
  v.value("workers", c.workers, Presence::kRequired);
  v.value("servers", c.servers);
  v.choice("collective", c.collective, tg::kCollectives);
  v.choice("placement", c.placement, kHostPlacements);
  v.value("model", c.model);
  v.bytes("burst", c.burst_bytes);
  v.duration("period", c.period);
  v.choice("policy", c.policy, tg::kSendPolicies);
  v.value("protocol", c.protocol);
  v.choice("controller", c.controller, tg::kControllers);
}

void describe(Settings& v, ClusterBackground& c) {
  v.value("long_flows", c.long_flows);
  v.share("load", c.load);
  v.value("sizes", c.sizes);
  v.value("list", c.list);
  v.value("capture", c.capture);
  v.value("hosts", c.hosts);
  v.choice("placement", c.placement, kHostPlacements);
  v.value("protocol", c.protocol);
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
  v.free_table("fabric", c.fabric);
  v.table("change", c.change);
  v.tables("job", c.jobs);
  v.table("background", c.background, Presence::kRequired);
  v.table("goal", c.goal);
}

ConfigIssues validate(const Cluster& c) {
  ConfigIssues issues;
  const Checks at(issues);
  check_link(at.below("network"), c.network, c.in_fabric());
  check(at.below("network"), c.network);
  check_jobs(at, c);
  check_background(at.below("background"), c);
  if (c.in_fabric()) check_fabric(c, issues);
  at.below("goal").in_interval("background_lost", c.goal.background_lost, 0, 100, true);
  at.below("goal").in_interval("short_flows", c.goal.short_flows, 0, 100, false);
  at.below("goal").in_interval("gain", c.goal.gain, 0, 1, true);
  return issues;
}

std::uint32_t background_senders(const Cluster& c) {
  if (c.background.long_flows > 0) return c.background.long_flows;
  return c.background.hosts > 0 ? c.background.hosts : kFewestSenders;
}

std::uint32_t listed_hosts(const Cluster& c) {
  return background_senders(c) * (c.background_among_themselves() ? 1 : 2);
}

ClusterPath path_of(const Cluster& c) {
  if (!c.in_fabric()) return {*c.network.rate, *c.network.rtt};
  ConfigIssues issues;
  const auto fabric = fabric_of(c, issues);
  return {slowest_host(*fabric), longest_rtt(*fabric)};
}

std::uint64_t mark_at(const Cluster& c) {
  if (c.network.mark_at_bytes) return *c.network.mark_at_bytes;
  const ClusterPath path = path_of(c);
  return usual_mark_bytes(path.rate, path.rtt, c.network.buffer_bytes);
}

}  // namespace outrider::lab
