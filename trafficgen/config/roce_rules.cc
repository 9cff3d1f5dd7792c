#include "trafficgen/config/roce_rules.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "common/net/roce.h"
#include "trafficgen/channel/queue_pair_limits.h"
#include "trafficgen/hosts/ephemeral_ports.h"
#include "trafficgen/roce/path_mtu.h"

namespace outrider::tg {
namespace {

/// Keys that a transport has whatever its protocol; or which do not matter without TCP, but which
/// the lab derives for every transport.
bool is_of_all(std::string_view key) {
  return key == "priority" || key == "mltcp" || key == "mss_bytes";
}

/// Returns the text of the lengths of IP packets that are meant for a path MTU.
std::string exact_lengths(std::uint32_t beside) {
  std::string text;
  for (std::uint32_t payload = kLeastPathMtu; payload <= kMostPathMtu; payload *= 2)
    text += (text.empty() ? "" : ", ") + std::to_string(payload + kPathMtuHeaders + beside);
  return text + " or more";
}

/// The hosts of a transport with protocol "roce".
struct RoceHosts {
  const TransportConfig& transport;
  const GeneratorConfig& config;
};

/// @param at  place of the name itself, which may be that of no host
void check_roce_host(const Checks& at, const std::string& name, const RoceHosts& hosts) {
  const auto host = std::ranges::find(hosts.config.hosts, name, &HostConfig::name);
  if (host == hosts.config.hosts.end()) return;
  const std::uint32_t beside = telemetry_bytes_of(hosts.transport.roce);
  const std::string mtu = "mtu_bytes " + std::to_string(host->mtu_bytes);
  const std::uint32_t payload = path_mtu_of(host->mtu_bytes - std::min(host->mtu_bytes, beside));
  if (payload == 0)
    return at.fault("", Checks::quoted(name),
                    mtu + " cannot hold the " +
                        std::to_string(kLeastPathMtu + kPathMtuHeaders + beside) +
                        " bytes of the least packet of protocol \"roce\"" +
                        (beside != 0 ? " with telemetry" : ""));
  at.require(is_exact_for_path_mtu(host->mtu_bytes, beside), "", Checks::quoted(name),
             mtu + " would carry only " + std::to_string(payload) +
                 " bytes over protocol \"roce\", whose payload is 256, 512, 1024, 2048 or 4096: "
                 "set it to that and " +
                 std::to_string(kPathMtuHeaders + beside) + " of headers" +
                 (beside != 0 ? " and telemetry (" : " (") + exact_lengths(beside) +
                 "), or 1500, which carries 1024");
}

void check_roce_hosts(const Checks& at, std::string_view key, const std::vector<std::string>& names,
                      const RoceHosts& hosts) {
  for (std::size_t i = 0; i < names.size(); ++i) check_roce_host(at.below(key, i), names[i], hosts);
}

/// Returns the transport of this name; nullptr if there is none, which has its own fault.
const TransportConfig* transport_of_name(const GeneratorConfig& c, const std::string& name) {
  const auto it = std::ranges::find(c.transports, name, &TransportConfig::name);
  return it == c.transports.end() ? nullptr : &*it;
}

constexpr std::uint64_t kMostOfJob = 65'536;  ///< connections of one job: it is memory

/// Counts the queue pairs of background, table by table.
class QueuePairCount {
 public:
  explicit QueuePairCount(const Checks& root) : root_(root) {}

  void add(const std::string& from, const std::string& to, std::uint64_t pairs) {
    all_ += pairs;
    for (const auto* host : {&from, &to}) most_ = std::max(most_, at_[*host] += pairs);
  }
  /// Reports a table whose queue pairs are those that are too many.
  void judge(std::string_view table, std::size_t index, std::string_view key) {
    if (told_ || (all_ <= kMostQueuePairs && most_ <= kMostQueuePairsAtHost)) return;
    told_ = true;
    root_.below(table, index)
        .fault(key, "makes " + std::to_string(all_) +
                        " queue pairs of background with the tables "
                        "before it, " +
                        std::to_string(most_) + " at one host: at most " +
                        std::to_string(kMostQueuePairs) + " may be made, " +
                        std::to_string(kMostQueuePairsAtHost) + " at one host");
  }

 private:
  const Checks& root_;
  std::map<std::string, std::uint64_t> at_;
  std::uint64_t all_ = 0;
  std::uint64_t most_ = 0;
  bool told_ = false;
};

}  // namespace

void check_roce_transport(const Checks& at, const TransportConfig& transport,
                          const ConfigTable& given, const ConfigTable& defaults) {
  for (const auto& member : given.members) {
    const ConfigValue* usual = defaults.get(member.key);
    if (is_of_all(member.key) || (usual != nullptr && *usual == member.value)) continue;
    at.fault(member.key,
             "is a setting of TCP: protocol \"roce\" has priority, mltcp and those of "
             "[transport.roce] alone");
  }
  at.require(!transport.tcp.mltcp || transport.roce.controller == RoceController::kDcqcn, "mltcp",
             "true", "over protocol \"roce\" it needs controller \"dcqcn\" of [transport.roce]");
  check(at.below("roce"), transport.roce);
}

void check_roce_job(const Checks& at, const JobConfig& job, const TransportConfig& transport,
                    const GeneratorConfig& config) {
  const auto refuse = [&at](bool broken, std::string_view key, std::string_view problem) {
    if (broken) at.fault(key, problem);
  };
  const bool announced = job.announce.lead_source != LeadSource::kNone;
  refuse(announced && job.announce.signal_form == SignalForm::kTos, "announce.signal_form",
         "must be \"udp\" over protocol \"roce\" (or lead_source \"none\"): a START in the TOS "
         "byte is a TCP segment of the announced flow");
  refuse(announced && (job.announce.signal_port == roce::kPort ||
                       job.announce.signal_port >= kFirstEphemeralPort),
         "announce.signal_port",
         "must be below 32768 and not 4791 over protocol \"roce\", whose datagrams use the others");
  refuse(config.payload != Payload::kZeros, "transport",
         "over protocol \"roce\" no values are written or checked: payload must be \"zeros\"");
  const std::uint64_t pairs = connections_of(job) * job.queue_pairs;
  refuse(pairs > kMostOfJob, "queue_pairs",
         std::to_string(job.queue_pairs) + ": makes " + std::to_string(pairs) +
             " queue pairs of workers and targets, as often as the job comes: at most " +
             std::to_string(kMostOfJob) + " may be made");
  check_roce_hosts(at, "workers", job.workers, {transport, config});
  check_roce_hosts(at, "servers", job.servers, {transport, config});
}

void check_roce_background(const Checks& at, HostLists lists, const TransportConfig& transport,
                           const GeneratorConfig& config) {
  if (config.payload != Payload::kZeros)
    at.fault("transport",
             "over protocol \"roce\" no values are written or checked: payload must be \"zeros\"");
  for (const auto& [key, names] : lists) check_roce_hosts(at, key, *names, {transport, config});
}

void check_roce_transfer(const Checks& at, const TransferConfig& transfer, bool from_is_host,
                         bool to_is_host, const TransportConfig& transport,
                         const GeneratorConfig& config) {
  const bool both_here = from_is_host && to_is_host;
  const Checks in = at.below("queue_pair");
  const QueuePairNumbers& pair = transfer.queue_pair;
  check_roce_background(at, {}, transport, config);
  check_roce_host(at.below("from"), transfer.from, {transport, config});
  check_roce_host(at.below("to"), transfer.to, {transport, config});
  at.require(transfer.opener == Opener::kSender, "opener", "\"receiver\"",
             "over protocol \"roce\" nobody connects: leave it out");
  at.require(transfer.bytes <= roce::kMaxMessageBytes, "bytes", std::to_string(transfer.bytes),
             "over protocol \"roce\" a transfer is one message, of " +
                 std::to_string(roce::kMaxMessageBytes) + " bytes at most");
  if (both_here) {
    if (pair != QueuePairNumbers{})
      at.fault("queue_pair", "is only for a transfer whose one end is outside the process");
    return;
  }
  at.require(telemetry_bytes_of(transport.roce) == 0, "transport",
             Checks::quoted(transfer.transport),
             "has controller \"hpcc\", for which both ends must be of this process: a host outside "
             "does not know packets with telemetry");
  // 0 and 1 are those of connection management.
  in.require(pair.own >= 2, "own", std::to_string(pair.own),
             "must be at least 2: over protocol \"roce\" both ends know each other's numbers");
  in.require(pair.peer >= 2, "peer", std::to_string(pair.peer),
             "must be at least 2: over protocol \"roce\" both ends know each other's numbers");
}

void check_chosen_queue_pairs(const Checks& root, const GeneratorConfig& config) {
  UniqueValues<std::pair<std::string, std::uint16_t>> taken;
  for (std::size_t i = 0; i < config.transfers.size(); ++i) {
    const TransferConfig& t = config.transfers[i];
    const std::uint16_t own = t.queue_pair.own;
    if (own == 0) continue;
    const auto from = std::ranges::find(config.hosts, t.from, &HostConfig::name);
    const std::string& host = from != config.hosts.end() ? t.from : t.to;
    taken.add(root.below("transfer", i).below("queue_pair"), "own", {host, own},
              std::to_string(own), "transfer[" + std::to_string(i) + "] on host \"" + host + "\"");
  }
}

void check_queue_pairs(const Checks& root, const GeneratorConfig& config) {
  QueuePairCount count(root);
  const auto add_pairs = [&](const auto& flows, std::uint64_t pairs) {
    for (std::size_t p = 0; p < std::min(flows.from.size(), flows.to.size()); ++p)
      count.add(flows.from[p], flows.to[p], pairs);
  };
  for (std::size_t i = 0; i < config.long_flows.size(); ++i) {
    const LongFlowsConfig& flows = config.long_flows[i];
    if (!uses_queue_pairs(transport_of_name(config, flows.transport))) continue;
    add_pairs(flows, flows.flows_per_pair);
    count.judge("long_flows", i, "flows_per_pair");
  }
  for (std::size_t i = 0; i < config.requests.size(); ++i) {
    const RequestFlowsConfig& flows = config.requests[i];
    if (!uses_queue_pairs(transport_of_name(config, flows.transport))) continue;
    add_pairs(flows, flows.connections);
    count.judge("requests", i, "connections");
  }
  for (std::size_t i = 0; i < config.flows.size(); ++i) {
    const FlowsConfig& flows = config.flows[i];
    if (!uses_queue_pairs(transport_of_name(config, flows.transport))) continue;
    const auto& sources = flows.list ? flows.hosts : flows.from;
    const auto& sinks = flows.list ? flows.hosts : flows.to;
    const std::uint64_t host_pairs = std::uint64_t{sources.size()} * sinks.size();
    if (host_pairs > kMostHostPairs)
      root.below("flows", i)
          .fault("transport", "joins " + std::to_string(host_pairs) +
                                  " pairs of hosts over protocol \"roce\": at most " +
                                  std::to_string(kMostHostPairs) + " may be joined");
    const std::uint64_t pairs = flows.queue_pairs.value_or(first_queue_pairs(host_pairs));
    if (pairs == 0 || host_pairs > kMostHostPairs) continue;
    for (const std::string& from : sources)
      for (const std::string& to : sinks)
        if (from != to) count.add(from, to, pairs);
    count.judge("flows", i, "queue_pairs");
  }
}

}  // namespace outrider::tg
