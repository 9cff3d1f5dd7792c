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

  [[nodiscard]] constexpr bool contains(std::uint16_t port) const noexcept {
    return port >= first && port <= last;
  }
};

/// "5000-5999", or a single port "5000".
Parsed<PortRange> parse_port_range(std::string_view text);
std::string format_port_range(PortRange range);

/// Class and queue of packets that no [[switch.rule]] matches.
struct ClassesConfig {
  std::uint32_t background_queue = 0;     ///< of background that no map names
  std::uint32_t ddl_queue = 0;            ///< of DDL data that no map names
  ConfigTable dscp{};                     ///< DSCP -> queue: { "46" = 0 }
  ConfigTable pcp{};                      ///< PCP of the outer tag -> queue; DSCP comes first
  std::vector<std::uint32_t> dscp_ddl{};  ///< DSCPs whose packets are DDL data
  std::vector<std::uint32_t> pcp_ddl{};   ///< PCPs whose packets are DDL data
  /// Flows announced by accepted STARTs whose packets are DDL data; 0: not learned.
  std::uint32_t learned_flows = 0;
};

enum class RuleClass : std::uint8_t { kBackground, kDdl };

/// The first rule that a packet matches decides; what it leaves open is as without it.
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

/// Number (DSCP or PCP) and queue of each entry of a map that is valid.
std::vector<std::pair<std::uint32_t, std::uint32_t>> entries_of(const ConfigTable& map);

/// The rules of a switch's classification: ddl_ports, classes, rules.
void check_classes(const Checks& at, const SwitchConfig& sw);

inline constexpr auto kRuleClasses =
    choices<RuleClass>({{"background", RuleClass::kBackground}, {"ddl", RuleClass::kDdl}});

void describe(Settings& v, ClassesConfig& c);
void describe(Settings& v, RuleConfig& c);

}  // namespace outrider::sw
