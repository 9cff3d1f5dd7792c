#include "trafficgen/config/mlt_rules.h"

#include <algorithm>
#include <string>

#include "common/config/config_writer.h"
#include "common/net/mlt_message.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/config/roce_rules.h"
#include "trafficgen/hosts/ephemeral_ports.h"
#include "trafficgen/mlt/mlt_tensor.h"
#include "trafficgen/transport/base/tcp_stack.h"

namespace outrider::tg {
namespace {

/// Returns TCP's settings other than those of congestion control, by key, in their written form.
ConfigTable tcp_table(const TcpConfig& tcp) {
  ConfigTable table;
  ConfigWriter writer(table);
  TcpConfig copy = tcp;
  describe(writer, copy);
  return table;
}

bool is_of_both(std::string_view key) {
  static const ConfigTable kControl = [] {
    ConfigTable table;
    ConfigWriter writer(table);
    ControllerConfig control;
    control.initial_window_segments = 1;  // what is absent is not written
    describe(writer, control);
    return table;
  }();
  return key == "ecn" || key == "obey_ece" || key == "connections" || key == "rate" ||
         key == "priority" || kControl.get(key) != nullptr;
}

/// Checks a job without servers, whose messages are cut from the whole model regardless of layers.
void check_collective_over_mlt(const Checks& at, const JobConfig& job,
                               const GeneratorConfig& config) {
  const auto transport =
      std::ranges::find(config.transports, job.transport, &TransportConfig::name);
  const std::string shown = Checks::quoted(job.transport);
  const std::string with = "with collective " + Checks::quoted(name_of(job.collective));
  at.require(is_all_reduce(job.collective), "transport", shown,
             "must not have protocol \"mlt\" " + with +
                 ", which carries activations: only gradients tolerate losses");
  at.require(transport->mlt.class_dscps.size() <= 1, "transport", shown,
             "must have one DSCP in class_dscps " + with + ", whose messages are not layers");
  at.require(transport->mlt.front_share == 0, "transport", shown,
             "must have front_share 0 " + with + ", whose messages are not layers");
  const std::uint64_t least_bytes = mlt::kValueBytes * job.workers.size();
  if (job.burst_bytes)
    at.require(*job.burst_bytes >= least_bytes, "burst_bytes", std::to_string(*job.burst_bytes),
               "must be at least " + std::to_string(least_bytes) +
                   " over protocol \"mlt\": a value of 4 bytes for each worker");
}

}  // namespace

void check_protocol(const Checks& at, const TransportConfig& transport) {
  if (transport.protocol != TransportProtocol::kRoce && transport.roce != RoceConfig{})
    at.fault("roce", "needs protocol \"roce\"");
  if (transport.protocol != TransportProtocol::kMlt && transport.mlt != MltConfig{})
    at.fault("mlt", "needs protocol \"mlt\": others deliver every byte, in order");
  if (transport.protocol == TransportProtocol::kRoce)
    return check_roce_transport(at, transport, tcp_table(transport.tcp), tcp_table(TcpConfig{}));
  if (transport.protocol != TransportProtocol::kMlt) return;
  at.require(
      row_of(transport.tcp.control.controller).tolerates_loss, "controller",
      "the one given or the default, cubic,",
      "must be \"dctcp\" or \"timely\" with protocol \"mlt\": losses that are tolerated must "
      "not halve the window");
  at.require(transport.tcp.reuse != ConnectionReuse::kNew, "connections", "\"new\"",
             "must be \"idle_restart\" or \"keep\" with protocol \"mlt\", which has no "
             "connections: it says whether a window restarts after an idle time");
  // A stack is one fault, not one for each of its settings.
  TcpConfig untouched;
  use_stack(untouched, transport.tcp.stack);
  untouched.stack = TcpStack::kRfc;
  const ConfigTable defaults = tcp_table(untouched);
  for (const auto& member : tcp_table(transport.tcp).members) {
    const ConfigValue* usual = defaults.get(member.key);
    if (is_of_both(member.key) || (usual != nullptr && *usual == member.value)) continue;
    at.fault(member.key,
             "is a setting of TCP: protocol \"mlt\" has no connections, no order and "
             "no retransmission timer of it; see [transport.mlt]");
  }
  check(at.below("mlt"), transport.mlt);
}

void check_mlt_job(const Checks& at, const JobConfig& job, const GeneratorConfig& config) {
  const auto transport =
      std::ranges::find(config.transports, job.transport, &TransportConfig::name);
  at.below("learner").require(
      transport->mlt.magnitudes != Magnitudes::kGradient ||
          job.learner.model != LearnerModel::kNone,
      "model", "\"none\"",
      "must be one that learns with magnitudes = \"gradient\" of transport " +
          Checks::quoted(job.transport) + ": without a learner no gradient has a magnitude");
  const auto refuse = [&at](bool broken, std::string_view key, std::string_view problem) {
    if (broken) at.fault(key, problem);
  };
  if (!has_servers(job.collective)) check_collective_over_mlt(at, job, config);
  const std::uint64_t partition_bytes = partition_of(job.send_policy, job.policy).value_or(0);
  at.below("policy").require(
      partition_bytes % mlt::kValueBytes == 0, "partition_bytes", std::to_string(partition_bytes),
      "must be a multiple of 4 over protocol \"mlt\": a partition holds whole values");
  refuse(
      job.announce.lead_source != LeadSource::kNone && job.announce.signal_form == SignalForm::kTos,
      "announce.signal_form",
      "must be \"udp\" over protocol \"mlt\" (or lead_source \"none\"): a START in the TOS "
      "byte is a TCP segment of the announced flow");
  refuse(job.announce.lead_source != LeadSource::kNone &&
             (job.announce.signal_port == job.tcp_port ||
              job.announce.signal_port >= kFirstEphemeralPort),
         "announce.signal_port",
         "must be below 32768 and not tcp_port over protocol \"mlt\", whose datagrams use the "
         "others");
  refuse(config.payload != Payload::kZeros, "transport",
         "over protocol \"mlt\" no values are written or checked: payload must be \"zeros\"");
  const std::uint64_t values = mlt::kValueBytes * std::max<std::uint64_t>(job.servers.size(), 1);
  if (job.burst_bytes) {
    at.require(*job.burst_bytes % values == 0, "burst_bytes", std::to_string(*job.burst_bytes),
               "must be a multiple of " + std::to_string(values) +
                   " over protocol \"mlt\": every server holds whole values of 4 bytes");
    at.require(*job.burst_bytes <= kMaxMltTensorBytes, "burst_bytes",
               std::to_string(*job.burst_bytes), "must be at most 16 GiB over protocol \"mlt\"");
  }
}

}  // namespace outrider::tg
