#include "tools/lab/fabric/fabric_config.h"

#include <string_view>

namespace outrider::lab {
namespace {

constexpr std::uint32_t kMaxLeaves = 4096;
constexpr std::uint32_t kMaxSpines = 512;
constexpr std::uint32_t kMaxHostsPerLeaf = 1024;
constexpr std::uint32_t kMaxArity = 64;

bool is_tree(const FabricConfig& c) { return c.kind != FabricKind::kFile; }

/// Requires a key where the kind needs it and its absence elsewhere.
template <class T>
bool needs(const Checks& at, std::string_view key, const std::optional<T>& value, bool needed,
           std::string_view rule) {
  if (needed && !value) at.fault(key, rule);
  if (!needed && value) at.fault(key, "must be left out: " + std::string(rule));
  return needed && value;
}

void check_size(const Checks& at, const FabricConfig& c) {
  const bool leaf_spine = c.kind == FabricKind::kLeafSpine, fat = c.kind == FabricKind::kFatTree;
  if (needs(at, "leaves", c.leaves, leaf_spine, "kind = \"leaf_spine\" needs it, and it alone"))
    at.in_range("leaves", *c.leaves, 1, kMaxLeaves);
  if (needs(at, "spines", c.spines, leaf_spine, "kind = \"leaf_spine\" needs it, and it alone"))
    at.in_range("spines", *c.spines, 1, kMaxSpines);
  if (needs(at, "k", c.k, fat, "kind = \"fat_tree\" needs it, and it alone") &&
      at.in_range("k", *c.k, 2, kMaxArity))
    at.require(*c.k % 2 == 0, "k", std::to_string(*c.k), "must be even");
  if (fat && !c.hosts_per_leaf) return;
  if (needs(at, "hosts_per_leaf", c.hosts_per_leaf, is_tree(c),
            "kind = \"leaf_spine\" needs it, and a file lists its hosts"))
    at.in_range("hosts_per_leaf", *c.hosts_per_leaf, 1, kMaxHostsPerLeaf);
}

void check_tiers(const Checks& at, const FabricConfig& c) {
  const bool fat = c.kind == FabricKind::kFatTree;
  constexpr const char* kTree = "a fabric that is no file needs it, and a file lists its own";
  constexpr const char* kCores = "only kind = \"fat_tree\" has links to cores";
  if (needs(at, "host_rate", c.host_rate, is_tree(c), kTree)) at.rate("host_rate", *c.host_rate);
  if (needs(at, "host_delay", c.host_delay, is_tree(c), kTree))
    at.not_negative("host_delay", *c.host_delay);
  if (needs(at, "uplink_delay", c.uplink_delay, is_tree(c), kTree))
    at.not_negative("uplink_delay", *c.uplink_delay);
  if (c.core_rate && needs(at, "core_rate", c.core_rate, fat, kCores))
    at.rate("core_rate", *c.core_rate);
  if (c.core_delay && needs(at, "core_delay", c.core_delay, fat, kCores))
    at.not_negative("core_delay", *c.core_delay);
  if (c.oversubscription) {
    at.in_interval("oversubscription", *c.oversubscription, 0, 1000, false);
    if (c.uplink_rate) at.fault("oversubscription", "must be left out with uplink_rate");
    if (!is_tree(c)) at.fault("oversubscription", "must be left out: a file lists its rates");
  } else if (needs(at, "uplink_rate", c.uplink_rate, is_tree(c),
                   "a fabric that is no file needs it, or oversubscription in its place")) {
    at.rate("uplink_rate", *c.uplink_rate);
  }
}

void check_times(const Checks& at, const LinkFailure& f) {
  at.positive("at", f.at);
  if (f.until)
    at.require(*f.until > f.at, "until", format_duration(*f.until), "must be later than at");
  if (f.reroute_after) at.not_negative("reroute_after", *f.reroute_after);
}

}  // namespace

void check_failures(const Checks& at, const FabricConfig& c) {
  for (std::size_t i = 0; i < c.failures.size(); ++i)
    check_times(at.below("failure", i), c.failures[i]);
}

void check(const Checks& at, const FabricConfig& c) {
  check_size(at, c);
  check_tiers(at, c);
  check_failures(at, c);
  const bool file = c.kind == FabricKind::kFile;
  if (file && c.file.empty()) at.fault("file", "kind = \"file\" needs it");
  if (!file && !c.file.empty()) at.fault("file", "needs kind = \"file\"");
}

void describe(Settings& v, LinkFailure& c) {
  v.value("link", c.link, Presence::kRequired);
  v.duration("at", c.at, Presence::kRequired);
  v.duration("until", c.until);
  v.duration("reroute_after", c.reroute_after);
}

void describe(Settings& v, FabricConfig& c) {
  v.choice("kind", c.kind, kFabricKinds, Presence::kRequired);
  v.value("leaves", c.leaves);
  v.value("spines", c.spines);
  v.value("k", c.k);
  v.value("hosts_per_leaf", c.hosts_per_leaf);
  v.value("file", c.file);
  v.rate("host_rate", c.host_rate);
  v.duration("host_delay", c.host_delay);
  v.rate("uplink_rate", c.uplink_rate);
  v.duration("uplink_delay", c.uplink_delay);
  v.rate("core_rate", c.core_rate);
  v.duration("core_delay", c.core_delay);
  v.value("oversubscription", c.oversubscription);
  v.value("failed_links", c.failed_links);
  v.value("gray_links", c.gray_links);
  v.tables("failure", c.failures);
}

}  // namespace outrider::lab
