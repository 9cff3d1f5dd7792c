#pragma once

#include <cstdint>
#include <string>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/config/config_result.h"
#include "common/config/config_value.h"
#include "trafficgen/config/config.h"
#include "trafficgen/config/controller_config.h"
#include "trafficgen/config/transport_reserve.h"

namespace outrider {

/// Reads and validates the file of outrider-trafficgen and the model profiles
/// that it names; docs/configuration.md names every key. A relative path of a
/// model is relative to the file: in the result it is so to the working directory.
ConfigResult<GeneratorConfig> load_generator_config(const std::string& path);

/// The same from a table that is already in memory. @param directory of relative paths
ConfigResult<GeneratorConfig> generator_config_from(const ConfigTable& file,
                                                    const std::string& directory);

/// Faults that only the models' files show: that they load, and that a closed
/// loop finds its compute time in them. Reads files.
ConfigIssues validate_models(const GeneratorConfig& config);

/// The resolved configuration, defaults included; reads back to an equal struct.
std::string to_toml(const GeneratorConfig& config);

/// Packet buffers that the process needs: what `mbufs` is when the file does
/// not say. Per device its descriptors and two batches of 32, per host 64
/// packets in its NIC's queue, and 512 in the pool's cache.
std::uint32_t required_mbufs(const GeneratorConfig& config);

/// Rules of single parts, for files that hold these tables in another place.
void check(const Checks& at, const TcpConfig& tcp);

// Bindings, see common/config/config_binding.h.

inline constexpr auto kConnectionReuses =
    choices<ConnectionReuse>({{"new", ConnectionReuse::kNew},
                              {"idle_restart", ConnectionReuse::kIdleRestart},
                              {"keep", ConnectionReuse::kKeep}});
inline constexpr auto kLossDetections = choices<LossDetection>(
    {{"rfc6675", LossDetection::kRfc6675}, {"rack_tlp", LossDetection::kRackTlp}});
inline constexpr auto kTransportProtocols = choices<TransportProtocol>(
    {{"tcp", TransportProtocol::kTcp}, {"mlt", TransportProtocol::kMlt}});

template <class V>
void describe(V& v, GeneratorDeviceConfig& c) {
  v.value("name", c.name, Presence::kRequired);
  v.value("device", c.device, Presence::kRequired);
  v.value("rx_descriptors", c.rx_descriptors);
  v.value("tx_descriptors", c.tx_descriptors);
  describe(v, c.arp);  // its keys stand in [[device]] itself
  v.rate("line_rate", c.line_rate);
}

template <class V>
void describe(V& v, HostConfig& c) {
  v.value("name", c.name, Presence::kRequired);
  v.value("address", c.address, Presence::kRequired);
  v.value("device", c.device, Presence::kRequired);
  v.rate("rate", c.rate);
  v.bytes("mtu_bytes", c.mtu_bytes);
  v.bytes("tso_bytes", c.tso_bytes);
}

template <class V>
void describe(V& v, TcpConfig& c) {
  describe(v, c.control);  // its keys stand beside these
  v.value("ecn", c.ecn);
  v.value("obey_ece", c.obey_ece);
  v.choice("connections", c.reuse, kConnectionReuses);
  v.duration("min_rto", c.min_rto);
  v.duration("initial_rto", c.initial_rto);
  v.duration("max_rto", c.max_rto);
  v.duration("delayed_ack", c.delayed_ack);
  v.value("ack_every_segments", c.ack_every_segments);
  v.bytes("receive_buffer_bytes", c.receive_buffer_bytes);
  v.rate("read_rate", c.read_rate);
  v.value("sack", c.sack);
  v.value("pacing", c.pacing);
  v.choice("loss_detection", c.loss_detection, kLossDetections);
  v.value("timestamps", c.timestamps);
  v.duration("time_wait", c.time_wait);
}

template <class V>
void describe(V& v, TransportConfig& c) {
  v.value("name", c.name, Presence::kRequired);
  v.choice("protocol", c.protocol, kTransportProtocols);
  describe(v, c.tcp);  // its keys stand in [[transport]] itself
  v.table("mlt", c.mlt);
}

template <class V>
void describe(V& v, LongFlowsConfig& c) {
  v.value("name", c.name, Presence::kRequired);
  v.value("from", c.from, Presence::kRequired);
  v.value("to", c.to, Presence::kRequired);
  v.value("flows_per_pair", c.flows_per_pair);
  v.value("transport", c.transport, Presence::kRequired);
  v.duration("start", c.start);
  v.duration("start_spread", c.start_spread);
  v.value("tcp_port", c.tcp_port);
}

template <class V>
void describe(V& v, GeneratorConfig& c) {
  v.value("seed", c.seed);
  v.duration("duration", c.duration);
  v.share("send_jitter", c.send_jitter);
  v.value("attribution", c.attribution);
  v.choice("payload", c.payload, kPayloads);
  v.value("lcore", c.lcore);
  v.value("mbufs", c.mbufs);
  v.duration("bin", c.bin);
  v.value("max_bins", c.max_bins);
  v.table("transport_memory", c.transport_memory);
  v.duration("stream_drain", c.stream_drain);
  v.table("tensorlights", c.tensorlights);
  v.tables("device", c.devices);
  v.tables("host", c.hosts);
  v.tables("transport", c.transports);
  v.tables("job", c.jobs);
  v.tables("long_flows", c.long_flows);
  v.tables("requests", c.requests);
  v.tables("flows", c.flows);
  v.tables("neighbour", c.neighbours);
  v.tables("stream", c.streams);
  v.tables("transfer", c.transfers);
}

}  // namespace outrider
