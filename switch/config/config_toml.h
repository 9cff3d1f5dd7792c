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

/// Reads and validates a configuration file of outrider-switch, and the key files that it names.
/// docs/configuration.md lists every key.
/// @param key_floor  see load_signal_keys()
ConfigResult<SwitchProcessConfig> load_switch_config(const std::string& path,
                                                     std::uint64_t key_floor = 0);

/// Does the same with a table that is already in memory, but reads no key files.
ConfigResult<SwitchProcessConfig> switch_config_from(const ConfigTable& file);

/// Returns the resolved configuration as TOML: every port has its own queue, marker and
/// regulation, and every default is written out. Reading it again gives an equal struct.
std::string to_toml(const SwitchProcessConfig& config);

/// Returns how many packet buffers the process needs at most if nothing is lost. This is
/// `mbufs` when the file does not set it.
///
///   sum over devices of rx_descriptors (of a NIC twice) + tx_descriptors
/// + sum over ports   of limit_packets + 1 + 2 x in flight(drain_rate, delay)
/// + sum over links   of in flight from a + in flight from b
/// + two batches of 32 per device and port
/// + for each lcore   512 in its cache of the pool, and 1024 in its ring to each other lcore
///
/// where in flight = delay x rate / 84 B (the shortest Ethernet frame) + 1.
std::uint32_t required_mbufs(const SwitchProcessConfig& config);

/// Returns the packet buffers that a process starts with: `mbufs`, or more than required_mbufs(),
/// so that a reload may double rates, and raise queues' limits by a quarter.
std::uint32_t starting_mbufs(const SwitchProcessConfig& config);

/// Returns the settings that starting_mbufs() follows from most: "`limit_packets` of queues".
std::string buffer_keys(const SwitchProcessConfig& config);

/// Returns the room of each packet buffer [bytes]. It holds the longest frame of any device
/// with two VLAN tags and FCS, and is not less than devices require.
std::uint32_t frame_room_bytes(const SwitchProcessConfig& config);

/// Returns the EAL memory [MiB] for the tables that DPDK keeps: rte_lpm and rte_acl of each
/// switch.
std::uint32_t table_memory_mb(const SwitchProcessConfig& config);

// Rows of the settings, see common/config/config_binding.h.

/// Longest propagation delay of a port or a link.
inline constexpr Duration kMaxDelay = std::chrono::seconds(10);

inline constexpr auto kRateLayers =
    choices<RateLayer>({{"l1", RateLayer::kL1}, {"l2", RateLayer::kL2}});

void describe(Settings& v, DeviceConfig& c);
void describe(Settings& v, SwitchPortConfig& c);
void describe(Settings& v, BufferConfig& c);
void describe(Settings& v, SwitchConfig& c);
void describe(Settings& v, SwitchLinkConfig& c);
void describe(Settings& v, SwitchProcessConfig& c);

}  // namespace outrider::sw
