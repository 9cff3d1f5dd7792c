#include "tools/lab/advise/sonic_config.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "common/config/quantities.h"
#include "tools/lab/advise/sonic_parts.h"
#include "tools/lab/experiment/headroom.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {
namespace {

/// Switches whose ports have the same links.
struct Role {
  std::string name;
  std::size_t first = 0;  ///< of the switches
  std::size_t switches = 0;
  std::vector<SonicPort> ports{};
};

/// The settings that an arm changes, by what they are for; null: no counterpart.
struct Changes {
  SonicJson maps{}, queues{}, pauses{};
  bool pauses_end = false;
};

auto link_of(const SonicPort& port) { return std::tuple(port.trunk, port.rate, port.delay); }

std::vector<SonicPort> ports_of(const sw::SwitchConfig& of,
                                const std::map<std::string, Duration>& trunks) {
  constexpr std::size_t kLanes = 4;  // from one port's name to the next
  std::vector<SonicPort> ports;
  for (const sw::SwitchPortConfig& port : of.ports) {
    const auto trunk = trunks.find(of.name + '.' + port.name);
    const bool any = trunk != trunks.end();
    ports.push_back({"", any, port.drain_rate, any ? trunk->second : port.delay});
  }
  std::ranges::stable_sort(ports, {}, link_of);
  for (std::size_t i = 0; i < ports.size(); ++i)
    ports[i].name = "Ethernet" + std::to_string(kLanes * i);
  return ports;
}

/// Returns the roles with the begin of their switches' names: "leaf" of "leaf_0". Where two would
/// have the same name, the second has that of its first switch.
std::vector<Role> roles_of(const Case& c) {
  const auto trunks = trunk_delays(c);
  std::vector<Role> roles;
  for (std::size_t i = 0; i < c.switches.switches.size(); ++i) {
    const sw::SwitchConfig& one = c.switches.switches[i];
    auto ports = ports_of(one, trunks);
    const auto same = std::ranges::find_if(roles, [&ports](const Role& role) {
      return std::ranges::equal(role.ports, ports, {}, link_of, link_of);
    });
    if (same != roles.end()) {
      ++same->switches;
      continue;
    }
    std::string name = one.name.substr(0, one.name.find_last_not_of("_0123456789") + 1);
    if (name.empty() || std::ranges::find(roles, name, &Role::name) != roles.end()) name = one.name;
    roles.push_back({name, i, 1, std::move(ports)});
  }
  return roles;
}

const tg::RoceConfig& roce_of_job(const Case& c) {
  return std::ranges::find(c.traffic.transports, c.traffic.jobs.front().transport,
                           &tg::TransportConfig::name)
      ->roce;
}

/// CNPs wait in the bursts' queue in the simulation, so that a priority of their own is a change,
/// though SONiC has a class for them.
bool cnps_differ(const Case& today, const Case& advised) {
  return roce_of_job(today).cnp_priority != roce_of_job(advised).cnp_priority;
}

Changes changes_of(const Case& today, const Case& advised, const Role& role,
                   std::uint32_t frame_bytes) {
  const auto parts = [&role, frame_bytes](const Case& c) {
    const SonicClasses classes = sonic_classes(c);
    return Changes{
        sonic_maps(c, classes, role.ports), sonic_queues(c, classes, role.ports, frame_bytes),
        sonic_pauses(c, c.switches.switches[role.first], classes, role.ports, frame_bytes)};
  };
  const Changes now = parts(today);
  Changes then = parts(advised);
  if (then.maps == now.maps && !cnps_differ(today, advised)) then.maps = SonicJson::object();
  then.pauses_end = then.pauses.empty() && !now.pauses.empty();
  if (then.queues == now.queues && !now.queues.is_null()) then.queues = SonicJson::object();
  if (then.pauses == now.pauses && !now.pauses.is_null()) then.pauses = SonicJson::object();
  return then;
}

/// Returns a line for each kind of port, with its names.
std::string port_lines(const Role& role, bool with_headroom, std::uint32_t frame_bytes) {
  std::string text;
  const bool leaf = std::ranges::find(role.ports, false, &SonicPort::trunk) != role.ports.end();
  for (auto from = role.ports.begin(); from != role.ports.end();) {
    const auto to = std::find_if(from, role.ports.end(), [from](const SonicPort& port) {
      return link_of(port) != link_of(*from);
    });
    const std::string names = from->name + (to - from == 1 ? "" : " to " + std::prev(to)->name);
    const std::string far = !from->trunk ? "hosts" : leaf ? "uplinks" : "switches";
    text += formatted("    %-28s %-14s %s, %s one way", names.c_str(),
                      (far + " (" + std::to_string(to - from) + ')').c_str(),
                      format_rate(from->rate).c_str(), format_duration(from->delay).c_str());
    if (with_headroom)
      text +=
          ", xoff " + std::to_string(device_headroom_bytes(from->rate, from->delay, frame_bytes));
    text += '\n';
    from = to;
  }
  return text;
}

/// Says which rates the standard has no reaction for.
std::string other_rates(const std::vector<Role>& roles) {
  std::set<BitRate> rates;
  for (const Role& role : roles)
    for (const SonicPort& port : role.ports) rates.insert(port.rate);
  std::string text;
  for (const BitRate rate : rates)
    if (const BitRate taken = pause_reaction(rate).rate; taken != rate)
      text += " The standard has no quanta for " + format_rate(rate) + ": those of " +
              format_rate(taken) + " are taken.";
  return text;
}

/// Says what the files hold, and what about them was not simulated.
std::string notes(const Case& advised, const Changes& changes, const std::vector<Role>& roles) {
  const SonicClasses classes = sonic_classes(advised);
  std::string text;
  if (!changes.maps.empty())
    text += "Classes change. CNPs have class " + classes.cnps +
            " of their own, with strict priority and without pauses; in the simulation they wait "
            "in the bursts' queue. DSCPs that are not named get class 0. ";
  if (!changes.queues.empty())
    text += "ECN thresholds or shares change, and are the same on all ports. ";
  if (!changes.pauses.empty())
    text +=
        "Pauses change. xoff is the headroom of each link for devices, which obey a pause after "
        "the quanta of IEEE 802.3; the simulation's hosts obey at once." +
        other_rates(roles) +
        " PFC_WD has SONiC's defaults, which were not measured. Leave BUFFER_POOL out where the "
        "switch has pools of these names, which must have the same mode. ";
  if (changes.pauses_end)
    text += "Pauses end: delete what BUFFER_PG, BUFFER_QUEUE and PFC_WD have for this class. ";
  return wrapped(text + "What is not in the files stays as it is.");
}

}  // namespace

SonicConfig sonic_config(const Case& today, const Case& advised, std::uint32_t frame_bytes) {
  const auto roles = roles_of(advised);
  const std::uint32_t largest_frame = longest_packet_bytes(advised) + kEthernetBytes;
  SonicConfig out;
  Changes changes;
  std::string ports;
  for (const Role& role : roles) {
    changes = changes_of(today, advised, role, frame_bytes);
    if (changes.queues.is_null() || changes.pauses.is_null())
      return {{},
              "Nothing is written for SONiC: its WRED cannot mark so, its dynamic_th ends at -8 "
              "and 7,\nor the buffer does not hold the headroom of devices.\n"};
    SonicJson json = changes.maps;
    json.merge_patch(changes.queues);
    json.merge_patch(changes.pauses);
    if (json.empty()) continue;
    const std::string name = roles.size() == 1 ? "sonic.json" : "sonic-" + role.name + ".json";
    ports += "  " + name +
             (role.switches == 1 ? "" : ", for " + std::to_string(role.switches) + " switches") +
             '\n' + port_lines(role, !changes.pauses.empty(), largest_frame);
    out.files.push_back({name, json.dump(2) + '\n'});
  }
  if (out.files.empty())
    return {{}, "The switches keep their settings: nothing is written for SONiC.\n"};
  out.text =
      "For SONiC, to be merged into config_db.json. Nobody has tried it on a switch. Names of "
      "ports are "
      "assumed:\n" +
      ports + notes(advised, changes, roles);
  if (!out.text.ends_with('\n')) out.text += '\n';
  return out;
}

}  // namespace outrider::lab
