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

namespace outrider::sw {

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

// Rows of the settings, see common/config/config_binding.h.

/// Longest propagation of a port or a link.
inline constexpr Duration kMaxDelay = std::chrono::seconds(10);

inline constexpr auto kRateLayers =
    choices<RateLayer>({{"l1", RateLayer::kL1}, {"l2", RateLayer::kL2}});

void describe(Settings& v, DeviceConfig& c);
void describe(Settings& v, SignalConfig& c);
void describe(Settings& v, SwitchPortConfig& c);
void describe(Settings& v, BufferConfig& c);
void describe(Settings& v, SwitchConfig& c);
void describe(Settings& v, SwitchLinkConfig& c);
void describe(Settings& v, SwitchProcessConfig& c);

}  // namespace outrider::sw
