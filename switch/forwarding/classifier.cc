#include "switch/forwarding/classifier.h"

#include <atomic>

#include "common/config/addresses.h"

namespace outrider::sw {
namespace {

/// Returns a name that no other table has, because rte_acl's contexts have process-wide names.
std::string unique_rules_name() {
  static std::atomic<std::uint32_t> tables{0};
  return "rules" + std::to_string(tables++);
}

AclTable::Rule acl_rule(const RuleConfig& config) {
  AclTable::Rule rule;
  const auto set_prefix = [&rule](const std::optional<std::string>& text, std::uint32_t& address,
                                  std::uint32_t& length) {
    if (!text) return;
    const Prefix prefix = *parse_prefix(*text).value;
    address = prefix.address;
    length = prefix.length;
    rule.ipv4_only = true;
  };
  set_prefix(config.source, rule.source, rule.source_length);
  set_prefix(config.destination, rule.destination, rule.destination_length);
  rule.any_protocol = !config.protocol;
  rule.protocol = config.protocol.value_or(0);
  if (config.source_ports) {
    rule.source_port_first = config.source_ports->first;
    rule.source_port_last = config.source_ports->last;
  }
  if (config.destination_ports) {
    rule.destination_port_first = config.destination_ports->first;
    rule.destination_port_last = config.destination_ports->last;
  }
  return rule;
}

}  // namespace

Classifier::Classifier(const SwitchConfig& config)
    : by_ports_alone_(config.rules.empty() && config.classes.learned_flows == 0 &&
                      config.classes.dscp.members.empty() && config.classes.dscp_ddl.empty() &&
                      config.classes.pcp.members.empty() && config.classes.pcp_ddl.empty()),
      background_queue_(static_cast<std::uint8_t>(config.classes.background_queue)),
      ddl_queue_(static_cast<std::uint8_t>(config.classes.ddl_queue)),
      ddl_ports_(config.ddl_ports),
      learned_flows_(config.classes.learned_flows) {
  for (const auto& [dscp, queue] : entries_of(config.classes.dscp))
    dscp_[dscp].queue = static_cast<std::uint8_t>(queue);
  for (const auto& [pcp, queue] : entries_of(config.classes.pcp))
    pcp_[pcp].queue = static_cast<std::uint8_t>(queue);
  for (const auto dscp : config.classes.dscp_ddl) dscp_[dscp].ddl = true;
  for (const auto pcp : config.classes.pcp_ddl) pcp_[pcp].ddl = true;
  actions_.emplace_back();
  std::vector<AclTable::Rule> rules;
  for (const auto& rule : config.rules) {
    rules.push_back(acl_rule(rule));
    Action action;
    if (rule.traffic_class)
      action.traffic_class =
          *rule.traffic_class == RuleClass::kDdl ? TrafficClass::kDdl : TrafficClass::kBackground;
    if (rule.queue) action.queue = static_cast<std::uint8_t>(*rule.queue);
    actions_.push_back(action);
  }
  if (!rules.empty()) rules_ = std::make_unique<AclTable>(unique_rules_name(), rules);
}

Classifier::Result Classifier::classify_fully(const FrameSummary& summary, const FlowKey& flow,
                                              bool tcp, std::uint8_t tos,
                                              const ClassifierLane& lane) const noexcept {
  Action action;
  if (rules_ && summary.is_ip())
    action = actions_[rules_->classify(
        AclTable::key_of(flow, summary.protocol, summary.kind == FrameKind::kIpv4))];
  const Mark by_dscp = summary.is_ip() ? dscp_[tos >> 2] : Mark{};
  const Mark by_pcp = summary.vlan_tagged ? pcp_[pcp_of(summary.vlan_control)] : Mark{};
  const bool ddl = action.traffic_class ? *action.traffic_class == TrafficClass::kDdl
                                        : (lane.announced && lane.announced->contains(flow)) ||
                                              is_ddl_port(flow, tcp) || by_dscp.ddl || by_pcp.ddl;
  Result result = of_class(ddl);
  for (const std::uint8_t queue : {by_pcp.queue, by_dscp.queue, action.queue})
    if (queue != kUnset) result.queue = queue;  // the last one that is set counts
  return result;
}

}  // namespace outrider::sw
