// Goal: what is written for SONiC is JSON that refers to nothing that it does not have, in bytes,
// and says what the arm changes. Method: arms of conf/advise/roce-storage.toml.
#include "tools/lab/advise/sonic_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/config/config_file.h"
#include "common/config/text_file.h"
#include "tests/support/source_path.h"
#include "tools/lab/advise/advised_experiment.h"
#include "tools/lab/plan/plan.h"

namespace outrider::sonic_config_test {
using namespace lab;
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;

using Entry = std::map<std::string, std::string>;
using Tables = std::map<std::string, std::map<std::string, Entry>>;

/// The setting of the file that says when a pause is due.
const std::string kFixed = "switch.queue.lossless.xoff_bytes = \"200kB\"\n";

std::vector<Case> cases_of(const std::string& label, const std::string& pauses) {
  const std::string conf = source_path("conf");
  std::string text = *read_text_file(conf + "/advise/roce-storage.toml", 1).config;
  text.replace(text.find(kFixed), kFixed.size(), pauses);
  auto table = parse_toml(text);
  EXPECT_TRUE(table) << format_issues("t", table.issues);
  (*table.config)["name"] = ConfigValue(std::string("advise"));
  const auto file = advised_from(*table.config, conf + "/advise");
  EXPECT_TRUE(file) << format_issues("f", file.issues);
  const auto e = experiment_from(
      experiment_of(*file.config, {.name = "t", .arms = {"off", label}}, conf), "/");
  EXPECT_TRUE(e) << format_issues("e", e.issues);
  const auto plan = make_plan(*e.config, {.seeds = 1, .arms = {label}});
  EXPECT_TRUE(plan) << format_issues("p", plan.issues);
  return *plan.config;
}

const Case& find(const std::vector<Case>& cases, const std::string& label) {
  return *std::ranges::find(cases, label, &Case::label);
}

constexpr std::uint32_t kFrameBytes = 4154;

/// What an arm changes, by the names of files.
struct Told {
  std::map<std::string, Tables> files{};
  std::string text{};
};

Told told(const Case& today, const Case& advised) {
  const SonicConfig config = sonic_config(today, advised, kFrameBytes);
  Told out{.text = config.text};
  std::ranges::replace(out.text, '\n', ' ');
  for (const SonicFile& file : config.files)
    out.files[file.name] = nlohmann::json::parse(file.json).get<Tables>();
  return out;
}

Told told(const std::string& label, const std::string& pauses = kFixed) {
  const auto cases = cases_of(label, pauses);
  return told(find(cases, "off"), find(cases, label));
}

Tables leaf_of(const std::string& label, const std::string& pauses = kFixed) {
  return told(label, pauses).files["sonic-leaf.json"];
}

std::vector<std::string> names_of(const Tables& tables) {
  std::vector<std::string> names;
  for (const auto& [name, entries] : tables) names.push_back(name);
  return names;
}

/// A reference to an entry of another table.
void expect_references(const Tables& t) {
  const auto expect = [&t](const std::string& table, const std::string& field,
                           const std::string& other) {
    if (!t.contains(table)) return;
    for (const auto& [name, entry] : t.at(table)) {
      if (!entry.contains(field)) continue;
      EXPECT_TRUE(t.contains(other) && t.at(other).contains(entry.at(field)))
          << table << " " << name << " " << field;
    }
  };
  expect("QUEUE", "wred_profile", "WRED_PROFILE");
  expect("QUEUE", "scheduler", "SCHEDULER");
  expect("BUFFER_PG", "profile", "BUFFER_PROFILE");
  expect("BUFFER_QUEUE", "profile", "BUFFER_PROFILE");
  expect("BUFFER_PROFILE", "pool", "BUFFER_POOL");
  expect("PORT_QOS_MAP", "dscp_to_tc_map", "DSCP_TO_TC_MAP");
  expect("PORT_QOS_MAP", "tc_to_queue_map", "TC_TO_QUEUE_MAP");
  expect("PORT_QOS_MAP", "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP");
  expect("PORT_QOS_MAP", "pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE");
}

TEST(SonicConfig, HasWhatChangesAlone) {
  Tables t = leaf_of("off-red-hpcc");
  expect_references(t);
  EXPECT_THAT(names_of(t), ElementsAre("QUEUE", "WRED_PROFILE"));
  EXPECT_EQ(t["WRED_PROFILE"]["OUTRIDER_3"], (Entry{{"ecn", "ecn_all"},
                                                    {"wred_green_enable", "true"},
                                                    {"green_min_threshold", "400000"},
                                                    {"green_max_threshold", "1600000"},
                                                    {"green_drop_probability", "20"}}));
  EXPECT_EQ(t["QUEUE"].size(), 6U) << "four hosts and two spines";
  EXPECT_EQ(t["QUEUE"]["Ethernet20|3"], (Entry{{"wred_profile", "OUTRIDER_3"}}));

  t = leaf_of("off-pfc");
  expect_references(t);
  EXPECT_THAT(names_of(t),
              ElementsAre("BUFFER_PG", "BUFFER_POOL", "BUFFER_PROFILE", "BUFFER_QUEUE", "PFC_WD"));
}

TEST(SonicConfig, WithoutAChangeOfSwitchesNothingIsWritten) {
  const Told t = told("off-nic-300us");
  EXPECT_TRUE(t.files.empty());
  EXPECT_THAT(t.text, HasSubstr("The switches keep their settings"));
}

// 100 Gbit/s, 500 ns: 12,500 + 2 x 4218 + 84 + 64 x 394; 400 Gbit/s, 1 us likewise with 905.
TEST(SonicConfig, EachLinkHasTheHeadroomOfDevices) {
  const Told both = told("off-dwrr-3");
  Tables t = both.files.at("sonic-leaf.json");
  expect_references(t);
  EXPECT_EQ(t["BUFFER_PROFILE"]["OUTRIDER_3_100000_100m"], (Entry{{"pool", "ingress_lossless_pool"},
                                                                  {"static_th", "200000"},
                                                                  {"xon_offset", "100000"},
                                                                  {"xon", "4154"},
                                                                  {"xoff", "46236"},
                                                                  {"size", "50390"}}));
  EXPECT_EQ(t["BUFFER_PROFILE"]["OUTRIDER_4_400000_200m"]["xoff"], "166440");
  EXPECT_EQ(t["BUFFER_PG"]["Ethernet12|3"]["profile"], "OUTRIDER_3_100000_100m");
  EXPECT_EQ(t["BUFFER_PG"]["Ethernet16|4"]["profile"], "OUTRIDER_4_400000_200m");
  const std::string size =
      std::to_string(2 * (4 * (200000 + 50390) + 2 * (200000 + 4154 + 166440)));
  EXPECT_EQ(t["BUFFER_POOL"]["ingress_lossless_pool"],
            (Entry{{"type", "ingress"}, {"mode", "static"}, {"size", size}}));
  EXPECT_THAT(both.text, HasSubstr("sonic-leaf.json, for 8 switches"));
  EXPECT_THAT(both.text,
              ContainsRegex("Ethernet0 to Ethernet12 +hosts \\(4\\) +100gbit, 500ns one way, "
                            "xoff 46236 "));
  EXPECT_THAT(both.text, ContainsRegex("Ethernet16 to Ethernet20 +uplinks \\(2\\) +400gbit"));

  Tables spine = both.files.at("sonic-spine.json");
  expect_references(spine);
  EXPECT_EQ(spine["PORT_QOS_MAP"].size(), 8U);
  EXPECT_FALSE(spine["BUFFER_PROFILE"].contains("OUTRIDER_3_100000_100m"));
  EXPECT_THAT(both.text, ContainsRegex("Ethernet0 to Ethernet28 +switches \\(8\\)"));
}

TEST(SonicConfig, EqualSwitchesAndOtherRates) {
  auto cases = cases_of("off-dwrr-3", kFixed);
  for (Case& c : cases) {
    c.switches.switches.resize(1);
    c.switches.switches.front().ports.front().drain_rate = {56'000'000'000};
  }
  const Told t = told(find(cases, "off"), find(cases, "off-dwrr-3"));
  EXPECT_EQ(t.files.begin()->first, "sonic.json");
  EXPECT_THAT(t.text, HasSubstr("no quanta for 56gbit: those of 100gbit"));
}

TEST(SonicConfig, LosslessQueuesMayHoldAllAtEgressAndHaveAWatchdog) {
  Tables t = leaf_of("off-dwrr-3");
  const std::string size = t["BUFFER_POOL"]["ingress_lossless_pool"]["size"];
  EXPECT_EQ(t["BUFFER_POOL"]["egress_lossless_pool"],
            (Entry{{"type", "egress"}, {"mode", "static"}, {"size", size}}));
  EXPECT_EQ(t["BUFFER_PROFILE"]["OUTRIDER_egress_lossless"],
            (Entry{{"pool", "egress_lossless_pool"}, {"size", "0"}, {"static_th", size}}));
  EXPECT_EQ(t["BUFFER_QUEUE"].size(), 12U);
  EXPECT_EQ(t["PFC_WD"]["Ethernet0"],
            (Entry{{"action", "drop"}, {"detection_time", "200"}, {"restoration_time", "200"}}));
  EXPECT_EQ(t["PFC_WD"]["GLOBAL"], (Entry{{"POLL_INTERVAL", "200"}}));
  EXPECT_EQ(t["PORT_QOS_MAP"]["Ethernet0"]["pfcwd_sw_enable"], "3,4");
}

TEST(SonicConfig, GivesStorageAQueueAndAPriority) {
  Tables t = leaf_of("off-dwrr-3");
  EXPECT_EQ(t["DSCP_TO_TC_MAP"]["OUTRIDER"], (Entry{{"24", "4"}, {"26", "3"}, {"48", "6"}}));
  EXPECT_EQ(t["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"], "3,4");
  EXPECT_EQ(t["SCHEDULER"]["OUTRIDER_3"], (Entry{{"type", "DWRR"}, {"weight", "75"}}));
  EXPECT_EQ(t["SCHEDULER"]["OUTRIDER_4"]["weight"], "25");
  EXPECT_EQ(t["QUEUE"]["Ethernet0|4"]["scheduler"], "OUTRIDER_4");
  EXPECT_EQ(leaf_of("off-strict")["SCHEDULER"]["OUTRIDER_3"]["weight"], "95")
      << "a floor of 5 % is a weight there";
}

TEST(SonicConfig, CnpsAndRoutingAreInNoClassOfData) {
  Tables t = leaf_of("off-nic-cnp");
  expect_references(t);
  EXPECT_FALSE(t.contains("WRED_PROFILE"));
  EXPECT_EQ(t["DSCP_TO_TC_MAP"]["OUTRIDER"]["48"], "6");
  EXPECT_EQ(t["TC_TO_QUEUE_MAP"]["OUTRIDER"]["6"], "6");
  EXPECT_EQ(t["TC_TO_PRIORITY_GROUP_MAP"]["OUTRIDER"]["6"], "0");
  EXPECT_FALSE(t["MAP_PFC_PRIORITY_TO_QUEUE"]["OUTRIDER"].contains("6"));
  EXPECT_EQ(t["QUEUE"]["Ethernet0|6"]["scheduler"], "OUTRIDER_CNP");
  EXPECT_EQ(t["SCHEDULER"]["OUTRIDER_CNP"]["type"], "STRICT");
  t = leaf_of("off-dwrr-3", kFixed + "switch.queue.lossless.priority = 6\n");
  EXPECT_EQ(t["DSCP_TO_TC_MAP"]["OUTRIDER"]["48"], "7") << "bursts have 6";
}

TEST(SonicConfig, ADynamicXoffHasAPoolOfItsModeAndADistanceBelowIt) {
  const std::string shared = "switch.buffer.total_bytes = \"16MB\"\n";
  const std::string half = shared + "switch.queue.lossless.xoff_alpha = 0.5\n";
  Tables t = leaf_of("off-dwrr-3", half);
  expect_references(t);
  EXPECT_EQ(t["BUFFER_POOL"]["ingress_lossless_pool"],
            (Entry{{"type", "ingress"}, {"mode", "dynamic"}, {"size", "16000000"}}));
  // A third of 16 MB without all headrooms is the threshold of one class alone.
  EXPECT_EQ(t["BUFFER_PROFILE"]["OUTRIDER_3_100000_100m"],
            (Entry{{"pool", "ingress_lossless_pool"},
                   {"dynamic_th", "-1"},
                   {"xon_offset", std::to_string((16'000'000 - 2 * (4 * 46236 + 2 * 166440)) / 6)},
                   {"xon", "4154"},
                   {"xoff", "46236"},
                   {"size", std::to_string(4154 + 46236)}}));
  t = leaf_of("off-dwrr-3", half + "switch.queue.lossless.xon_offset_bytes = 30000\n");
  EXPECT_EQ(t["BUFFER_PROFILE"]["OUTRIDER_3_100000_100m"]["xon_offset"], "30000");
  EXPECT_THAT(told("off-dwrr-3", shared + "switch.queue.lossless.xoff_alpha = 500.0\n").text,
              HasSubstr("dynamic_th ends"));
}

TEST(SonicConfig, WithoutPausesNoneIsEnabled) {
  const Told both = told("off-no-pfc");
  Tables t = both.files.at("sonic-leaf.json");
  expect_references(t);
  EXPECT_EQ(t["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"], "");
  EXPECT_FALSE(t.contains("BUFFER_PG"));
  EXPECT_FALSE(t.contains("BUFFER_POOL"));
  EXPECT_THAT(both.text, HasSubstr("delete what BUFFER_PG, BUFFER_QUEUE and PFC_WD have"));
}

TEST(SonicConfig, AMarkOfEveryPacketHasOneThreshold) {
  const Entry wred = leaf_of("off-step")["WRED_PROFILE"]["OUTRIDER_3"];
  EXPECT_EQ(wred.at("green_min_threshold"), wred.at("green_max_threshold"));
  EXPECT_EQ(wred.at("green_drop_probability"), "100");
}

}  // namespace
}  // namespace outrider::sonic_config_test
