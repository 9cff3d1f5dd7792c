#include "tools/lab/fabric/topology_file.h"

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/config/quantities.h"
#include "common/config/text_file.h"
#include "common/core/shortened.h"
#include "trafficgen/import/text_lines.h"

namespace outrider::lab {
namespace {

using Json = nlohmann::json;

/// A link as the files have it: between two nodes, which may be hosts.
struct ListedLink {
  std::size_t a = 0, b = 0;  ///< indices of nodes
  BitRate rate{};
  Duration delay{};
  double loss = 0;
  std::string place{};  ///< for messages: "line 5", "links[2]"
};

struct ListedNode {
  std::string name;  ///< for messages
  bool host = false;
};

/// Reads "100Gbps" of simulators as "100gbit", and "25000000000.0" as bit/s.
Parsed<BitRate> read_rate(std::string text) {
  constexpr double kMostBits_per_second = 1e15;  // a double holds each whole number up to there
  if (const auto bits = tg::number_of(text)) {
    if (*bits >= 1 && *bits <= kMostBits_per_second)
      return {BitRate{static_cast<std::uint64_t>(*bits)}, {}};
    return {{}, "must be from 1 to 1e15 bit/s"};
  }
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  if (text.ends_with("bps")) text.replace(text.size() - 3, 3, "bit");
  return parse_rate(text);
}

constexpr std::size_t kMostNics = 16;  ///< of a host

/// Makes switches, trunks and slots of nodes and links.
class FabricMaker {
 public:
  FabricMaker(std::vector<ListedNode> nodes, ConfigIssues& issues)
      : nodes_(std::move(nodes)), issues_(issues), index_(nodes_.size()), nics_(nodes_.size()) {
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].host) continue;
      index_[i] = fabric_.switches.size();
      fabric_.switches.push_back({.name = "switch_" + nodes_[i].name});
    }
  }

  void add(const ListedLink& link) {
    const auto& [a, b] = std::minmax(link.a, link.b);
    if (a == b) return fault(link, "joins a node to itself");
    if (link.rate.bits_per_second == 0) return fault(link, "has a rate of 0");
    if (nodes_[a].host && nodes_[b].host) return fault(link, "joins two hosts");
    if (nodes_[a].host || nodes_[b].host) return plug(link, nodes_[a].host ? a : b);
    fabric_.trunks.push_back({.a = fabric_.switches[index_[link.a]].name,
                              .b = fabric_.switches[index_[link.b]].name,
                              .rate = link.rate,
                              .delay = link.delay,
                              .loss = link.loss,
                              .parallel = joined_[{a, b}]++});
  }

  std::optional<Fabric> made() {
    for (std::size_t i = 0; i < nodes_.size() && !issues_.has_more(); ++i)
      if (nodes_[i].host && nics_[i] == 0)
        issues_.push_back({"", "host " + nodes_[i].name + " has no link"});
    if (!issues_.empty()) return std::nullopt;
    std::ranges::stable_sort(fabric_.slots, {}, &FabricSlot::at_switch);
    return std::move(fabric_);
  }

 private:
  void fault(const ListedLink& link, const std::string& problem) {
    issues_.push_back({link.place, problem});
  }

  void plug(const ListedLink& link, std::size_t host) {
    if (nics_[host] == kMostNics)
      return fault(link, "host " + nodes_[host].name + " has more than " +
                             std::to_string(kMostNics) + " links");
    if (fabric_.slots.size() == kMaxFabricHosts)
      return fault(link,
                   "is one of more than " + std::to_string(kMaxFabricHosts) + " links of hosts");
    const std::size_t at = link.a == host ? link.b : link.a;
    fabric_.slots.push_back({index_[at], link.rate, link.delay, link.loss, host, nics_[host]++});
  }

  std::vector<ListedNode> nodes_;
  ConfigIssues& issues_;
  std::vector<std::size_t> index_;  ///< of a node that is a switch, in Fabric::switches
  std::vector<std::size_t> nics_;   ///< [node] links of a host so far
  std::map<std::pair<std::size_t, std::size_t>, std::uint32_t> joined_;  ///< links between switches
  Fabric fabric_;
};

using Words = std::vector<std::string_view>;

/// Takes HPCC's lines one after the other.
class HpccReader {
 public:
  explicit HpccReader(ConfigIssues& issues) : issues_(issues) {}

  void take(std::size_t line, const Words& words) {
    line_ = line;
    if (issues_.has_more()) return;
    if (nodes_.empty()) return take_counts(words);
    if (switches_seen_ < switches_) return take_switches(words);
    if (links_.size() + faulty_ < link_count_) take_link(words);
  }

  std::optional<Fabric> made() {
    if (nodes_.empty() && issues_.empty())
      issues_.push_back({"", "is empty: no numbers of nodes, switches and links"});
    if (issues_.empty() && links_.size() < link_count_)
      fault("ends after " + std::to_string(links_.size()) + " of " + std::to_string(link_count_) +
            " links");
    if (!issues_.empty()) return std::nullopt;
    FabricMaker maker(std::move(nodes_), issues_);
    for (const auto& link : links_) maker.add(link);
    return maker.made();
  }

 private:
  void fault(const std::string& rule) { issues_.push_back(tg::line_issue(line_, rule)); }

  void take_counts(const Words& words) {
    std::vector<std::uint64_t> numbers;
    for (const auto word : words)
      if (const auto n = tg::whole_number_of(word)) numbers.push_back(*n);
    const auto most = kMaxFabricHosts + kMaxFabricSwitches;
    const bool nodes_known = !numbers.empty() && numbers[0] > 0 && numbers[0] <= most;
    nodes_.resize(nodes_known ? numbers[0] : most);
    for (std::size_t i = 0; i < nodes_.size(); ++i) nodes_[i] = {std::to_string(i), true};
    const std::size_t count = numbers.size();
    counted_ = words.size() == count && (count == 3 || count == 4) && nodes_known &&
               numbers[1] > 0 && numbers[1] <= numbers[0] &&
               (count == 3 || numbers[2] <= numbers[1]);
    if (counted_) {
      switches_ = numbers[1];
      link_count_ = numbers[count - 1];
      return;
    }
    fault("must hold three numbers: of nodes (to " + std::to_string(most) +
          "), of switches among them (from 1) and of links; or four, with that of switches that "
          "have hosts before the last; it holds \"" +
          text_of(words) + '"');
    switches_ =
        1;  // the next line lists switches, and all others are links: they may be faulty too
    link_count_ = std::numeric_limits<std::size_t>::max();
  }

  std::optional<std::size_t> node(std::string_view word) {
    const auto n = tg::whole_number_of(word);
    if (n && *n < nodes_.size()) return *n;
    fault("\"" + std::string(word) + "\": is no node, 0 to " + std::to_string(nodes_.size() - 1));
    return std::nullopt;
  }

  void take_switches(const Words& words) {
    for (const auto word : words) {
      const auto n = node(word);
      if (issues_.has_more()) return;
      if (n && !nodes_[*n].host) fault("switch " + std::string(word) + " is listed twice");
      if (n) nodes_[*n].host = false;
      ++switches_seen_;
    }
    if (counted_ && switches_seen_ > switches_)
      fault("must hold " + std::to_string(switches_) + " switches");
  }

  void take_link(const Words& words) {
    if (!counted_ && words.size() != 5) return;  // may be a comment behind the links
    ++faulty_;
    if (words.size() != 5) return fault("must hold two nodes, rate, delay and error rate");
    const auto a = node(words[0]), b = node(words[1]);
    const auto rate = read_rate(std::string(words[2]));
    const auto delay = parse_duration(words[3]);
    const auto errors = tg::number_of(words[4]);
    if (!rate.value) fault("rate \"" + std::string(words[2]) + "\": " + rate.problem);
    if (!delay.value) fault("delay \"" + std::string(words[3]) + "\": " + delay.problem);
    if (!errors || *errors < 0 || *errors > 1)
      fault("error rate \"" + std::string(words[4]) + "\": must be a share from 0 to 1");
    if (!a || !b || !rate.value || !delay.value) return;
    --faulty_;
    links_.push_back({.a = *a,
                      .b = *b,
                      .rate = *rate.value,
                      .delay = *delay.value,
                      .loss = errors.value_or(0),
                      .place = "line " + std::to_string(line_)});
  }

  static std::string text_of(const Words& words) {
    std::string text;
    for (const auto word : words) (text += text.empty() ? "" : " ") += word;
    return shortened(text, kShownValue_bytes);
  }

  ConfigIssues& issues_;
  std::size_t line_ = 0;
  std::vector<ListedNode> nodes_;
  bool counted_ = false;  ///< the first line says how many switches and links there are
  std::size_t switches_ = 0, switches_seen_ = 0;
  std::size_t link_count_ = 0, faulty_ = 0;  ///< lines of links, and those with a fault
  std::vector<ListedLink> links_;
};

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Returns the text of an attribute; empty, with a fault, if it has none.
std::string attribute(const Json& object, const char* key, const std::string& place,
                      ConfigIssues& issues) {
  if (const auto it = object.find(key); it != object.end() && it->is_string())
    return it->get<std::string>();
  issues.push_back({place, std::string("needs \"") + key + "\" as a text"});
  return {};
}

std::vector<ListedNode> read_nodes(const Json& nodes, std::map<std::string, std::size_t>& index,
                                   ConfigIssues& issues, bool& typed) {
  std::vector<ListedNode> found;
  for (const auto& node : nodes) {
    if (issues.has_more()) break;
    const std::string place = "nodes[" + std::to_string(found.size()) + "]";
    const auto id = node.is_object() ? node.find("id") : node.end();
    if (!node.is_object() || id == node.end()) {
      issues.push_back({place, "needs \"id\""});
      found.emplace_back();
      continue;
    }
    const auto type = node.find("type");
    typed |= type != node.end();
    found.push_back({text_of(*id), type != node.end() && *type == "host"});
    if (found.back().name.find_first_of(". /") != std::string::npos)
      issues.push_back({place, "\"id\" must not hold a dot, a blank or a slash"});
    if (!index.emplace(found.back().name, found.size() - 1).second)
      issues.push_back({place, "\"" + found.back().name + "\" is used twice"});
  }
  return found;
}

std::optional<ListedLink> read_link(const Json& link, const std::string& place,
                                    const std::map<std::string, std::size_t>& index,
                                    ConfigIssues& issues) {
  const std::size_t before = issues.found();
  if (!link.is_object()) {
    issues.push_back({place, "must be an object"});
    return std::nullopt;
  }
  const auto end = [&](const char* key) -> std::size_t {
    const auto it = link.find(key);
    const auto node = it == link.end() ? index.end() : index.find(text_of(*it));
    if (node != index.end()) return node->second;
    issues.push_back({place, std::string("\"") + key + "\" must be the id of a node"});
    return 0;
  };
  ListedLink listed{.a = end("source"), .b = end("target"), .place = place};
  const auto rate = read_rate(attribute(link, "rate", place, issues));
  const auto delay = parse_duration(attribute(link, "delay", place, issues));
  if (issues.found() == before && !rate.value) issues.push_back({place, "rate: " + rate.problem});
  if (issues.found() == before && !delay.value)
    issues.push_back({place, "delay: " + delay.problem});
  if (issues.found() != before) return std::nullopt;
  listed.rate = *rate.value;
  listed.delay = *delay.value;
  return listed;
}

}  // namespace

std::optional<Fabric> parse_hpcc_topology(std::string_view text, ConfigIssues& issues) {
  HpccReader reader(issues);
  tg::for_each_line(text, [&](std::size_t line, const Words& words) { reader.take(line, words); });
  return reader.made();
}

std::optional<Fabric> parse_node_link(std::string_view text, ConfigIssues& issues) {
  const Json file = Json::parse(text, nullptr, false);
  const auto list = [&file](const char* key) {
    return file.is_object() && file.contains(key) && file[key].is_array() ? &file[key] : nullptr;
  };
  const Json* nodes = list("nodes");
  const Json* links = list("links") != nullptr ? list("links") : list("edges");
  if (nodes == nullptr || links == nullptr) {
    issues.push_back({"", R"(must be JSON with the lists "nodes" and "links" (or "edges"))"});
    return std::nullopt;
  }
  std::map<std::string, std::size_t> index;
  bool typed = false;
  std::vector<ListedNode> listed = read_nodes(*nodes, index, issues, typed);
  std::vector<ListedLink> read;
  std::vector<std::size_t> degrees(listed.size());
  for (std::size_t i = 0; i < links->size() && !issues.has_more(); ++i) {
    const auto link = read_link((*links)[i], "links[" + std::to_string(i) + "]", index, issues);
    if (!link) continue;
    ++degrees[link->a];
    ++degrees[link->b];
    read.push_back(*link);
  }
  if (!issues.empty()) return std::nullopt;
  for (std::size_t i = 0; i < listed.size() && !typed; ++i) listed[i].host = degrees[i] == 1;
  FabricMaker maker(std::move(listed), issues);
  for (const auto& link : read) maker.add(link);
  return maker.made();
}

std::optional<Fabric> load_topology(const std::string& path, ConfigIssues& issues) {
  const auto text = read_text_file(path, tg::kMaxImportMib);
  if (!text) {
    issues.push_back({"", text.issues.front().problem});
    return std::nullopt;
  }
  return path.ends_with(".json") ? parse_node_link(*text.config, issues)
                                 : parse_hpcc_topology(*text.config, issues);
}

}  // namespace outrider::lab
