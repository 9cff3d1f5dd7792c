#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/config/checks.h"
#include "common/config/config_binding.h"
#include "common/config/config_value.h"
#include "common/core/traffic_class.h"

namespace outrider::sw {

struct SwitchConfig;

struct PortRange {
  std::uint16_t first = 0;
  std::uint16_t last = 0;  ///< inclusive

  /// @pre first <= last
  [[nodiscard]] constexpr bool contains(std::uint16_t port) const noexcept {
    // One comparison, as switches ask it for each packet. A port before `first` wraps around.
    return static_cast<std::uint16_t>(port - first) <= static_cast<std::uint16_t>(last - first);
  }
};

/// Parses "5000-5999", or a single port "5000".
Parsed<PortRange> parse_port_range(std::string_view text);
std::string format_port_range(PortRange range);

/// Gives class and queue to the packets that no [[switch.rule]] matches.
struct ClassesConfig {
  std::uint32_t background_queue = 0;     ///< queue of background that no map assigns
  std::uint32_t ddl_queue = 0;            ///< queue of DDL data that no map assigns
  ConfigTable dscp{};                     ///< DSCP -> queue: { "46" = 0 }
  ConfigTable pcp{};                      ///< PCP of the outer tag -> queue; `dscp` wins over it
  std::vector<std::uint32_t> dscp_ddl{};  ///< DSCPs whose packets are DDL data
  std::vector<std::uint32_t> pcp_ddl{};   ///< PCPs whose packets are DDL data
  /// Number of flows to remember from accepted STARTs; their packets are DDL data. 0: none.
  std::uint32_t learned_flows = 0;
};

enum class RuleClass : std::uint8_t { kBackground, kDdl };

/// Assigns class and queue to the packets that match it. The first rule that a packet matches
/// decides. What that rule leaves open is decided as if there were no rule.
struct RuleConfig {
  std::optional<std::string> source{};       ///< IPv4 prefix
  std::optional<std::string> destination{};  ///< IPv4 prefix
  std::optional<std::uint8_t> protocol{};    ///< IP protocol number; "tcp", "udp"
  std::optional<PortRange> source_ports{};
  std::optional<PortRange> destination_ports{};
  std::optional<RuleClass> traffic_class{};
  std::optional<std::uint32_t> queue{};
};

Parsed<std::uint8_t> parse_protocol(std::string_view text);
std::string format_protocol(std::uint8_t protocol);

/// Returns number (DSCP or PCP) and queue of each valid entry of a map.
std::vector<std::pair<std::uint32_t, std::uint32_t>> entries_of(const ConfigTable& map);

/// Checks the settings of a switch's classification: ddl_ports, classes and rules.
void check_classes(const Checks& at, const SwitchConfig& sw);

inline constexpr auto kRuleClasses =
    choices<RuleClass>({{"background", RuleClass::kBackground}, {"ddl", RuleClass::kDdl}});

void describe(Settings& v, ClassesConfig& c);
void describe(Settings& v, RuleConfig& c);

}  // namespace outrider::sw
