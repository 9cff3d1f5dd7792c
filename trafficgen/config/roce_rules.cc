#include "trafficgen/config/roce_rules.h"

#include <algorithm>
#include <string>

#include "common/net/roce.h"
#include "trafficgen/hosts/ephemeral_ports.h"
#include "trafficgen/roce/path_mtu.h"

namespace outrider::tg {
namespace {

/// Keys that a transport has whatever its protocol; or which do not matter without TCP, but which
/// the lab derives for every transport.
bool is_of_all(std::string_view key) { return key == "priority" || key == "mss_bytes"; }

void check_roce_hosts(const Checks& at, std::string_view key, const std::vector<std::string>& names,
                      const GeneratorConfig& config) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto host = std::ranges::find(config.hosts, names[i], &HostConfig::name);
    if (host == config.hosts.end()) continue;
    at.below(key, i).require(path_mtu_of(host->mtu_bytes) != 0, "", Checks::quoted(names[i]),
                             "mtu_bytes " + std::to_string(host->mtu_bytes) +
                                 " cannot hold the 320 bytes of the least packet of protocol "
                                 "\"roce\"");
  }
}

}  // namespace

void check_roce_transport(const Checks& at, const TransportConfig& transport,
                          const ConfigTable& given, const ConfigTable& defaults) {
  for (const auto& member : given.members) {
    const ConfigValue* usual = defaults.get(member.key);
    if (is_of_all(member.key) || (usual != nullptr && *usual == member.value)) continue;
    at.fault(
        member.key,
        "is a setting of TCP: protocol \"roce\" has priority and those of [transport.roce] alone");
  }
  check(at.below("roce"), transport.roce);
}

void check_roce_job(const Checks& at, const JobConfig& job, const GeneratorConfig& config) {
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
  check_roce_hosts(at, "workers", job.workers, config);
  check_roce_hosts(at, "servers", job.servers, config);
}

}  // namespace outrider::tg
