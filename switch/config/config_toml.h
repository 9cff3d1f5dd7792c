#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/config/config_result.h"
#include "common/config/config_value.h"
#include "common/config/quantities.h"
#include "switch/config/config.h"

namespace outrider {

/// Reads and validates the file of outrider-switch; docs/configuration.md names
/// every key.
ConfigResult<SwitchProcessConfig> load_switch_config(const std::string& path);

/// The same from a table that is already in memory.
ConfigResult<SwitchProcessConfig> switch_config_from(const ConfigTable& file);

/// The resolved configuration: every port with its own queue, marker and
/// regulation, every default written out. Reads back to an equal struct.
std::string to_toml(const SwitchProcessConfig& config);

/// Packet buffers that the process needs at most, if nothing is lost: what
/// `mbufs` is when the file does not say.
///
///   sum over devices of rx_descriptors + tx_descriptors
/// + sum over ports   of limit_packets + 1 + 2 x in flight(drain_rate, delay)
/// + sum over links   of in flight from a + in flight from b
/// + two batches of 32 per device and port
/// + for each lcore 512 in its cache of the pool, and 1024 in the ring to each other one
///
/// where in flight = delay x rate / 84 B (the shortest Ethernet frame) + 1.
std::uint32_t required_mbufs(const SwitchProcessConfig& config);

/// Room of each packet buffer [bytes]: the longest frame of any device, two VLAN tags and
/// FCS included, and what devices want at least.
std::uint32_t frame_room_bytes(const SwitchProcessConfig& config);

/// EAL memory [MiB] of the tables that DPDK keeps: each switch's rte_lpm and rte_acl.
std::uint32_t table_memory_mb(const SwitchProcessConfig& config);

/// Rules of a part, for files that hold this table in another place.
void check(const Checks& at, const SignalConfig& signals);

// Bindings, see common/config/config_binding.h.

inline constexpr auto kRateLayers =
    choices<RateLayer>({{"l1", RateLayer::kL1}, {"l2", RateLayer::kL2}});

template <class V>
void describe(V& v, DeviceConfig& c) {
  v.value("name", c.name, Presence::kRequired);
  v.value("device", c.device, Presence::kRequired);
  v.value("rx_descriptors", c.rx_descriptors);
  v.value("tx_descriptors", c.tx_descriptors);
  v.value("rx_queues", c.rx_queues);
  v.value("mtu_bytes", c.mtu_bytes);
}

template <class V>
void describe(V& v, SignalConfig& c) {
  v.value("accept_tos", c.accept_tos);
  v.value("accept_udp", c.accept_udp);
  v.value("accept_from", c.accept_from);
  v.value("tokens_per_second", c.tokens_per_second);
  v.value("token_burst", c.token_burst);
  v.value("udp_port", c.udp_port);
  v.duration("due_limit", c.due_limit);
}

template <class V>
void describe(V& v, SwitchPortConfig& c) {
  v.value("name", c.name, Presence::kRequired);
  v.rate("drain_rate", c.drain_rate);
  v.choice("rate_layer", c.rate_layer, kRateLayers);
  v.duration("delay", c.delay);
  v.value("device", c.device);
  v.share("loss", c.loss);
  v.value("record", c.record);
  v.table("queue", c.queue);
  v.table("marker", c.marker);
  v.table("regulation", c.regulation);
  v.choice("scheduler", c.scheduler, kSchedulers);
  v.tables("queues", c.queues, PortQueueConfig{c.queue, c.marker, c.regulation});
}

template <class V>
void describe(V& v, BufferConfig& c) {
  v.bytes("total_bytes", c.total_bytes);
}

template <class V>
void describe(V& v, SwitchConfig& c) {
  v.value("name", c.name, Presence::kRequired);
  v.text("ddl_ports", c.ddl_ports, parse_port_range, format_port_range);
  v.table("signals", c.signals);
  v.table("buffer", c.buffer);
  v.table("hop_records", c.hop_records);
  SwitchPortConfig port;
  v.defaults("queue", port.queue);
  v.defaults("marker", port.marker);
  v.defaults("regulation", port.regulation);
  v.tables("port", c.ports, port);
  v.value("mac", c.mac);
  v.choice("route_table", c.route_table, kRouteTableKinds);
  v.table("l2", c.l2);
  v.table("classes", c.classes);
  v.tables("route", c.routes);
  v.tables("mac_route", c.mac_routes);
  v.tables("neighbour", c.neighbours);
  v.tables("address", c.addresses);
  v.tables("rule", c.rules);
}

template <class V>
void describe(V& v, SwitchLinkConfig& c) {
  v.value("a", c.a, Presence::kRequired);
  v.value("b", c.b, Presence::kRequired);
  v.duration("delay", c.delay);
}

template <class V>
void describe(V& v, SwitchProcessConfig& c) {
  v.value("seed", c.seed);
  v.value("lcore", c.lcore);
  v.value("more_lcores", c.more_lcores);
  v.value("mbufs", c.mbufs);
  v.duration("bin", c.bin);
  v.value("max_burst_records", c.max_burst_records);
  v.value("max_bins", c.max_bins);
  v.table("telemetry", c.telemetry);
  v.tables("device", c.devices);
  v.tables("switch", c.switches);
  v.tables("link", c.links);
}

}  // namespace outrider
