#include "switch/config/classes_config.h"

#include <algorithm>
#include <charconv>

#include "common/config/addresses.h"
#include "common/net/headers.h"
#include "switch/config/config.h"
#include "switch/config/reload_rules.h"

namespace outrider::sw {
namespace {

constexpr std::uint32_t kMaxDscp = 63;
constexpr std::uint32_t kMaxPcp = 7;
constexpr std::uint32_t kMaxLearnedFlows = 1U << 20;
constexpr std::size_t kMaxRules = 4096;

std::optional<std::uint32_t> number(std::string_view digits, std::uint32_t limit) {
  std::uint32_t n = 0;
  const auto [end, error] = std::from_chars(digits.begin(), digits.end(), n);
  if (error != std::errc{} || end != digits.end() || n > limit) return std::nullopt;
  return n;
}

/// Returns a port of the switch that has no queue of that number, or nullptr. Every port must
/// have the queue, because the user cannot know which port a classified packet leaves by.
const SwitchPortConfig* port_without(const SwitchConfig& sw, std::uint32_t queue) {
  const auto it = std::ranges::find_if(
      sw.ports, [queue](const SwitchPortConfig& port) { return queue >= queues_of(port).size(); });
  return it == sw.ports.end() ? nullptr : &*it;
}

void check_queue(const Checks& at, std::string_view key, const SwitchConfig& sw,
                 std::uint32_t queue) {
  if (const auto* port = port_without(sw, queue))
    at.fault(key, std::to_string(queue),
             "port \"" + port->name + "\" has only queues 0 to " +
                 std::to_string(queues_of(*port).size() - 1));
}

void check_map(const Checks& at, const SwitchConfig& sw, const ConfigTable& map,
               std::uint32_t limit) {
  for (const auto& member : map.members) {
    if (!number(member.key, limit)) {
      at.fault(member.key, "is no number from 0 to " + std::to_string(limit));
      continue;
    }
    const auto* queue = member.value.as<std::int64_t>();
    if (queue == nullptr || *queue < 0 || *queue >= kMaxQueuesPerPort)
      at.fault(member.key, "must be a queue, 0 to " + std::to_string(kMaxQueuesPerPort - 1));
    else check_queue(at, member.key, sw, static_cast<std::uint32_t>(*queue));
  }
}

void check_range(const Checks& at, std::string_view key, const std::optional<PortRange>& range) {
  if (range)
    at.require(range->first <= range->last, key, Checks::quoted(format_port_range(*range)),
               "must not end before it begins");
}

void check_rule(const Checks& at, const SwitchConfig& sw, const RuleConfig& rule) {
  const auto check_prefix = [&at](std::string_view key, const std::optional<std::string>& text) {
    if (text) at.parses(key, *text, parse_prefix(*text));
  };
  check_prefix("source", rule.source);
  check_prefix("destination", rule.destination);
  check_range(at, "source_ports", rule.source_ports);
  check_range(at, "destination_ports", rule.destination_ports);
  const bool by_port = rule.source_ports || rule.destination_ports;
  at.require(!by_port || !rule.protocol || *rule.protocol == kIpProtocolTcp ||
                 *rule.protocol == kIpProtocolUdp,
             "protocol", Checks::quoted(format_protocol(rule.protocol.value_or(0))),
             "has no ports, which this rule asks for");
  if (!rule.traffic_class && !rule.queue) at.fault("class", "is required, or queue");
  if (rule.queue) check_queue(at, "queue", sw, *rule.queue);
}

}  // namespace

Parsed<PortRange> parse_port_range(std::string_view text) {
  const Parsed<PortRange> refused{
      {}, R"(must be one port or a range such as "5000-5999", ports from 1 to 65535)"};
  const auto number = [](std::string_view digits) -> std::optional<std::uint16_t> {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(digits.begin(), digits.end(), port);
    if (error != std::errc{} || end != digits.end() || port == 0) return std::nullopt;
    return port;
  };
  const auto dash = text.find('-');
  const auto first = number(text.substr(0, dash));
  const auto last = dash == text.npos ? first : number(text.substr(dash + 1));
  if (!first || !last) return refused;
  return {PortRange{*first, *last}, {}};  // their order is a rule of validate()
}

std::string format_port_range(PortRange range) {
  return std::to_string(range.first) + '-' + std::to_string(range.last);
}

Parsed<std::uint8_t> parse_protocol(std::string_view text) {
  if (text == "tcp") return {kIpProtocolTcp, {}};
  if (text == "udp") return {kIpProtocolUdp, {}};
  const auto n = number(text, 255);
  if (!n) return {{}, R"(must be "tcp", "udp", or a number from "0" to "255")"};
  return {static_cast<std::uint8_t>(*n), {}};
}

std::string format_protocol(std::uint8_t protocol) {
  if (protocol == kIpProtocolTcp) return "tcp";
  if (protocol == kIpProtocolUdp) return "udp";
  return std::to_string(protocol);
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> entries_of(const ConfigTable& map) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> entries;
  for (const auto& member : map.members)
    entries.emplace_back(number(member.key, kMaxDscp).value_or(0),
                         static_cast<std::uint32_t>(*member.value.as<std::int64_t>()));
  return entries;
}

void check_classes(const Checks& at, const SwitchConfig& sw) {
  at.require(sw.ddl_ports.first >= 1 && sw.ddl_ports.first <= sw.ddl_ports.last, "ddl_ports",
             Checks::quoted(format_port_range(sw.ddl_ports)),
             "must begin at 1 or above and not end before it begins");
  const auto classes = at.below("classes");
  const ClassesConfig& c = sw.classes;
  check_queue(classes, "background_queue", sw, c.background_queue);
  check_queue(classes, "ddl_queue", sw, c.ddl_queue);
  check_map(classes.below("dscp"), sw, c.dscp, kMaxDscp);
  check_map(classes.below("pcp"), sw, c.pcp, kMaxPcp);
  const std::string_view dscp_key = c.dscp.members.empty() ? "dscp_ddl" : "dscp";
  if (sw.signals.accept_tos && !(c.dscp.members.empty() && c.dscp_ddl.empty()))
    classes.fault(dscp_key,
                  "cannot be used with accept_tos of [switch.signals]: any DSCP from "
                  "32 up reads as START");
  at.in_range("rule", sw.rules.size(), 0, kMaxRules, "rules");
  for (std::size_t i = 0; i < sw.rules.size(); ++i)
    check_rule(at.below("rule", i), sw, sw.rules[i]);
}

void describe(Settings& v, ClassesConfig& c) {
  v.value("background_queue", c.background_queue,
          {.accepts = "a queue that every port of the switch has",
           .help = "of packets that neither a rule nor a map names"});
  v.value("ddl_queue", c.ddl_queue,
          {.accepts = "a queue that every port of the switch has",
           .help = "of packets that neither a rule nor a map names"});
  v.free_table("dscp", c.dscp,
               {.accepts = "`{ \"46\" = 0 }`: DSCP 0 to 63 to a queue; not with `accept_tos`",
                .help = "IPv4 and IPv6"});
  v.free_table(
      "pcp", c.pcp,
      {.accepts = "PCP 0 to 7 to a queue", .help = "of the outer 802.1Q tag; `dscp` comes first"});
  v.value("dscp_ddl", c.dscp_ddl,
          {.range = integers(0, kMaxDscp),
           .accepts = "not with `accept_tos`",
           .help = "their packets are DDL data"});
  v.value("pcp_ddl", c.pcp_ddl,
          {.range = integers(0, kMaxPcp),
           .accepts = "DSCP not with `accept_tos`",
           .help = "their packets are DDL data"});
  v.value("learned_flows", c.learned_flows,
          {.range = integers(0, kMaxLearnedFlows, "flows"),
           .help = "flows of accepted STARTs are DDL data, both directions, so many of them "
                   "remembered (two a START); 0: none",
           .reload = kLearned});
}

void describe(Settings& v, RuleConfig& c) {
  v.value(
      "source", c.source,
      {.accepts = "IPv4 prefix", .absent = "any", .help = "with one, the rule is not for IPv6"});
  v.value(
      "destination", c.destination,
      {.accepts = "IPv4 prefix", .absent = "any", .help = "with one, the rule is not for IPv6"});
  v.text("protocol", c.protocol, parse_protocol, format_protocol,
         {.accepts = "`\"tcp\"`, `\"udp\"`, `\"0\"` to `\"255\"`", .absent = "any"});
  v.text("source_ports", c.source_ports, parse_port_range, format_port_range,
         {.accepts = "a port or a range; `protocol` then `\"tcp\"`, `\"udp\"` or any",
          .absent = "any"});
  v.text("destination_ports", c.destination_ports, parse_port_range, format_port_range,
         {.accepts = "a port or a range; `protocol` then `\"tcp\"`, `\"udp\"` or any",
          .absent = "any"});
  v.choice("class", c.traffic_class, kRuleClasses,
           {.absent = "as without", .help = "one of `class` and `queue` is required"});
  v.value("queue", c.queue,
          {.accepts = "a queue that every port of the switch has", .absent = "as without"});
}

}  // namespace outrider::sw
