#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "common/config/checks.h"
#include "common/config/config_file.h"
#include "common/config/process_checks.h"
#include "common/config/range_checker.h"
#include "switch/config/config_toml.h"
#include "switch/config/lcore_plan.h"
#include "switch/config/mbuf_need.h"
#include "switch/config/queue_advice.h"
#include "switch/config/regulation_config.h"
#include "switch/regulation/windows/window_lead.h"

namespace outrider::sw {
namespace {

constexpr std::uint64_t kMaxNumberedPackets = 1024;  // of a list

using Names = std::set<std::string>;

void check_name(const Checks& at, Names& taken, const std::string& name) {
  at.require(!name.empty() && name.find('.') == name.npos, "name", Checks::quoted(name),
             "must not be empty or contain a dot");
  at.require(taken.insert(name).second, "name", Checks::quoted(name), "is used twice");
}

void check_devices(const Checks& root, const SwitchProcessConfig& c, Names& names) {
  UniqueValues<std::string> devices;
  for (std::size_t i = 0; i < c.devices.size(); ++i) {
    const auto at = root.below("device", i);
    const auto& d = c.devices[i];
    check_name(at, names, d.name);
    check_device(at, d.device);
    devices.add(at, "device", d.device, Checks::quoted(d.device),
                "device[" + std::to_string(i) + "]");
  }
}

/// Records who uses each device and each "switch.port", to find those with two users or none.
struct Uses {
  Names devices;
  std::map<std::string, std::string> device_of;  ///< device -> the switch whose ports have it
  std::map<std::string, std::string> link_of;    ///< "switch.port" -> key of its link
};

void check_regulation(const Checks& at, const SwitchConfig& sw, const RegulationPolicy& policy) {
  check(at, policy);
  const bool predicts = policy.predict.from != PredictFrom::kOff;
  const bool hears_alone = policy.predict.from == PredictFrom::kTraffic;
  at.require(!acts_on_bursts(policy.mode) || hears_alone || sw.signals.accepts_any(), "mode",
             Checks::quoted(row_of(policy.mode).name),
             "needs signals: set accept_tos or accept_udp in [switch.signals]");
  at.require(policy.hears != Subscription::kSwitch || sw.buffer.total_bytes, "hears", "\"switch\"",
             "needs total_bytes in [switch.buffer]: without it ports share no memory");
  const bool grants_bursts = grants(policy.grant);
  const auto order = std::ranges::find_if(
      kGrantOrders, [&policy](const auto& choice) { return choice.value == policy.grant.order; });
  at.below("grant").require(!grants_bursts || sw.signals.accepts_any(), "order",
                            Checks::quoted(order->name),
                            "needs signals: set accept_tos or accept_udp in [switch.signals]");
  at.below("predict").require(
      !hears_alone || sw.signals.lists_any(), "from", "\"traffic\"",
      "needs accept_from, trusted or signers in [switch.signals]: the sources whose payload is "
      "learned from");
  at.require(!policy.lead || predicts || sw.signals.accept_udp, "lead", shown_lead(policy),
             "needs accept_udp in [switch.signals]: the TOS form does not say when a burst is due");
}

/// @pre drain_rate is in range
void check_floors(const Checks& at, const SwitchPortConfig& port) {
  std::uint64_t floors = 0;
  for (const auto& queue : port.queues)
    floors += queue.queue.floor_rate.value_or(BitRate{}).bits_per_second;
  at.require(floors <= port.drain_rate.bits_per_second, "queues",
             "floor_rate adds up to " + format_rate({floors}),
             "must not be more than drain_rate, " + format_rate(port.drain_rate));
}

/// Checks where queue `q` steers bursts to.
void check_steering(const Checks& at, const SwitchPortConfig& port, std::size_t q) {
  const std::uint32_t target = port.queues[q].regulation.steer_to_queue;
  const auto refuse = [&](const std::string& rule) {
    at.fault("steer_to_queue", std::to_string(target), rule);
  };
  if (target >= port.queues.size())
    return refuse("the port has " + std::to_string(port.queues.size()) + " queues");
  if (target == q) return refuse("must be another queue than the one that it belongs to");
  if (target > q && port.scheduler != SchedulerKind::kDwrr)
    refuse("must be below " + std::to_string(q) + ": the scheduler serves lower numbers first");
  if (steers(port.queues[target].regulation.mode))
    refuse("must not be a queue that steers bursts itself");
}

/// Checks where flows of queue `q` begin.
void check_demotion(const Checks& at, const SwitchPortConfig& port, std::size_t q) {
  const DemotionConfig& demotion = port.queues[q].queue.demotion;
  if (!demotion.after_bytes) return;
  const auto refuse = [&](const std::string& rule) {
    at.fault("from_queue", std::to_string(demotion.from_queue), rule);
  };
  if (demotion.from_queue >= port.queues.size())
    return refuse("the port has " + std::to_string(port.queues.size()) + " queues");
  if (demotion.from_queue == q) return refuse("must be another queue than the one that has it");
  if (demotion.from_queue > q)
    refuse("must be below " + std::to_string(q) + ": lower numbers are served first");
  if (port.queues[demotion.from_queue].queue.demotion.after_bytes)
    refuse("must not be a queue whose flows begin in another one");
  const std::string after = std::to_string(*demotion.after_bytes) + " B";
  at.require(port.scheduler != SchedulerKind::kDwrr, "after", after,
             "needs a scheduler that serves from_queue first, \"strict\" or \"strict_floor\"");
  const ModeRow& mode = row_of(port.queues[q].regulation.mode);
  at.require(
      !mode.steers && !mode.paces && !rewrites_windows(mode.mode), "after", after,
      "needs regulation.mode \"off\" or \"mark\" in its queue: others do not see all packets "
      "of a flow");
  at.require(
      !port.queues[q].queue.lossless.on() && !port.queues[demotion.from_queue].queue.lossless.on(),
      "after", after, "excludes lossless queues: flows have the pauses of one of them");
}

/// Checks that the marker of queue `q` has higher queues if it counts their packets.
void check_occupancy(const Checks& at, const MarkerConfig& marker, const SwitchPortConfig& port,
                     std::size_t q) {
  if (marker.occupancy == StepOccupancy::kOwn) return;
  const auto refuse = [&](const std::string& rule) {
    at.fault("occupancy", "\"own_and_higher\"", rule);
  };
  if (port.queues.empty())
    return refuse("needs [[switch.port.queues]]: the port has one queue; set \"own\"");
  if (port.scheduler == SchedulerKind::kDwrr)
    return refuse("scheduler \"dwrr\" serves no queue before another; set \"own\"");
  if (q == 0) refuse("no queue is served before queue 0; set it for later queues alone");
}

void check_queues(const Checks& at, const SwitchConfig& sw, const SwitchPortConfig& port) {
  check(at.below("marker"), port.marker, port.queue);
  check_regulation(at.below("regulation"), sw, port.regulation);
  if (port.queues.empty()) {
    check_occupancy(at.below("marker"), port.marker, port, 0);
    check_signer_shares(at.below("regulation"), sw.signals, port.regulation);
    at.below("regulation")
        .require(!steers(port.regulation.mode), "mode", "\"steer\"",
                 "needs [[switch.port.queues]]: another queue to steer bursts to");
    const auto& after = port.queue.demotion.after_bytes;
    at.below("queue")
        .below("demotion")
        .require(!after, "after", std::to_string(after.value_or(0)) + " B",
                 "needs [[switch.port.queues]]: another queue, where flows begin");
  }
  at.in_range("queues", port.queues.size(), 0, kMaxQueuesPerPort, "queues");
  if (port.queues.size() > kMaxQueuesPerPort) return;
  for (std::size_t q = 0; q < port.queues.size(); ++q) {
    const auto queue = at.below("queues", q);
    check(queue.below("marker"), port.queues[q].marker, port.queues[q].queue);
    check_occupancy(queue.below("marker"), port.queues[q].marker, port, q);
    check_regulation(queue.below("regulation"), sw, port.queues[q].regulation);
    check_signer_shares(queue.below("regulation"), sw.signals, port.queues[q].regulation);
    if (steers(port.queues[q].regulation.mode)) check_steering(queue.below("regulation"), port, q);
    check_demotion(queue.below("demotion"), port, q);
  }
}

/// Checks the limit of all queues of a port.
void check_shared_limit(const Checks& at, const SwitchPortConfig& port) {
  const auto lossless = [](const PortQueueConfig& one) { return one.queue.lossless.on(); };
  const auto check = [&](const std::string& key, const std::string& shown) {
    at.require(!port.queues.empty(), key, shown,
               "needs [[switch.port.queues]]: with one queue set queue." + key);
    at.require(std::ranges::none_of(port.queues, lossless), key, shown,
               "excludes lossless queues, which never drop for want of room");
  };
  if (port.limit_packets) check("limit_packets", std::to_string(*port.limit_packets) + " packets");
  if (port.limit_bytes) check("limit_bytes", std::to_string(*port.limit_bytes) + " B");
}

void check_buffer(const Checks& at, const SwitchConfig& sw) {
  if (!sw.buffer.total_bytes) return;
  std::uint64_t reserved = 0;
  for (const auto& port : sw.ports)
    for (const auto& queue : queues_of(port)) reserved += queue.queue.reserved_bytes;
  const std::uint64_t lossless = lossless_own_bytes(sw);
  at.require(
      *sw.buffer.total_bytes >= lossless + std::max<std::uint64_t>(reserved, kLargestFrameBytes),
      "total_bytes", std::to_string(*sw.buffer.total_bytes) + " bytes",
      "must hold a frame of " + std::to_string(kLargestFrameBytes) +
          " B and what queues reserve, " + std::to_string(reserved) + " B" +
          (lossless == 0
               ? ""
               : ", beside what lossless queues have alone, " + std::to_string(lossless) + " B"));
}

void check_numbers(const Checks& at, std::string_view key,
                   const std::vector<std::uint32_t>& numbers) {
  at.in_range(key, numbers.size(), 0, kMaxNumberedPackets, "numbers");
  const auto wrong = std::ranges::adjacent_find(numbers, std::greater_equal<>{});
  if (wrong != numbers.end())
    at.fault(key, std::to_string(*(wrong + 1)),
             "must be above " + std::to_string(*wrong) + ", which is before it");
}

void check_port(const Checks& at, const SwitchConfig& sw, const SwitchPortConfig& port,
                Uses& uses) {
  if (link_rates().breach(port.drain_rate).empty()) check_floors(at, port);
  check_queues(at, sw, port);
  check_shared_limit(at, port);
  check_numbers(at, "lose_packets", port.lose_packets);
  check_numbers(at, "mark_packets", port.mark_packets);

  const std::string full_name = sw.name + '.' + port.name;
  const auto link = uses.link_of.find(full_name);
  const bool linked = link != uses.link_of.end();
  if (!port.device) {
    if (!linked) at.fault("device", "is required: no [[link]] names \"" + full_name + "\" either");
    at.require(!linked || port.delay == Duration::zero(), "delay", format_duration(port.delay),
               "belongs to " + (linked ? link->second : "") + ", which joins this port");
    return;
  }
  const auto shown = Checks::quoted(*port.device);
  if (linked) return at.fault("device", shown, "but " + link->second + " joins this port already");
  if (!at.require(uses.devices.contains(*port.device), "device", shown,
                  "no [[device]] has this name"))
    return;
  // Ports of one switch may share a device: hosts behind it are distinguished by address.
  const auto [user, first] = uses.device_of.try_emplace(*port.device, sw.name);
  at.require(first || user->second == sw.name, "device", shown,
             "is the device of switch \"" + user->second + "\" already");
}

void check_hops(const Checks& at, const SwitchConfig& sw) {
  check(at, sw.hop_records);
  const auto port = sw.hop_records.udp_port;
  at.require(!port || !sw.signals.accept_udp || *port != sw.signals.udp_port, "udp_port",
             std::to_string(port.value_or(0)), "is the port of signals already");
}

void check_switch(const Checks& at, const SwitchConfig& sw, Uses& uses) {
  if (sw.ports.empty()) at.fault("port", "a switch must have at least one port");
  check_signals(at.below("signals"), sw);
  check_buffer(at.below("buffer"), sw);
  check_hops(at.below("hop_records"), sw);
  Names ports;
  const bool lossless = has_lossless(sw);  // each port's queues hold what all ports may bring
  for (std::size_t i = 0; i < sw.ports.size(); ++i) {
    check_name(at.below("port", i), ports, sw.ports[i].name);
    check_port(at.below("port", i), sw, sw.ports[i], uses);
    if (lossless) check_lossless(at.below("port", i), sw, sw.ports[i]);
  }
  check_forwarding(at, sw);
  check_classes(at, sw);
}

Names port_names(const SwitchProcessConfig& c) {
  Names names;
  for (const auto& sw : c.switches)
    for (const auto& port : sw.ports) names.insert(sw.name + '.' + port.name);
  return names;
}

void check_links(const Checks& root, const SwitchProcessConfig& c, Uses& uses) {
  const Names ports = port_names(c);
  for (std::size_t i = 0; i < c.links.size(); ++i) {
    const auto at = root.below("link", i);
    for (const auto& [key, end] : {std::pair{"a", c.links[i].a}, {"b", c.links[i].b}}) {
      at.require(ports.contains(end), key, Checks::quoted(end),
                 R"(must be "switch.port" of a port of this file)");
      const auto [first, is_first] =
          uses.link_of.try_emplace(end, "link[" + std::to_string(i) + "]");
      at.require(is_first, key, Checks::quoted(end), "is an end of " + first->second + " already");
    }
  }
}

/// Checks the rules that join several settings.
ConfigIssues joint_faults(const SwitchProcessConfig& config) {
  ConfigIssues issues;
  const Checks root(issues);
  Uses uses;
  check_devices(root, config, uses.devices);
  check_links(root, config, uses);
  if (config.switches.empty()) root.fault("switch", "there must be at least one [[switch]]");
  Names names;
  UniqueValues<std::uint16_t> hop_ids;
  for (std::size_t i = 0; i < config.switches.size(); ++i) {
    const auto& hops = config.switches[i].hop_records;
    const std::uint16_t hop_id = hop_id_of(hops, i);
    if (hops.on())
      hop_ids.add(root.below("switch", i).below("hop_records"), "id", hop_id,
                  std::to_string(hop_id), "switch[" + std::to_string(i) + "]");
    check_name(root.below("switch", i), names, config.switches[i].name);
    check_switch(root.below("switch", i), config.switches[i], uses);
  }
  for (std::size_t i = 0; i < config.devices.size(); ++i)
    if (!uses.device_of.contains(config.devices[i].name))
      root.below("device", i)
          .fault("name", Checks::quoted(config.devices[i].name), "no port uses this device");
  check_lcores(root, config);
  check_mbufs(root, config);
  check(root.below("telemetry"), config.telemetry);
  return issues;
}

/// Says where windows make too little room whatever their lead, as far as that is known before any
/// flow comes: one held flow alone keeps too much.
ConfigIssues advice_on_windows(const SwitchPortConfig& port, const PortQueueConfig& queue) {
  const WindowPolicy& window = queue.regulation.window;
  if (!holds_windows(queue.regulation.mode) || window.base_rtt == Duration::zero()) return {};
  const std::uint32_t frame = kFullFrameBytes;
  const WindowLead rule =
      window_lead({.rate = port.drain_rate,
                   .rtt = window.base_rtt,
                   .packet_bytes = port.rate_layer == RateLayer::kL1 ? wire_bytes(frame) : frame,
                   .standing_packets = standing_packets(queue.queue, queue.marker),
                   .least_segments = window.least_segments});
  if (rule.kept_share <= WindowLead::kMostKept) return {};
  return {{"window.least_segments",
           std::to_string(window.least_segments) + " segments of one held flow are " +
               std::to_string(std::lround(100 * rule.kept_share)) +
               " % of path and standing queue: no lead makes more room; mode \"pace\", or a queue "
               "of the burst's own, does"}};
}

}  // namespace

ConfigIssues validate(const SwitchProcessConfig& config, std::uint64_t max_devices) {
  ConfigIssues issues;
  Checks(issues).in_range("device", config.devices.size(), 0, max_devices, "devices");
  check_ranges(Checks(issues), config);
  merge_issues(issues, joint_faults(config));
  return issues;
}

ConfigIssues advice(const SwitchProcessConfig& config) {
  ConfigIssues found;
  for (std::size_t s = 0; s < config.switches.size(); ++s) {
    // ports mostly have the settings of [switch.regulation] and [switch.queue]
    ConfigIssues of_regulation, of_queue;
    for (const auto& port : config.switches[s].ports) {
      for (const auto& queue : queues_of(port)) {
        merge_issues(of_regulation, advice(queue.regulation));
        merge_issues(of_regulation, advice_on_windows(port, queue));
        merge_issues(of_queue, advice(queue.queue));
      }
    }
    for (const auto& issue : of_regulation)
      found.push_back({join_key("", "switch", s) + ".regulation." + issue.key, issue.problem});
    for (const auto& issue : of_queue)
      found.push_back({join_key("", "switch", s) + ".queue." + issue.key, issue.problem});
  }
  return found;
}

std::vector<PortQueueConfig> queues_of(const SwitchPortConfig& port) {
  if (!port.queues.empty()) return port.queues;
  return {{port.queue, port.marker, port.regulation}};
}

}  // namespace outrider::sw
