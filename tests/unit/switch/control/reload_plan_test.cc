// Goal: a reload may change certain settings, key by key, and refuses all others with a reason.
// Method: pairs of valid configurations from TOML that differ in one setting. Every key of the
// resolved configuration is on one of two lists.
#include "switch/runtime/reload_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/config/config_writer.h"
#include "common/config/toml_file.h"
#include "switch/config/config_toml.h"
#include "tests/support/source_path.h"

namespace outrider::reload_plan_test {
using namespace sw;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kBase = R"(
[[device]]
name = "a"
device = "net_null0"
[[device]]
name = "b"
device = "net_null1"
[[switch]]
name = "s"
[switch.signals]
accept_tos = true
accept_from = ["10.0.1.0/24"]
[switch.queue]
limit_packets = 100
[switch.marker]
threshold_packets = 40
[[switch.port]]
name = "a"
device = "a"
drain_rate = "1gbit"
[[switch.port]]
name = "b"
device = "b"
drain_rate = "1gbit"
[switch.port.regulation]
mode = "mark"
[[switch.port.queues]]
[[switch.port.queues]]
[[switch.route]]
prefix = "10.0.1.0/24"
port = "a"
[[switch.route]]
prefix = "10.0.2.0/24"
port = "b"
)";

SwitchProcessConfig parsed(const std::string& text) {
  const auto table = parse_toml(text);
  EXPECT_TRUE(table) << format_issues("test", table.issues);
  auto result = switch_config_from(*table.config);
  EXPECT_TRUE(result) << format_issues("test", result.issues) << text;
  return result ? *result.config : SwitchProcessConfig{};
}

std::string with(const std::string& what, const std::string& instead) {
  std::string text = kBase;
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), instead);
}

ReloadPlan plan(const std::string& wanted, std::uint32_t mbufs = 100'000) {
  return plan_reload(parsed(kBase), parsed(wanted), mbufs);
}

TEST(ReloadPlan, FindsNothingWhereNothingDiffers) {
  const auto p = plan(kBase);
  EXPECT_THAT(p.changes, IsEmpty());
  EXPECT_THAT(p.refused, IsEmpty());
}

TEST(ReloadPlan, NamesASettingOfThePortThatHasItWithBothValues) {
  const auto p = plan(with("threshold_packets = 40", "threshold_packets = 20"));
  EXPECT_THAT(
      p.changes,
      ElementsAre(
          SettingChange{"switch[0].port[0].marker.threshold_packets", "40", "20"},
          SettingChange{"switch[0].port[1].queues[0].marker.threshold_packets", "40", "20"},
          SettingChange{"switch[0].port[1].queues[1].marker.threshold_packets", "40", "20"}));
}

TEST(ReloadPlan, ARouteMoreIsOneChange) {
  const auto p = plan(std::string(kBase) +
                      "[[switch.route]]\nprefix = \"10.3.0.0/16\"\nport = "
                      "\"a\"\n");
  ASSERT_EQ(p.changes.size(), 1U);
  EXPECT_EQ(p.changes[0].key, "switch[0].route[2]");
  EXPECT_EQ(p.changes[0].before, "absent");
  EXPECT_THAT(p.changes[0].after, HasSubstr("\"10.3.0.0/16\""));
}

TEST(ReloadPlan, ASettingThatAppearsWasAbsent) {
  const auto p = plan(with("limit_packets = 100", "limit_packets = 100\nlimit_bytes = \"50kB\""));
  ASSERT_EQ(p.changes.size(), 3U);
  EXPECT_EQ(p.changes[0],
            (SettingChange{"switch[0].port[0].queue.limit_bytes", "absent", "50000"}));
}

// All faults are reported at once, and a plan with a fault changes nothing.
TEST(ReloadPlan, RefusesWhatIsFixedWithValuesAndReason) {
  std::string text = with("threshold_packets = 40", "threshold_packets = 20");
  text = "seed = 7\nmax_bins = 10\n" + text;
  text.replace(text.find("net_null1"), 9, "net_null7");
  const auto p = plan(text);
  EXPECT_THAT(p.changes, IsEmpty());
  ASSERT_EQ(p.refused.size(), 3U);
  EXPECT_EQ(p.refused[0].key, "seed");
  EXPECT_EQ(p.refused[0].problem, "1 -> 7: was used for the packets so far");
  EXPECT_EQ(p.refused[1].key, "max_bins");
  EXPECT_EQ(p.refused[2].key, "device[1].device");
  EXPECT_EQ(p.refused[2].problem,
            "\"net_null1\" -> \"net_null7\": is made at start-up: restart to change it");
}

TEST(ReloadPlan, RefusesAnotherNumberOfPortsOrQueuesAsAWhole) {
  const auto ports = plan(std::string(kBase) + "[[switch.port]]\nname = \"c\"\ndevice = \"a\"\n");
  ASSERT_EQ(ports.refused.size(), 1U);
  EXPECT_EQ(ports.refused[0].key, "switch[0].port[2]");
  const auto queues = plan(with("[[switch.port.queues]]\n", ""));
  ASSERT_EQ(queues.refused.size(), 1U);
  EXPECT_EQ(queues.refused[0].key, "switch[0].port[1].queues[1]");
}

TEST(ReloadPlan, RefusesModesThatLearnFromEveryFlow) {
  const std::string window = with("mode = \"mark\"", "mode = \"window\"\nrecovery = \"timer\"");
  const auto to = plan(window);
  ASSERT_EQ(to.refused.size(), 2U) << "each queue";
  EXPECT_EQ(to.refused[0].key, "switch[0].port[1].queues[0].regulation.mode");
  std::string faster = window;
  faster.replace(faster.rfind("1gbit"), 5, "2gbit");
  const auto rate = plan_reload(parsed(window), parsed(faster), 100'000);
  ASSERT_EQ(rate.refused.size(), 1U);
  EXPECT_EQ(rate.refused[0].key, "switch[0].port[1].drain_rate");
  const auto pace = plan(with("mode = \"mark\"", "mode = \"mark_pace\""));
  EXPECT_THAT(pace.refused, IsEmpty());
  EXPECT_EQ(pace.changes.size(), 2U);
}

TEST(ReloadPlan, RefusesLimitsThatThePoolCannotHold) {
  const auto wanted = with("limit_packets = 100", "limit_packets = 5000");
  EXPECT_THAT(plan(wanted, 100'000).refused, IsEmpty());
  const auto p = plan(wanted, required_mbufs(parsed(kBase)));
  ASSERT_EQ(p.refused.size(), 1U);
  EXPECT_EQ(p.refused[0].key, "mbufs");
  EXPECT_THAT(p.refused[0].problem, HasSubstr(std::to_string(required_mbufs(parsed(wanted)))));
  EXPECT_THAT(p.refused[0].problem,
              HasSubstr("mbufs = " + std::to_string(required_mbufs(parsed(wanted))) + " or more"));
  EXPECT_THAT(p.changes, IsEmpty());
}

TEST(ReloadPlan, AShippedFileMayHaveFasterLinksAndLongerQueues) {
  const auto loaded = load_switch_config(source_path("conf/switch/loopback-leaf.toml"), 0);
  ASSERT_TRUE(loaded) << format_issues("file", loaded.issues);
  const SwitchProcessConfig& running = *loaded.config;
  ASSERT_FALSE(running.mbufs);
  SwitchProcessConfig wanted = running;
  for (auto& sw : wanted.switches) {
    for (auto& port : sw.ports) {
      port.drain_rate.bits_per_second *= 2;
      port.queue.limit_packets += port.queue.limit_packets / 5;
    }
  }
  const auto p = plan_reload(running, wanted, starting_mbufs(running));
  EXPECT_THAT(p.refused, IsEmpty()) << p.refused.at(0).problem;
  EXPECT_THAT(p.changes, testing::Not(IsEmpty()));
  EXPECT_FALSE(plan_reload(running, wanted, required_mbufs(running)).refused.empty());
}

void add_keys(const ConfigTable& table, const std::string& path, std::vector<std::string>& keys) {
  for (const auto& [key, value] : table.members) {
    if (const auto* nested = value.as<ConfigTable>()) add_keys(*nested, join_key(path, key), keys);
    else if (is_array_of_tables(value))
      add_keys(*(*value.as<ConfigValue::Array>())[0].as<ConfigTable>(), join_key(path, key), keys);
    else keys.push_back(join_key(path, key));
  }
}

/// Returns all keys of a configuration, such as "switch.port.queue.limit_packets".
std::vector<std::string> all_keys() {
  SwitchProcessConfig c = parsed(kBase);
  c.switches[0].mac_routes = {{}};
  c.switches[0].neighbours = {{}};
  c.switches[0].addresses = {{}};
  c.switches[0].rules = {{}};
  c.switches[0].ports[0].queues = {{}};
  c.links = {{}};
  ConfigTable table;
  ConfigWriter writer(table);
  describe(writer, c);
  std::vector<std::string> keys;
  add_keys(table, "", keys);
  return keys;
}

TEST(ReloadPlan, EveryKeyIsOnOneOfTwoLists) {
  const std::vector<std::string> changeable = {"switch.ddl_ports",
                                               "switch.signals.accept_tos",
                                               "switch.signals.tokens_per_second",
                                               "switch.signals.accept_from",
                                               "switch.route.prefix",
                                               "switch.neighbour.mac",
                                               "switch.address.address",
                                               "switch.mac_route.mac",
                                               "switch.classes.ddl_queue",
                                               "switch.classes.dscp_ddl",
                                               "switch.port.drain_rate",
                                               "switch.port.rate_layer",
                                               "switch.port.loss",
                                               "switch.port.scheduler",
                                               "switch.port.queue.limit_packets",
                                               "switch.port.queues.limit_packets",
                                               "switch.port.queues.weight",
                                               "switch.port.marker.kind",
                                               "switch.port.queues.marker.red.kmin_packets",
                                               "switch.port.regulation.mode",
                                               "switch.port.queues.regulation.recovery",
                                               "switch.port.queues.regulation.budget_share"};
  const std::vector<std::string> fixed = {"seed",
                                          "lcore",
                                          "bin",
                                          "max_burst_records",
                                          "max_bins",
                                          "device.name",
                                          "device.device",
                                          "device.rx_descriptors",
                                          "link.a",
                                          "link.delay",
                                          "switch.name",
                                          "switch.route_table",
                                          "switch.l2.learning",
                                          "switch.l2.ageing",
                                          "switch.classes.learned_flows",
                                          "switch.port.name",
                                          "switch.port.device",
                                          "switch.port.delay",
                                          "switch.port.record",
                                          "switch.port.queue.alpha",
                                          "switch.port.queues.reserved_bytes",
                                          "switch.port.regulation.max_entries",
                                          "switch.port.queues.regulation.window.max_flows"};
  const auto keys = all_keys();
  for (const auto& key : changeable) {
    EXPECT_THAT(keys, testing::Contains(key));
    EXPECT_EQ(why_fixed(key), "") << key;
  }
  for (const auto& key : fixed) {
    EXPECT_THAT(keys, testing::Contains(key));
    EXPECT_NE(why_fixed(key), "") << key;
  }
  EXPECT_NE(why_fixed("a_key_of_tomorrow"), "");
  EXPECT_NE(why_fixed("switch.port.queue.a_key_of_tomorrow"), "");
}

}  // namespace
}  // namespace outrider::reload_plan_test
