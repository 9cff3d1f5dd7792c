// Goal: a fabric's switches, links and places are those of its kind, its longest round trip is
// right, and what cannot be built is refused by the user's key.
#include "tools/lab/fabric/fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "common/config/config_file.h"

namespace outrider::fabric_test {
using namespace lab;
using namespace std::chrono_literals;
using testing::HasSubstr;
namespace {

ConfigResult<FabricConfig> read(const std::string& text) {
  ConfigResult<FabricConfig> result{FabricConfig{}, {}};
  const auto table = parse_toml(text);
  EXPECT_TRUE(table);
  read_config(*table.config, "fabric", *result.config, result.issues);
  return result;
}

Fabric built(const std::string& text) {
  const auto config = read(text);
  EXPECT_TRUE(config.issues.empty()) << format_issues("", config.issues);
  ConfigIssues issues;
  auto fabric = build_fabric(*config.config, ".", issues);
  EXPECT_TRUE(fabric) << format_issues("", issues);
  return fabric.value_or(Fabric{});
}

std::string faults(const std::string& text) {
  const auto config = read(text);
  ConfigIssues issues = config.issues;
  if (issues.empty()) {
    EXPECT_FALSE(build_fabric(*config.config, ".", issues));
  }
  return format_issues("", issues);
}

constexpr const char* kLeafSpine = R"(
kind = "leaf_spine"
leaves = 3
spines = 2
hosts_per_leaf = 4
host_rate = "25gbit"
host_delay = "1us"
uplink_delay = "2us"
)";
constexpr const char* kFatTree = R"(
kind = "fat_tree"
k = 4
host_rate = "10gbit"
host_delay = "1us"
uplink_rate = "10gbit"
uplink_delay = "2us"
core_rate = "40gbit"
core_delay = "3us"
)";

std::map<std::string, int> degrees(const Fabric& f) {
  std::map<std::string, int> found;
  for (const auto& t : f.trunks) {
    ++found[t.a];
    ++found[t.b];
  }
  return found;
}

TEST(Fabric, LeafSpineJoinsEveryLeafToEverySpine) {
  const Fabric f = built(std::string(kLeafSpine) + "oversubscription = 2\n");
  EXPECT_EQ(f.switches.size(), 5U);
  EXPECT_EQ(f.trunks.size(), 6U);
  EXPECT_EQ(f.slots.size(), 12U);
  for (const auto& t : f.trunks)
    EXPECT_EQ(t.rate.bits_per_second, 25'000'000'000U) << "4 x 25 Gbit/s over 2 uplinks over 2";
  EXPECT_EQ(degrees(f)["leaf_2"], 2);
  EXPECT_EQ(degrees(f)["spine_0"], 3);
  EXPECT_EQ(longest_rtt(f), 12us) << "2 x (1 + 2 + 2 + 1)";
}

TEST(Fabric, FatTreeHasPodsAndCores) {
  const Fabric f = built(kFatTree);
  EXPECT_EQ(f.switches.size(), 8U + 8 + 4);
  EXPECT_EQ(f.slots.size(), 16U) << "k^3 / 4";
  EXPECT_EQ(f.trunks.size(), 16U + 16);
  for (const auto& [name, degree] : degrees(f))
    EXPECT_EQ(degree, name.starts_with("leaf") ? 2 : 4) << name << ": k ports, hosts at leaves";
  const auto joined = [&f](const char* a, const char* b) {
    return std::ranges::any_of(f.trunks, [&](const auto& t) { return t.a == a && t.b == b; });
  };
  EXPECT_TRUE(joined("leaf_3", "aggregation_2")) << "pod 1 has leaves and aggregations 2 and 3";
  EXPECT_FALSE(joined("leaf_3", "aggregation_1"));
  EXPECT_TRUE(joined("aggregation_3", "core_2")) << "the second of each pod: cores 2 and 3";
  EXPECT_FALSE(joined("aggregation_3", "core_1"));
  EXPECT_EQ(longest_rtt(f), 24us) << "2 x (1 + 2 + 3 + 3 + 2 + 1)";
}

TEST(Fabric, FailedLinksAreGoneAndGrayOnesStay) {
  const Fabric f = built(std::string(kLeafSpine) +
                         "uplink_rate = \"1gbit\"\nfailed_links = [\"spine_1.to_leaf_0\"]\n"
                         "gray_links = [\"leaf_1.to_spine_0\"]\n");
  EXPECT_EQ(f.trunks.size(), 5U);
  EXPECT_EQ(degrees(f)["leaf_0"], 1);
  for (const auto& t : f.trunks) EXPECT_EQ(t.gray, t.a == "leaf_1" && t.b == "spine_0") << t.a;
}

TEST(Fabric, RefusesWhatItCannotBuild) {
  const std::string tree = kFatTree, leaf_spine = kLeafSpine;
  struct Row {
    std::string text, problem;
  };
  const Row rows[] = {
      {tree + "leaves = 3\n", "fabric.leaves: must be left out"},
      {"kind = \"fat_tree\"\nk = 5\nhost_rate = \"1gbit\"\nhost_delay = \"1us\"\n"
       "uplink_rate = \"1gbit\"\nuplink_delay = \"1us\"\n",
       "fabric.k: 5: must be even"},
      {leaf_spine, "fabric.uplink_rate: a fabric that is no file needs it"},
      {leaf_spine + "uplink_rate = \"1gbit\"\noversubscription = 2\n",
       "fabric.oversubscription: must be left out with uplink_rate"},
      {leaf_spine + "uplink_rate = \"1gbit\"\ncore_rate = \"1gbit\"\n",
       "fabric.core_rate: must be left out: only kind = \"fat_tree\""},
      {leaf_spine + "uplink_rate = \"1gbit\"\nfailed_links = [\"leaf_0.to_spine_2\"]\n",
       "fabric.failed_links: \"leaf_0.to_spine_2\": is no link of the fabric"},
      {leaf_spine + "uplink_rate = \"1gbit\"\n[[failure]]\nlink = \"leaf_3.to_spine_0\"\n"
                    "at = \"1ms\"\n",
       "fabric.failure[0].link: \"leaf_3.to_spine_0\": is no link of the fabric"},
      {leaf_spine + "uplink_rate = \"1gbit\"\n[[failure]]\nlink = \"leaf_0.to_spine_0\"\n"
                    "at = \"2ms\"\nuntil = \"2ms\"\n",
       "fabric.failure[0].until: 2ms: must be later than at"},
      {leaf_spine + "uplink_rate = \"1gbit\"\n[[failure]]\nlink = \"leaf_0.to_spine_0\"\n"
                    "at = \"0s\"\n",
       "fabric.failure[0].at"},
      {"kind = \"file\"\n", "fabric.file: kind = \"file\" needs it"},
      {"kind = \"file\"\nfile = \"missing.txt\"\n", "fabric.file: \"missing.txt\": "},
      {"kind = \"ring\"\n", "fabric.kind"},
  };
  for (const Row& row : rows) EXPECT_THAT(faults(row.text), HasSubstr(row.problem));
}

}  // namespace
}  // namespace outrider::fabric_test
