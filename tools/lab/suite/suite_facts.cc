#include "tools/lab/suite/suite_facts.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>

#include "tools/lab/experiment/summary_points.h"

namespace outrider::lab {
namespace {

/// Settings whose names hold `part` belong to `section`; the first row that fits holds.
struct SectionRow {
  std::string_view part;
  std::string_view section;
};
constexpr SectionRow kSections[] = {
    {"lossless", "PFC"},
    {"pause", "PFC"},
    {"priority", "PFC"},
    {"marker", "ECN thresholds"},
    {"ecn", "ECN thresholds"},
    {"roce.dcqcn", "DCQCN and transport"},
    {"flowlet", "load balancing"},
    {"paths", "load balancing"},
    {"queue_pairs", "load balancing"},
    {"transport.", "DCQCN and transport"},
    {"switch.", "buffers and queues"},
    {"", "load, and other settings"},
};

std::string_view section_of(std::string_view setting) {
  return std::ranges::find_if(
             kSections,
             [setting](const SectionRow& row) { return setting.find(row.part) != setting.npos; })
      ->section;
}

std::size_t place_of_section(std::string_view section) {
  constexpr std::array<std::string_view, 6> kOrder{
      "ECN thresholds",      "PFC",
      "DCQCN and transport", "load balancing",
      "buffers and queues",  "load, and other settings"};
  return static_cast<std::size_t>(std::ranges::find(kOrder, section) - kOrder.begin());
}

/// Parameters that no test plan asks for where they have their defaults.
bool is_of_interest(const std::string& name) {
  return name.find('.') != name.npos || name == "paths" || name == "workers" || name == "servers" ||
         name == "rate_factor" || name == "host_placement";
}

/// Returns "leaf" of "leaf_3": what a tier is called.
std::string tier_of(const std::string& switch_name) {
  const std::size_t end = switch_name.find_last_not_of("0123456789");
  if (end == switch_name.npos || end + 1 == switch_name.size() || switch_name[end] != '_')
    return switch_name;
  return switch_name.substr(0, end);
}

/// Returns "4 x leaf, 2 x spine" of their numbers.
std::string numbered_text(const std::map<std::string, std::size_t>& numbers) {
  std::string text;
  for (const auto& [name, number] : numbers)
    text += (text.empty() ? "" : ", ") + std::to_string(number) + " x " + name;
  return text;
}

}  // namespace

SuiteFacts topology_of(const ExperimentFile& e) {
  SuiteFacts facts;
  std::map<std::string, std::size_t> switches, links, places;
  for (const SwitchEntry& s : e.switches) ++switches[tier_of(s.name)];
  for (const TrunkEntry& t : e.trunks)
    ++links[tier_of(t.a) + " to " + tier_of(t.b) + " at " + format_rate(t.rate)];
  for (const FabricSlot& slot : e.slots) ++places[format_rate(slot.rate)];
  facts.emplace_back("switches", numbered_text(switches));
  if (!links.empty()) facts.emplace_back("links", numbered_text(links));
  if (!places.empty()) facts.emplace_back("places for hosts", numbered_text(places));
  facts.emplace_back("longest round trip", format_duration(e.network.rtt));
  std::string measured;
  for (const std::string& port : e.network.measured)
    measured += (measured.empty() ? "" : ", ") + port;
  if (!measured.empty()) facts.emplace_back("measured queue", measured);
  return facts;
}

SuiteFacts hosts_of(const ExperimentFile& e) {
  SuiteFacts facts;
  for (const HostGroupEntry& group : e.hosts) {
    std::string text = format_host_count(group.count) +
                       (group.count.parameter.empty() ? "" : ", as the settings have it");
    if (group.of_job) {
      const ListedJob& job = e.jobs[*group.of_job];
      const CaseParameters own = parameters_of(job, e.parameters, e.network.rtt);
      const bool serves = group.name == job.name + "_server";
      if (serves && !has_servers(own)) continue;
      text = std::to_string(serves ? own.servers : own.workers);
    }
    if (group.rate.bits_per_second != 0) text += "; NIC at " + format_rate(group.rate);
    facts.emplace_back(group.name,
                       text + "; IP packets of at most " + std::to_string(group.mtu_bytes) + " B");
  }
  return facts;
}

std::vector<SuiteSetting> configuration_of(const Results& results) {
  std::vector<SuiteSetting> all;
  for (const ArmSummary& arm : results.arms)
    for (const auto& [name, value] : arm.parameters) {
      if (!is_of_interest(name)) continue;
      auto it = std::ranges::find(all, name, &SuiteSetting::name);
      if (it == all.end())
        it = all.insert(all.end(), {.section = std::string(section_of(name)), .name = name});
      const std::string text = text_of(value);
      if (std::ranges::find(it->values, text) == it->values.end()) it->values.push_back(text);
    }
  std::ranges::stable_sort(all, {},
                           [](const SuiteSetting& s) { return place_of_section(s.section); });
  return all;
}

}  // namespace outrider::lab
