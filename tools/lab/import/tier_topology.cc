#include "tools/lab/import/tier_topology.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>
#include <vector>

#include "common/core/shortened.h"
#include "tools/lab/fabric/fabric_config.h"
#include "trafficgen/import/text_lines.h"

namespace outrider::lab {
namespace {

using TierWords = std::vector<std::string_view>;

constexpr std::uint64_t kMostGbps = 400;
constexpr std::uint64_t kMostRadix = 100'000;
constexpr std::uint64_t kMostLinks = 1'000'000;
constexpr std::uint64_t kMostLatency_ns = 10'000'000'000;

/// The numbers of switches and pods that follow from a topology.
struct TierCounts {
  explicit TierCounts(const TierTopology& t)
      : pods(t.nodes / t.pod_size),
        leaves_of_pod(t.pod_size / t.tier[0].radix_down),
        middle_of_pod(t.tier[0].radix_up / t.tier[1].bundle),
        tops_of_middle(t.tiers == 3 ? t.tier[1].radix_up / t.tier[2].bundle : 0) {}
  std::uint64_t pods, leaves_of_pod, middle_of_pod;
  std::uint64_t tops_of_middle;  ///< switches of the top tier to which one of the middle has links

  [[nodiscard]] std::uint64_t leaves() const { return pods * leaves_of_pod; }
  [[nodiscard]] std::uint64_t middle() const { return pods * middle_of_pod; }
  [[nodiscard]] std::uint64_t tops() const { return middle_of_pod * tops_of_middle; }
};

/// Takes the lines one after the other.
class TierReader {
 public:
  void take(std::size_t line, const TierWords& words) {
    line_ = line;
    if (issues_.has_more()) return;
    std::string key(words.front());
    std::ranges::transform(key, key.begin(), [](unsigned char c) { return std::tolower(c); });
    const auto value = words.size() == 2 ? tg::whole_number_of(words[1]) : std::nullopt;
    if (!value)
      return fault("\"" + shortened(key, kShownValue_bytes) +
                   "\": must be a key and a whole number");
    if (key == "tier") return begin_tier(*value);
    set(key, *value);
  }

  ConfigResult<TierTopology> result() {
    check_head();
    for (std::size_t i = 0; i < topology_.tiers && issues_.empty(); ++i) check_tier(i);
    if (issues_.empty()) check_whole();
    if (!issues_.empty()) return {{}, std::move(issues_)};
    return {topology_, {}};
  }

 private:
  void fault(const std::string& rule) { issues_.push_back(tg::line_issue(line_, rule)); }
  void refuse(const std::string& rule) { issues_.push_back({"", rule}); }

  void begin_tier(std::uint64_t number) {
    if (number > 2) return fault("Tier " + std::to_string(number) + ": must be from 0 to 2");
    current_ = number;
  }

  void set(const std::string& key, std::uint64_t value) {
    const auto within = [&](std::uint64_t& into, std::uint64_t least, std::uint64_t most) {
      if (value < least || value > most)
        fault(key + " " + std::to_string(value) + ": must be from " + std::to_string(least) +
              " to " + std::to_string(most));
      else into = value;
    };
    if (key == "nodes") return within(topology_.nodes, 2, kMaxFabricHosts);
    if (key == "tiers") return within(topology_.tiers, 2, 3);
    if (key == "podsize") return within(topology_.pod_size, 1, kMaxFabricHosts);
    if (key == "oversubscribed" || key == "queue_up" || key == "queue_down") return;
    if (!current_) return fault(key + ": must be Nodes, Tiers or Podsize before the first Tier");
    TopologyTier& tier = topology_.tier[*current_];
    if (key == "downlink_speed_gbps") return within(tier.down_gbps, 1, kMostGbps);
    if (key == "radix_down") return within(tier.radix_down, 1, kMostRadix);
    if (key == "radix_up") return within(tier.radix_up, 1, kMostRadix);
    if (key == "bundle") return within(tier.bundle, 1, kMostRadix);
    if (key == "downlink_latency_ns") return within(tier.down_latency_ns, 0, kMostLatency_ns);
    if (key == "switch_latency_ns") return within(tier.switch_latency_ns, 0, kMostLatency_ns);
    fault("\"" + shortened(key, kShownValue_bytes) + "\": is no key of a tier");
  }

  void check_head() {
    if (topology_.nodes == 0) refuse("needs Nodes");
    if (topology_.tiers == 0) refuse("needs Tiers");
    if (topology_.pod_size == 0) refuse("needs Podsize");
  }

  void check_tier(std::size_t i) {
    const TopologyTier& tier = topology_.tier[i];
    const std::string name = "Tier " + std::to_string(i);
    if (tier.down_gbps == 0) refuse(name + " needs Downlink_speed_Gbps");
    if (tier.radix_down == 0) refuse(name + " needs Radix_Down");
    if (i + 1 == topology_.tiers) return;
    if (tier.radix_up == 0) return refuse(name + " needs Radix_Up");
    if (tier.radix_up % topology_.tier[i + 1].bundle != 0)
      refuse(name + ": Radix_Up must be a multiple of the Bundle of the tier above");
  }

  void check_whole() {
    const TierTopology& t = topology_;
    if (t.tier[0].bundle != 1) return refuse("Tier 0: Bundle must be 1: a host has one link");
    if (t.nodes % t.pod_size != 0 || t.pod_size % t.tier[0].radix_down != 0)
      return refuse("Nodes must be a multiple of Podsize, and that of Tier 0's Radix_Down");
    if (t.tiers == 2 && t.nodes != t.pod_size)
      return refuse("Podsize must be Nodes with two tiers: pods are joined by a third");
    const TierCounts n(t);
    if (n.leaves_of_pod * t.tier[1].bundle != t.tier[1].radix_down)
      return refuse("Tier 1: Radix_Down must be the switches of tier 0 in a pod times Bundle, " +
                    std::to_string(n.leaves_of_pod * t.tier[1].bundle));
    if (t.tiers == 3 && n.pods * t.tier[2].bundle != t.tier[2].radix_down)
      return refuse("Tier 2: Radix_Down must be the pods times Bundle, " +
                    std::to_string(n.pods * t.tier[2].bundle));
    const std::uint64_t links =
        t.nodes + n.leaves() * t.tier[0].radix_up + n.middle() * t.tier[1].radix_up;
    if (links > kMostLinks)
      return refuse("makes " + std::to_string(links) + " links: must be at most " +
                    std::to_string(kMostLinks));
    if (n.leaves() + n.middle() + n.tops() > kMaxFabricSwitches)
      refuse("makes " + std::to_string(n.leaves() + n.middle() + n.tops()) +
             " switches: must be at most " + std::to_string(kMaxFabricSwitches));
  }

  std::size_t line_ = 0;
  std::optional<std::size_t> current_;
  TierTopology topology_;
  ConfigIssues issues_;
};

/// Adds the lines of the links between two nodes.
void add_links(std::uint64_t lower, std::uint64_t upper, const TopologyTier& tier,
               std::string& text) {
  for (std::uint64_t i = 0; i < tier.bundle; ++i)
    text += std::to_string(lower) + ' ' + std::to_string(upper) + ' ' +
            std::to_string(tier.down_gbps) + "Gbps " +
            std::to_string(tier.down_latency_ns + tier.switch_latency_ns) + "ns 0\n";
}

}  // namespace

ConfigResult<TierTopology> parse_tier_topology(std::string_view text) {
  TierReader reader;
  tg::for_each_line(text, [&](std::size_t line, const TierWords& w) { reader.take(line, w); });
  return reader.result();
}

std::string hpcc_text_of(const TierTopology& t) {
  const TierCounts n(t);
  const std::uint64_t first_leaf = t.nodes, first_middle = first_leaf + n.leaves(),
                      first_top = first_middle + n.middle(), end = first_top + n.tops();
  std::string links;
  for (std::uint64_t host = 0; host < t.nodes; ++host)
    add_links(host, first_leaf + host / t.tier[0].radix_down, t.tier[0], links);
  for (std::uint64_t leaf = 0; leaf < n.leaves(); ++leaf)
    for (std::uint64_t i = 0; i < n.middle_of_pod; ++i)
      add_links(first_leaf + leaf, first_middle + leaf / n.leaves_of_pod * n.middle_of_pod + i,
                t.tier[1], links);
  for (std::uint64_t middle = 0; middle < n.middle(); ++middle)
    for (std::uint64_t i = 0; i < n.tops_of_middle; ++i)
      add_links(first_middle + middle, first_top + middle % n.middle_of_pod + n.middle_of_pod * i,
                t.tier[2], links);
  std::string text = std::to_string(end) + ' ' + std::to_string(end - first_leaf) + ' ' +
                     std::to_string(std::ranges::count(links, '\n')) + '\n';
  for (std::uint64_t s = first_leaf; s < end; ++s) text += std::to_string(s) + ' ';
  return text + '\n' + links;
}

}  // namespace outrider::lab
