#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/config/addresses.h"
#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "common/config/process_checks.h"
#include "common/config/range_checker.h"
#include "common/config/telemetry_config.h"
#include "common/net/burst_option.h"
#include "trafficgen/config/config_limits.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/config/lcore_plan.h"
#include "trafficgen/config/mbuf_need.h"
#include "trafficgen/config/mlt_rules.h"
#include "trafficgen/config/roce_rules.h"
#include "trafficgen/config/stream_rules.h"
#include "trafficgen/hosts/nic_queue.h"

namespace outrider::tg {
namespace {

constexpr std::uint64_t kMaxJobs = 65535;      ///< a BurstIdentity counts jobs in 16 bits
constexpr std::uint32_t kMaxTsoBytes = 65536;  // largest IPv4 packet that a NIC accepts

/// The names that references in a file may use.
struct Scope {
  std::set<std::string> devices;
  std::map<std::string, const HostConfig*> hosts;
  std::set<std::uint32_t> addresses;  ///< addresses of the hosts
  std::map<std::string, const TransportConfig*> transports;
  /// (server host, TCP port) -> the user that listens there.
  std::map<std::pair<std::string, std::uint16_t>, std::string> listeners;
};

template <class Names>
void check_name(const Checks& at, const Names& taken, const std::string& name) {
  at.require(!name.empty(), "name", "\"\"", "must not be empty");
  at.require(!taken.contains(name), "name", Checks::quoted(name), "is used twice");
}

void check_devices(const Checks& root, const GeneratorConfig& c, Scope& scope) {
  UniqueValues<std::string> devices;
  for (std::size_t i = 0; i < c.devices.size(); ++i) {
    const auto at = root.below("device", i);
    const auto& d = c.devices[i];
    check_name(at, scope.devices, d.name);
    scope.devices.insert(d.name);
    check_device(at, d.device);
    check(at, d.arp);
    devices.add(at, "device", d.device, Checks::quoted(d.device), join_key("", "device", i));
  }
}

bool is_host_address(std::uint32_t a) noexcept {
  const auto first = a >> 24;
  return first != 0 && first != 127 && first < 224;
}

void check_hosts(const Checks& root, const GeneratorConfig& c, Scope& scope) {
  if (c.hosts.empty() && c.streams.empty())
    root.fault("host", "there must be at least one [[host]] or [[stream]]");
  UniqueValues<std::uint32_t> addresses;
  for (std::size_t i = 0; i < c.hosts.size(); ++i) {
    const auto at = root.below("host", i);
    const auto& h = c.hosts[i];
    check_name(at, scope.hosts, h.name);
    scope.hosts.try_emplace(h.name, &h);
    at.require(scope.devices.contains(h.device), "device", Checks::quoted(h.device),
               "no [[device]] has this name");
    at.require(h.tso_bytes == 0 || (h.tso_bytes >= h.mtu_bytes && h.tso_bytes <= kMaxTsoBytes),
               "tso_bytes", std::to_string(h.tso_bytes),
               "must be 0 or from mtu_bytes to " + std::to_string(kMaxTsoBytes) + " bytes");
    check(at.below("pause_storm"), h.pause_storm);
    const auto shown = Checks::quoted(h.address);
    if (const auto address = at.parses("address", h.address, parse_ipv4(h.address))) {
      at.require(is_host_address(*address), "address", shown,
                 "must be a unicast address of a host");
      scope.addresses.insert(*address);
      addresses.add(at, "address", *address, shown, "host[" + std::to_string(i) + "]");
    }
  }
}

void check_transports(const Checks& root, const GeneratorConfig& c, Scope& scope) {
  for (std::size_t i = 0; i < c.transports.size(); ++i) {
    const auto at = root.below("transport", i);
    check_name(at, scope.transports, c.transports[i].name);
    scope.transports.try_emplace(c.transports[i].name, &c.transports[i]);
    check(at, c.transports[i].tcp);
    check_protocol(at, c.transports[i]);
  }
}

const TransportConfig* transport_of(const Checks& at, const Scope& scope, const std::string& name) {
  const auto it = scope.transports.find(name);
  at.require(it != scope.transports.end(), "transport", Checks::quoted(name),
             "no [[transport]] has this name");
  return it == scope.transports.end() ? nullptr : it->second;
}

/// Returns the same for users that need every byte, in order.
const TransportConfig* reliable_transport_of(const Checks& at, const Scope& scope,
                                             const std::string& name) {
  const auto* transport = transport_of(at, scope, name);
  if (transport == nullptr) return nullptr;
  at.require(has_channels(transport->protocol), "transport", Checks::quoted(name),
             "must have protocol \"tcp\" or \"roce\": \"mlt\" carries the bursts of jobs alone");
  at.require(
      !transport->tcp.mltcp, "transport", Checks::quoted(name),
      "must not have mltcp, which is for bursts of jobs: give them a transport of their own, "
      "in an experiment ddl.transport.mltcp");
  return transport;
}

/// Checks that the host exists, and that a segment of the transport fits into its packets.
/// @param at place of the name itself
void check_host(const Checks& at, const std::string& name, const TransportConfig* transport,
                const Scope& scope) {
  const auto host = scope.hosts.find(name);
  if (!at.require(host != scope.hosts.end(), "", Checks::quoted(name),
                  "no [[host]] has this name") ||
      transport == nullptr || uses_queue_pairs(transport))  // roce_rules.h
    return;
  const std::uint64_t packet = transport->tcp.mss_bytes + kSegmentHeaderBytes;
  const std::uint64_t mtu = host->second->mtu_bytes;
  at.require(packet <= mtu, "", Checks::quoted(name),
             "mtu_bytes " + std::to_string(mtu) + " cannot hold transport \"" + transport->name +
                 "\": mss_bytes " + std::to_string(transport->tcp.mss_bytes) + " + " +
                 std::to_string(kSegmentHeaderBytes) + " of headers");
}

void check_host_list(const Checks& at, std::string_view key, const std::vector<std::string>& names,
                     const TransportConfig* transport, const Scope& scope) {
  for (std::size_t i = 0; i < names.size(); ++i)
    check_host(at.below(key, i), names[i], transport, scope);
}

/// Registers the servers of one port, which `key` says. Two users of a port could not be
/// distinguished.
void check_listeners(const Checks& at, const std::vector<std::string>& servers, std::uint16_t port,
                     const std::string& user, std::string_view key, Scope& scope) {
  std::set<std::string> reported;
  for (const auto& server : servers) {
    const auto [listener, is_first] = scope.listeners.try_emplace({server, port}, user);
    const auto& other = listener->second;
    if (is_first || other == user || !reported.insert(other).second) continue;
    at.fault(key, std::to_string(port),
             "is that of " + other + " on host \"" + server + "\" already");
  }
}

void check_job_references(const Checks& at, const JobConfig& job, const std::string& user,
                          const GeneratorConfig& c, Scope& scope) {
  for (std::size_t n = 0; n <= job.arrivals.size(); ++n)
    check_listeners(at, listeners_of(job), arrival(job, n).tcp_port, user, "tcp_port", scope);
  const auto* transport = transport_of(at, scope, job.transport);
  check_host_list(at, "workers", job.workers, transport, scope);
  check_host_list(at, "servers", job.servers, transport, scope);
  if (transport != nullptr && !uses_queue_pairs(transport))
    at.require(job.queue_pairs == 1, "queue_pairs", std::to_string(job.queue_pairs),
               "needs a transport with protocol \"roce\": the others have no queue pairs");
  if (transport != nullptr && transport->protocol == TransportProtocol::kMlt)
    return check_mlt_job(at, job, c);
  if (transport != nullptr && transport->protocol == TransportProtocol::kRoce)
    return check_roce_job(at, job, *transport, c);
  if (transport != nullptr && !has_servers(job.collective))
    at.require(transport->tcp.reuse != ConnectionReuse::kNew, "transport",
               Checks::quoted(job.transport),
               "must keep its connections with collective " +
                   Checks::quoted(name_of(job.collective)) + "; its connections is \"new\"");
  if (transport != nullptr && job.policy.granularity == Granularity::kTensor)
    at.require(transport->tcp.reuse != ConnectionReuse::kNew, "transport",
               Checks::quoted(job.transport),
               "must keep its connections with granularity \"tensor\": answers go on while the "
               "next iteration begins; its connections is \"new\"");
}

/// Checks that there are enough classes at every NIC: one for each job with a server there, and one
/// for all other connections.
void check_tensorlights(const Checks& root, const GeneratorConfig& c) {
  if (c.tensorlights.mode == TensorLightsMode::kOff) return;
  std::map<std::string, std::size_t> served;
  for (const auto& job : c.jobs)
    for (const auto& server : std::set<std::string>(job.servers.begin(), job.servers.end()))
      served[server] += 1 + job.arrivals.size();
  for (const auto& [server, jobs] : served)
    if (jobs >= NicQueue::kMaxClasses)
      root.fault("tensorlights.mode", "host \"" + server + "\" has servers of " +
                                          std::to_string(jobs) + " jobs; a NIC has classes for " +
                                          std::to_string(NicQueue::kMaxClasses - 1));
  if (served.empty())
    root.fault("tensorlights.mode",
               "needs a [[job]] with parameter servers: it is their answers that have bands");
}

void check_jobs(const Checks& root, const GeneratorConfig& c, Scope& scope) {
  std::uint64_t jobs = c.jobs.size();
  for (const auto& job : c.jobs) jobs += job.arrivals.size();
  root.in_range("job", jobs, 0, kMaxJobs, "jobs");
  std::set<std::string> names;
  for (std::size_t i = 0; i < c.jobs.size(); ++i) {
    const auto at = root.below("job", i);
    check_name(at, names, c.jobs[i].name);
    names.insert(c.jobs[i].name);
    check(at, c.jobs[i]);
    check_job_references(at, c.jobs[i], "job[" + std::to_string(i) + "]", c, scope);
  }
}

/// The ports of background, if its transport has ports.
struct ListeningPorts {
  const std::vector<std::string>& hosts;
  std::uint32_t first = 0;
  std::uint32_t count = 1;
};

/// Checks that the hosts of background exist and suit its transport, and that the ports have no
/// other user.
void check_channels(const Checks& at, HostLists hosts, const TransportConfig* transport,
                    const ListeningPorts& ports, const std::string& user, const GeneratorConfig& c,
                    Scope& scope) {
  for (const auto& [key, names] : hosts) check_host_list(at, key, *names, transport, scope);
  if (uses_queue_pairs(transport)) return check_roce_background(at, hosts, *transport, c);
  const std::uint32_t end = std::min(65536U, ports.first + ports.count);
  for (std::uint32_t port = ports.first; port < end; ++port)
    check_listeners(at, ports.hosts, static_cast<std::uint16_t>(port), user, "tcp_port", scope);
}

/// Checks that senders and receivers are paired.
template <class Flows>
void check_pairs(const Checks& at, const Flows& flows) {
  if (flows.from.empty()) at.fault("from", "must name at least one host");
  at.require(flows.from.size() == flows.to.size(), "to", std::to_string(flows.to.size()) + " hosts",
             "must be as many as from has, " + std::to_string(flows.from.size()));
  for (std::size_t i = 0; i < std::min(flows.from.size(), flows.to.size()); ++i)
    at.below("to", i).require(flows.from[i] != flows.to[i], "", Checks::quoted(flows.to[i]),
                              "must be another host than the sender");
}

void check_long_flows(const Checks& root, const GeneratorConfig& c, Scope& scope) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < c.long_flows.size(); ++i) {
    const auto at = root.below("long_flows", i);
    const auto& flows = c.long_flows[i];
    check_name(at, names, flows.name);
    names.insert(flows.name);
    const auto* transport = reliable_transport_of(at, scope, flows.transport);
    check_pairs(at, flows);
    check_channels(at, {{"from", &flows.from}, {"to", &flows.to}}, transport,
                   {flows.to, flows.tcp_port}, "long_flows[" + std::to_string(i) + "]", c, scope);
  }
}

void check_requests(const Checks& root, const GeneratorConfig& c, Scope& scope) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < c.requests.size(); ++i) {
    const auto at = root.below("requests", i);
    const auto& flows = c.requests[i];
    check_name(at, names, flows.name);
    names.insert(flows.name);
    check(at, flows);
    const auto* transport = reliable_transport_of(at, scope, flows.transport);
    check_pairs(at, flows);
    check_channels(at, {{"from", &flows.from}, {"to", &flows.to}}, transport,
                   {flows.to, flows.tcp_port, flows.server_ports},
                   "requests[" + std::to_string(i) + "]", c, scope);
  }
}

void check_transfers(const Checks& root, const GeneratorConfig& c, Scope& scope) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < c.transfers.size(); ++i) {
    const auto at = root.below("transfer", i);
    const auto& t = c.transfers[i];
    check_name(at, names, t.name);
    names.insert(t.name);
    const bool from_is_host = scope.hosts.contains(t.from);
    const bool to_is_host = scope.hosts.contains(t.to);
    check(at, t, from_is_host, to_is_host);
    const auto* transport = reliable_transport_of(at, scope, t.transport);
    if (uses_queue_pairs(transport)) {
      check_roce_transfer(at, t, from_is_host, to_is_host, *transport, c);
      continue;
    }
    if (t.queue_pair != QueuePairNumbers{})
      at.fault("queue_pair", "needs a transport with protocol \"roce\"");
    if (from_is_host) check_host(at.below("from"), t.from, transport, scope);
    if (to_is_host) check_host(at.below("to"), t.to, transport, scope);
    const bool sender_listens = t.opener == Opener::kReceiver;
    if (sender_listens ? from_is_host : to_is_host)
      check_listeners(at, {sender_listens ? t.from : t.to}, t.tcp_port,
                      "transfer[" + std::to_string(i) + "]", "tcp_port", scope);
  }
}

void check_flows(const Checks& at, const FlowsConfig& flows, const std::string& user,
                 const GeneratorConfig& c, Scope& scope) {
  check(at, flows);
  const auto* transport = reliable_transport_of(at, scope, flows.transport);
  check_channels(at, {{"from", &flows.from}, {"to", &flows.to}, {"hosts", &flows.hosts}}, transport,
                 {flows.list ? flows.hosts : flows.to, flows.tcp_port}, user, c, scope);
}

void check_all_flows(const Checks& root, const GeneratorConfig& c, Scope& scope) {
  std::set<std::string> names;
  std::uint64_t open = 0;
  for (std::size_t i = 0; i < c.flows.size(); ++i) {
    const auto at = root.below("flows", i);
    const std::uint32_t own = c.flows[i].max_open.value_or(0);
    open += own;
    if (own != 0 && open > kMaxOpenFlows && own <= kMaxOpenFlows)
      at.fault("max_open", std::to_string(own),
               "makes " + std::to_string(open) + " with the tables before it: at most " +
                   std::to_string(kMaxOpenFlows) + " may be open at once");
    check_name(at, names, c.flows[i].name);
    names.insert(c.flows[i].name);
    check_flows(at, c.flows[i], "flows[" + std::to_string(i) + "]", c, scope);
  }
}

void check_captures(const Checks& root, const GeneratorConfig& c, Scope& scope) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < c.captures.size(); ++i) {
    const auto at = root.below("capture", i);
    const CaptureConfig& capture = c.captures[i];
    check_name(at, names, capture.name);
    names.insert(capture.name);
    check_host(at.below("from"), capture.from, nullptr, scope);
    check_host(at.below("to"), capture.to, nullptr, scope);
    at.require(capture.from != capture.to, "to", Checks::quoted(capture.to),
               "must be another host than the sender");
    for (const JobConfig& job : c.jobs)
      at.require(job.announce.signal_form != SignalForm::kUdp ||
                     job.announce.signal_port != capture.udp_port,
                 "udp_port", std::to_string(capture.udp_port),
                 "is the signal_port of job \"" + job.name + "\"");
    check_listeners(at, {capture.from, capture.to}, capture.udp_port,
                    "capture[" + std::to_string(i) + "]", "udp_port", scope);
  }
}

void check_process(const Checks& root, const GeneratorConfig& c) {
  const bool ends = !c.jobs.empty() || !c.transfers.empty() || ends_with_lists(c);
  const bool measures = c.benchmark.kind != BenchmarkKind::kNone;  // trials end by themselves
  if (!c.duration && !ends && !measures && !all_bounded(c.streams))
    root.fault("duration", "is required without a [[job]], a [[transfer]] or a list of flows");
}

/// Checks the rules that involve several settings.
ConfigIssues joint_faults(const GeneratorConfig& config) {
  ConfigIssues issues;
  const Checks root(issues);
  Scope scope;
  check_process(root, config);
  check_devices(root, config, scope);
  check_hosts(root, config, scope);
  check_neighbours(root, config.neighbours, scope.devices, scope.addresses);
  check_transports(root, config, scope);
  check_jobs(root, config, scope);
  check_tensorlights(root, config);
  check_long_flows(root, config, scope);
  check_requests(root, config, scope);
  check_streams_of(root, config);
  check_transfers(root, config, scope);
  check_all_flows(root, config, scope);
  check_captures(root, config, scope);
  check_queue_pairs(root, config);
  check_chosen_queue_pairs(root, config);
  check_lcores(root, config);
  check_mbufs(root, config);
  check(root.below("telemetry"), config.telemetry);
  check_transport_memory(root.below("transport_memory"), config);
  return issues;
}

}  // namespace

ConfigIssues validate(const GeneratorConfig& config, std::uint64_t max_devices) {
  ConfigIssues issues;
  Checks(issues).in_range("device", config.devices.size(), 0, max_devices, "devices");
  check_ranges(Checks(issues), config);
  merge_issues(issues, joint_faults(config));
  return issues;
}

}  // namespace outrider::tg
