// Goal: what is written for SONiC is JSON that refers to nothing that it does not have, in bytes,
// and says what the arm has. Method: arms of conf/advise/roce-storage.toml, read by a small parser.
#include "tools/lab/advise/sonic_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "common/config/config_file.h"
#include "common/config/text_file.h"
#include "tests/support/source_path.h"
#include "tools/lab/advise/advised_experiment.h"
#include "tools/lab/plan/plan.h"

namespace outrider::sonic_config_test {
using namespace lab;
namespace {

using Entry = std::map<std::string, std::string>;
using Tables = std::map<std::string, std::map<std::string, Entry>>;

/// Reads objects of objects of objects of texts, which is what config_db.json is made of.
class Reader {
 public:
  explicit Reader(const std::string& text) : text_(text) {}

  Tables all() {
    Tables tables;
    object([&](const std::string& table) {
      object([&](const std::string& entry) {
        object([&](const std::string& field) { tables[table][entry][field] = string(); });
      });
    });
    space();
    EXPECT_EQ(at_, text_.size()) << "more follows";
    return tables;
  }

 private:
  void space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool take(char c) {
    space();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::string string() {
    EXPECT_TRUE(take('"')) << "at " << at_;
    const std::size_t end = text_.find('"', at_);
    std::string value = text_.substr(at_, end - at_);
    at_ = std::min(end, text_.size() - 1) + 1;
    return value;
  }
  template <class F>
  void object(F member) {
    ASSERT_TRUE(take('{')) << "at " << at_;
    if (take('}')) return;
    do {
      const std::string key = string();
      ASSERT_TRUE(take(':')) << key;
      member(key);
    } while (take(','));
    ASSERT_TRUE(take('}')) << "at " << at_;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

/// The setting of the file that says when a pause is due.
const std::string kFixed = "switch.queue.lossless.xoff_bytes = \"200kB\"\n";

std::string text_of_arm(const std::string& label, const std::string& pauses) {
  const std::string conf = source_path("conf");
  std::string text = *read_text_file(conf + "/advise/roce-storage.toml", 1).config;
  text.replace(text.find(kFixed), kFixed.size(), pauses);
  auto table = parse_toml(text);
  if (!table) return format_issues("t", table.issues);
  (*table.config)["name"] = ConfigValue(std::string("advise"));
  const auto file = advised_from(*table.config, conf + "/advise");
  if (!file) return format_issues("f", file.issues);
  const auto e = experiment_from(
      experiment_of(*file.config, {.name = "t", .arms = {"off", label}}, conf), "/");
  if (!e) return format_issues("e", e.issues);
  const auto plan = make_plan(*e.config, {.seeds = 1, .arms = {label}});
  if (!plan) return format_issues("p", plan.issues);
  return sonic_config(*std::ranges::find(*plan.config, label, &Case::label),
                      file.config->traits.frame_bytes, 100);
}

Tables tables_of(const std::string& label, const std::string& pauses = kFixed) {
  const std::string text = text_of_arm(label, pauses);
  return Reader(text).all();
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
  expect("BUFFER_PROFILE", "pool", "BUFFER_POOL");
  expect("PORT_QOS_MAP", "dscp_to_tc_map", "DSCP_TO_TC_MAP");
  expect("PORT_QOS_MAP", "tc_to_queue_map", "TC_TO_QUEUE_MAP");
  expect("PORT_QOS_MAP", "tc_to_pg_map", "TC_TO_PRIORITY_GROUP_MAP");
  expect("PORT_QOS_MAP", "pfc_to_queue_map", "MAP_PFC_PRIORITY_TO_QUEUE");
}

TEST(SonicConfig, HasThresholdsAndPausesInBytes) {
  Tables t = tables_of("off-red-hpcc");
  expect_references(t);
  const Entry wred = t["WRED_PROFILE"]["OUTRIDER_3"];
  EXPECT_EQ(wred, (Entry{{"ecn", "ecn_all"},
                         {"wred_green_enable", "true"},
                         {"green_min_threshold", "400000"},
                         {"green_max_threshold", "1600000"},
                         {"green_drop_probability", "20"}}));
  EXPECT_EQ(t["BUFFER_PROFILE"]["OUTRIDER_3"], (Entry{{"pool", "ingress_lossless_pool"},
                                                      {"static_th", "200000"},
                                                      {"xon", "100000"},
                                                      {"xoff", "116956"},
                                                      {"size", "216956"}}));
  EXPECT_EQ(t["BUFFER_POOL"]["ingress_lossless_pool"],
            (Entry{{"type", "ingress"}, {"mode", "static"}, {"size", std::to_string(6 * 316956)}}));
  EXPECT_EQ(t["DSCP_TO_TC_MAP"]["OUTRIDER"], (Entry{{"24", "3"}, {"26", "3"}, {"48", "3"}}));
  EXPECT_EQ(t["PORT_QOS_MAP"].size(), 6U) << "four hosts and two spines";
  EXPECT_EQ(t["PORT_QOS_MAP"]["Ethernet20"]["pfc_enable"], "3");
  EXPECT_EQ(t["QUEUE"].size(), 6U);
  EXPECT_FALSE(t.contains("SCHEDULER"));
}

TEST(SonicConfig, GivesStorageAQueueAndAPriority) {
  Tables t = tables_of("off-dwrr-3");
  expect_references(t);
  EXPECT_EQ(t["DSCP_TO_TC_MAP"]["OUTRIDER"], (Entry{{"24", "4"}, {"26", "3"}, {"48", "3"}}));
  EXPECT_EQ(t["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"], "3,4");
  EXPECT_EQ(t["SCHEDULER"]["OUTRIDER_3"], (Entry{{"type", "DWRR"}, {"weight", "75"}}));
  EXPECT_EQ(t["SCHEDULER"]["OUTRIDER_4"]["weight"], "25");
  EXPECT_EQ(t["BUFFER_PG"]["Ethernet0|4"]["profile"], "OUTRIDER_4");
  EXPECT_EQ(tables_of("off-strict")["SCHEDULER"]["OUTRIDER_3"]["weight"], "95")
      << "a floor of 5 % is a weight there";
}

TEST(SonicConfig, ADynamicXoffHasAPoolOfItsModeAndADistanceBelowIt) {
  const std::string shared = "switch.buffer.total_bytes = \"16MB\"\n";
  Tables t = tables_of("off-red-hpcc", shared + "switch.queue.lossless.xoff_alpha = 0.5\n");
  expect_references(t);
  EXPECT_EQ(t["BUFFER_POOL"]["ingress_lossless_pool"],
            (Entry{{"type", "ingress"}, {"mode", "dynamic"}, {"size", "16000000"}}));
  // A third of what queues share, 16 MB without six headrooms, is the threshold of one alone.
  EXPECT_EQ(t["BUFFER_PROFILE"]["OUTRIDER_3"],
            (Entry{{"pool", "ingress_lossless_pool"},
                   {"dynamic_th", "-1"},
                   {"xon_offset", std::to_string((16'000'000 - 6 * 116956) / 6)},
                   {"xon", "4154"},
                   {"xoff", "116956"},
                   {"size", std::to_string(4154 + 116956)}}));
  EXPECT_EQ(
      tables_of("off-red-hpcc",
                shared +
                    "switch.queue.lossless.xoff_alpha = 0.5\n"
                    "switch.queue.lossless.xon_offset_bytes = 30000\n")["BUFFER_PROFILE"]
                                                                       ["OUTRIDER_3"]["xon_offset"],
      "30000");
  EXPECT_EQ(text_of_arm("off-red-hpcc", shared + "switch.queue.lossless.xoff_alpha = 500.0\n"), "")
      << "dynamic_th ends at 7";
}

TEST(SonicConfig, WithoutPausesNoneIsEnabled) {
  Tables t = tables_of("off-no-pfc");
  expect_references(t);
  EXPECT_EQ(t["PORT_QOS_MAP"]["Ethernet0"]["pfc_enable"], "");
  EXPECT_FALSE(t.contains("BUFFER_PG"));
  EXPECT_FALSE(t.contains("BUFFER_POOL"));
}

TEST(SonicConfig, AMarkOfEveryPacketHasOneThreshold) {
  const Entry wred = tables_of("off-step")["WRED_PROFILE"]["OUTRIDER_3"];
  EXPECT_EQ(wred.at("green_min_threshold"), wred.at("green_max_threshold"));
  EXPECT_EQ(wred.at("green_drop_probability"), "100");
}

}  // namespace
}  // namespace outrider::sonic_config_test
