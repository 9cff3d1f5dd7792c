// Goal: [[background]] is read as [[job]] is, each mistake in it is refused by its key, value and
// rule, and the old keys stay a shorthand that nobody can mix with it.
#include "tools/lab/experiment/background_groups.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/plan/plan_rows.h"

namespace outrider::background_groups_test {
using namespace lab;
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kEnds = "from = \"sender\"\nto = \"receiver\"\n";
constexpr const char* kOldBackground = "[background]\nfrom = \"sender\"\nto = \"receiver\"\n";

/// Returns a group with the small experiment's senders and receivers.
std::string group(const std::string& name, const std::string& more) {
  return "[[background]]\nname = \"" + name + "\"\n" + kEnds + more;
}

/// Returns the small experiment with these groups in the place of its [background].
std::string with_groups(const std::string& groups) {
  return with(small_experiment(), kOldBackground, groups);
}

std::string faults_of(const std::string& text) {
  return format_issues("file", read_experiment(text).issues);
}

std::string faults(const std::string& groups) { return faults_of(with_groups(groups)); }

TEST(BackgroundGroups, AreReadWithWhatEachSends) {
  const auto file = read_experiment(
      with_groups(group("dctcp", "long_flows = 3\ntransport.controller = \"dctcp\"\n") +
                  group("store",
                        "both_ways = true\nload = \"20%\"\nsizes = \"web-search\"\n"
                        "protocol = \"roce\"\nqueue_pairs = 4\ntransport.roce.dscp = 12\n") +
                  group("calls", "requests = { connections = 2, think = \"1ms\" }\n")));
  ASSERT_TRUE(file) << format_issues("file", file.issues);
  const auto& groups = file.config->parameters.groups;
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_EQ(groups[0].kind(), BackgroundKind::kLongFlows);
  EXPECT_EQ(groups[0].long_flows, 3U);
  EXPECT_EQ(groups[0].place, "background[0]");
  EXPECT_EQ(groups[1].kind(), BackgroundKind::kLoad);
  EXPECT_EQ(groups[1].load, 0.2);
  EXPECT_TRUE(groups[1].both_ways && groups[1].over_roce());
  EXPECT_EQ(groups[2].kind(), BackgroundKind::kRequests);
  EXPECT_EQ(long_flows_per_pair(file.config->parameters), 0U) << "groups say what they have";
  EXPECT_TRUE(has_long_flows(file.config->parameters));
  EXPECT_TRUE(has_roce_background(file.config->parameters));
  EXPECT_FALSE(has_roce_background_alone(file.config->parameters));
  for (const Arm& arm : file.config->arms) EXPECT_EQ(arm.parameters.groups.size(), 3U);
}

TEST(BackgroundGroups, AnArmMayHaveItsOwn) {
  const auto file = read_experiment(with(
      with_groups(group("dctcp", "long_flows = 3\n")), "[[arm]]\nlabel = \"off-no-start\"\n",
      "[[arm]]\nlabel = \"off-cubic\"\njob.announce.lead_source = \"none\"\n[[arm.background]]\n"
      "name = \"cubic\"\n" +
          std::string(kEnds) +
          "long_flows = 1\ntransport.controller = \"cubic\"\n[[arm]]\n"
          "label = \"off-no-start\"\n"));
  ASSERT_TRUE(file) << format_issues("file", file.issues);
  const auto& arms = file.config->arms;
  EXPECT_EQ(arms[0].parameters.groups.at(0).name, "dctcp");
  EXPECT_EQ(arms[1].parameters.groups.at(0).name, "cubic");
  EXPECT_EQ(arms[1].parameters.groups.at(0).place, "arm[1].background[0]");
  EXPECT_EQ(arms[2].parameters.groups.at(0).name, "dctcp");
  const auto of_arm = [&](std::size_t i) {
    for (const auto& [name, value] : resolved_parameters(*file.config, arms[i].parameters))
      if (name == kGroupsParameter) return std::get<std::string>(value);
    return std::string("absent");
  };
  EXPECT_EQ(of_arm(0), of_arm(2));
  EXPECT_THAT(of_arm(1), HasSubstr("transport.controller=\"cubic\""));
  EXPECT_NE(of_arm(0), of_arm(1)) << "an arm with another background is no baseline unseen";
}

// A sweep could change a key of a group, and an arm could not.
TEST(BackgroundGroups, AnArmMayChangeAKeyOfOne) {
  const auto arm = [](const std::string& keys) {
    return with(
        with_groups(group("dctcp", "long_flows = 3\n") + group("cubic", "long_flows = 1\n")),
        "label = \"off-no-start\"\n", "label = \"off-no-start\"\n" + keys);
  };
  const auto file = read_experiment(arm("background.cubic.transport.priority = 3\n"));
  ASSERT_TRUE(file) << format_issues("file", file.issues);
  const auto& own = file.config->arms[1].parameters.groups;
  ASSERT_EQ(own.size(), 2U);
  EXPECT_EQ(own[0].text, file.config->parameters.groups[0].text) << "as the file has it";
  EXPECT_THAT(own[1].text, HasSubstr("transport.priority=3"));
  EXPECT_EQ(all_groups(*file.config).size(), 3U) << "what an arm does not change is there once";
  for (const Case& c : plan_of(arm("background.cubic.transport.priority = 3\n")))
    EXPECT_EQ(tg::transport_named(c.traffic, "background_cubic").tcp.priority.has_value(),
              c.label == "off-no-start");
  EXPECT_THAT(faults_of(arm("background.cubik.transport.priority = 3\n")),
              AllOf(HasSubstr("arm[1].background.cubik: unknown group"),
                    HasSubstr("did you mean \"cubic\"?")));
  EXPECT_THAT(faults_of(arm("background.cubic.long_flows = 0\n")),
              HasSubstr("arm[1].background.cubic.long_flows: 0: must be at least 1"));
  const auto high = read_experiment(arm("background.cubic.transport.priority = 9\n"));
  ASSERT_TRUE(high) << format_issues("file", high.issues);
  EXPECT_THAT(
      format_issues("file", make_plan(*high.config).issues),
      HasSubstr("file: 1 invalid setting\n  arm[1].background.cubic.transport.priority: 9"));
  EXPECT_THAT(
      faults_of(arm("background.cubic.load = 0.5\n")),
      HasSubstr("arm[1].background.cubic.load: must not be given together with long_flows"));
}

TEST(BackgroundGroups, CasesWithoutThemShowNone) {
  for (const auto& [name, value] : to_all_parameters({})) EXPECT_NE(name, kGroupsParameter);
}

struct Mistake {
  const char* what;
  std::string groups;
  std::string key;
  std::string problem;
};

TEST(BackgroundGroups, EachMistakeIsRefusedByKeyValueAndRule) {
  const std::string sends = "long_flows = 1\n";
  for (const Mistake& m : std::initializer_list<Mistake>{
           {"no such hosts",
            "[[background]]\nname = \"a\"\nfrom = \"sendr\"\nto = \"receiver\"\n" + sends,
            "background[0].from: \"sendr\"",
            "no [[hosts]] has this name; did you mean \"sender\"?"},
           {"no hosts said", "[[background]]\nname = \"a\"\nfrom = \"sender\"\n" + sends,
            "background[0].to", "is required"},
           {"sends nothing", group("a", ""), "background[0].long_flows",
            "one of long_flows, load, list, capture and requests is required"},
           {"two kinds", group("a", sends + "capture = \"x.pcap\"\n"), "background[0].capture",
            "must not be given together with long_flows"},
           {"unknown protocol", group("a", sends + "protocol = \"quic\"\n"),
            "background[0].protocol: \"quic\"", "\"tcp\""},
           {"bounded loss", group("a", sends + "protocol = \"mlt\"\n"),
            "background[0].protocol: \"mlt\"", "\"roce\""},
           {"name twice", group("a", sends) + group("a", sends), "background[1].name: \"a\"",
            "is that of another [[background]]"},
           {"name with a blank", group("a b", sends), "background[0].name: \"a b\"",
            "must not be empty or hold a dot, a blank or a slash"},
           {"name of settings", group("transport", sends), "background[0].name: \"transport\"",
            "background.transport.* are settings"},
           {"no flows", group("a", "long_flows = 0\n"), "background[0].long_flows: 0",
            "must be at least 1"},
           {"load without sizes", group("a", "load = 0.2\n"), "background[0].sizes",
            "is required with load"},
           {"sizes without load", group("a", sends + "sizes = \"web-search\"\n"),
            "background[0].sizes: \"web-search\"", "needs load"},
           {"load too large", group("a", "load = 3.0\nsizes = \"web-search\"\n"),
            "background[0].load: 3", "at most 2"},
           {"unknown sizes", group("a", "load = 0.2\nsizes = \"web-serch\"\n"),
            "background[0].sizes: \"web-serch\"", "did you mean \"web-search\""},
           {"unknown controller", group("a", sends + "transport.controller = \"cubik\"\n"),
            "background[0].transport.controller: \"cubik\"", "\"cubic\""},
           {"misspelt key", group("a", "long_flow = 1\n"), "background[0].long_flow", "long_flows"},
           {"settings of the other protocol",
            group("a", sends + "protocol = \"roce\"\ntransport.controller = \"cubic\"\n"),
            "background[0].transport.controller: \"cubic\"", "needs protocol = \"tcp\""},
           {"settings of RoCEv2 over TCP", group("a", sends + "transport.roce.dscp = 8\n"),
            "background[0].transport.roce", "needs protocol = \"roce\""},
           {"protocol as a setting", group("a", sends + "transport.protocol = \"roce\"\n"),
            "background[0].transport.protocol", "is set by protocol of the group"},
           {"queue over TCP", group("a", sends + "queue = \"ddl\"\n"),
            "background[0].queue: \"ddl\"", "needs protocol \"roce\""},
           {"one queue", group("a", sends + "protocol = \"roce\"\nqueue = \"ddl\"\n"),
            "background[0].queue: \"ddl\"", "needs switch.scheduler"},
           {"requests without connections", group("a", "requests.think = \"1ms\"\n"),
            "background[0].requests.connections", "is required above 0"},
           {"requests between other hosts",
            group("a", "requests = { connections = 1, from = [\"x\"] }\n"),
            "background[0].requests.from", "follows from the topology"},
           {"a transport of a capture",
            group("a", "capture = \"x.pcap\"\ntransport.controller = \"cubic\"\n"),
            "background[0].transport", "must be left out with a capture"},
       }) {
    const std::string told = faults(m.groups);
    EXPECT_THAT(told, AllOf(HasSubstr(m.key), HasSubstr(m.problem))) << m.what;
  }
}

TEST(BackgroundGroups, OneHostCannotSendToItself) {
  const std::string one = with(with_groups("[[background]]\nname = \"a\"\nfrom = \"sender\"\n"
                                           "to = \"sender\"\nlong_flows = 1\n"),
                               "name = \"sender\"\ncount = 2\n", "name = \"sender\"\ncount = 1\n");
  EXPECT_THAT(faults_of(one), HasSubstr("background[0].to: \"sender\": has one host"));
}

// A file with both would leave a reader to guess which holds.
TEST(BackgroundGroups, AnOldKeyBesideThemIsRefusedWithTheGroupsKey) {
  const std::string groups = group("a", "long_flows = 1\n");
  const auto told = [&](const std::string& parameters) {
    return faults_of(with(with_groups(groups), "[parameters]\n", "[parameters]\n" + parameters));
  };
  EXPECT_THAT(told("background.load = 0.5\n"),
              AllOf(HasSubstr("parameters.background.load: 0.5: must be left out beside "
                              "[[background]]"),
                    HasSubstr("by load")));
  EXPECT_THAT(told("background.flows_per_pair = 0\n"), HasSubstr("by long_flows"));
  EXPECT_THAT(told("background.protocol = \"both\"\n"), HasSubstr("by protocol"));
  EXPECT_THAT(told("background.transport.controller = \"cubic\"\n"),
              HasSubstr("parameters.background.transport.controller: \"cubic\": must be left out "
                        "beside [[background]], of which a group says it by transport.controller"));
  EXPECT_THAT(told("requests.connections = 1\n"), HasSubstr("by requests.connections"));
  EXPECT_THAT(
      faults_of(with(with_groups(groups), "job.announce.lead_source = \"none\"\n",
                     "job.announce.lead_source = \"none\"\nbackground.sizes = \"web-search\"\n")),
      HasSubstr("arm[1].background.sizes"));
  EXPECT_THAT(faults_of(with_groups(groups) + "[[sweep]]\nbackground.load = [0.1]\n"
                                              "arms = [\"off\"]\n"),
              HasSubstr("sweep[0].background.load"));
  EXPECT_EQ(told("switch.scheduler = \"strict_floor\"\nswitch.background_queue.floor = 0.1\n"), "")
      << "a parameter of queues, not of traffic";
}

TEST(BackgroundGroups, AnArmsOwnNeedThoseOfTheFile) {
  EXPECT_THAT(
      faults_of(with(small_experiment(), "job.announce.lead_source = \"none\"\n",
                     "job.announce.lead_source = \"none\"\n[[arm.background]]\nname = \"a\"\n" +
                         std::string(kEnds) + "long_flows = 1\n")),
      HasSubstr("arm[1].background: needs a [[background]] of the file"));
}

// A sweep of a group's key makes points as any parameter does, and a mistake has the sweep's place.
TEST(BackgroundGroups, ASweepChangesAKeyOfOne) {
  const std::string groups = group("dctcp", "long_flows = 3\ntransport.controller = \"dctcp\"\n") +
                             group("store", "load = 0.1\nsizes = \"web-search\"\n");
  const std::string sweeps =
      "[[sweep]]\nbackground.dctcp.long_flows = [1, 4]\n"
      "arms = [\"off\", \"on\"]\n[[sweep]]\nbackground.store.load = [0.1, 0.3]\n"
      "background.dctcp.transport.controller = [\"cubic\"]\narms = [\"off\"]\n";
  const auto plan = plan_of(with_groups(groups) + sweeps, {.seeds = 1});
  ASSERT_EQ(plan.size(), 3U + 4U + 2U);
  const auto of = [&](std::size_t i, const std::string& name) {
    return value_in(plan[i].parameters, name);
  };
  const std::string long_flows = "background.dctcp.long_flows";
  EXPECT_EQ(of(0, long_flows), ParameterValue(std::int64_t{3})) << "at the point of the file";
  EXPECT_EQ(plan[0].traffic.long_flows.at(0).from.size(), 3U);
  EXPECT_EQ(of(3, long_flows), ParameterValue(std::int64_t{1}));
  EXPECT_EQ(plan[3].traffic.long_flows.at(0).from.size(), 1U);
  EXPECT_EQ(of(5, long_flows), ParameterValue(std::int64_t{4}));
  EXPECT_EQ(plan[5].label, "off");
  EXPECT_EQ(plan[6].label, "on") << "compared with the off arm of the same point";
  EXPECT_EQ(plan[5].point, (Parameters{{long_flows, std::int64_t{4}}}));
  EXPECT_EQ(of(8, "background.store.load"), ParameterValue(0.3));
  EXPECT_GT(plan[8].traffic.flows.at(0).rate->bits_per_second,
            2 * plan[7].traffic.flows.at(0).rate->bits_per_second);
  EXPECT_EQ(of(8, "background.dctcp.transport.controller"), ParameterValue(std::string("cubic")));
  EXPECT_EQ(of(0, "background.dctcp.transport.controller"), ParameterValue(std::string("dctcp")));
  EXPECT_EQ(of(0, kGroupsParameter), of(5, kGroupsParameter)) << "has nothing that a sweep sets";
  EXPECT_THAT(std::get<std::string>(of(0, kGroupsParameter)),
              Not(AnyOf(HasSubstr("long_flows"), HasSubstr("load"), HasSubstr("controller"))));
}

TEST(BackgroundGroups, AMistakeInASweepOfOneIsTold) {
  const std::string own = group("dctcp", "long_flows = 3\n");
  const auto told = [&](const std::string& name, const std::string& values) {
    return faults_of(with_groups(own) + "[[sweep]]\nbackground." + name + " = [" + values +
                     "]\narms = [\"off\"]\n");
  };
  EXPECT_EQ(told("dctcp.long_flows", "1, 2"), "");
  EXPECT_THAT(told("dctp.long_flows", "1"), AllOf(HasSubstr("sweep[0].background.dctp.long_flows"),
                                                  HasSubstr("did you mean \"dctcp\"?")));
  EXPECT_THAT(told("dctcp.long_flow", "1"),
              AllOf(HasSubstr("sweep[0].background.dctcp.long_flow"), HasSubstr("unknown key")));
  EXPECT_THAT(told("dctcp.name", "\"x\""), HasSubstr("the name of a group is the same"));
  EXPECT_THAT(
      told("dctcp.long_flows", "1, 0"),
      AllOf(HasSubstr("sweep[0].background.dctcp.long_flows[1]"), HasSubstr("must be at least 1")));
  EXPECT_THAT(told("dctcp.load", "0.5"), AllOf(HasSubstr("sweep[0].background.dctcp.load[0]"),
                                               HasSubstr("a group sends one kind")));
  EXPECT_THAT(told("dctcp.transport.controller", "\"cubik\""), HasSubstr("\"cubic\""));
  EXPECT_THAT(told("transport.controller", "\"cubic\""),
              HasSubstr("must be left out beside [[background]]"));
}

TEST(BackgroundGroups, AnArmWithOthersIsNotSweptUnseen) {
  const std::string arm = "[[arm]]\nlabel = \"off-cubic\"\n[[arm.background]]\nname = \"cubic\"\n" +
                          std::string(kEnds) + "long_flows = 1\n";
  EXPECT_THAT(faults_of(with_groups(group("dctcp", "long_flows = 3\n")) + arm +
                        "[[sweep]]\nbackground.dctcp.long_flows = [1]\n"
                        "arms = [\"off\", \"off-cubic\"]\n"),
              HasSubstr("sweep[0].arms: \"off-cubic\": has groups of background of its own, and "
                        "none of them is \"dctcp\""));
  const auto with_its_own = [&](const std::string& flows) {
    return faults_of(with_groups(group("dctcp", "long_flows = 3\n")) +
                     "[[arm]]\nlabel = \"mine\"\n[[arm.background]]\nname = \"dctcp\"\n" +
                     std::string(kEnds) + "long_flows = " + flows +
                     "\ntransport.controller = \"cubic\"\n"
                     "[[sweep]]\nbackground.dctcp.long_flows = [1, 2]\n");
  };
  EXPECT_EQ(with_its_own("3"), "");
  EXPECT_THAT(with_its_own("4"), HasSubstr("sweep[0].background.dctcp.long_flows: would replace "
                                           "what arms give themselves: \"mine\" (4); sweep"));
}

class BackgroundOfBase : public testing::Test {
 protected:
  BackgroundOfBase() : directory_(testing::TempDir() + "background-of-base") {
    std::filesystem::create_directories(directory_ / "sub");
  }
  ~BackgroundOfBase() override { std::filesystem::remove_all(directory_); }

  ConfigResult<ExperimentFile> load(const std::string& name, const std::string& text) const {
    std::ofstream(directory_ / name) << text;
    return load_experiment((directory_ / name).string());
  }

  std::filesystem::path directory_;
};

TEST_F(BackgroundOfBase, GroupsStandForAllThatItHas) {
  (void)load("base.toml", with(small_experiment(), "[parameters]\n",
                               "[parameters]\nbackground.load = 0.5\n"
                               "background.sizes = \"web-search\"\n"
                               "background.transport.controller = \"cubic\"\n"));
  const auto own = load(
      "own.toml", "base = \"base.toml\"\n" + group("a", "long_flows = 1\n") + "[parameters]\n");
  ASSERT_TRUE(own) << format_issues("own", own.issues);
  EXPECT_EQ(own.config->parameters.programs().flows.load, 0);
  EXPECT_EQ(own.config->parameters.groups.size(), 1U);
  EXPECT_EQ(own.config->parameters.programs().job.burst_bytes, 100'000U) << "the rest is inherited";
}

TEST_F(BackgroundOfBase, ItsGroupsAreInheritedWithTheirPaths) {
  (void)load("sub/base.toml", with_groups(group("a", "list = \"list.csv\"\n") +
                                          group("b", "capture = \"frames.pcap\"\n") +
                                          group("c", "load = 0.1\nsizes = \"../x.cdf\"\n")));
  const auto own = load("own.toml", "base = \"sub/base.toml\"\n");
  ASSERT_TRUE(own) << format_issues("own", own.issues);
  const auto& groups = own.config->parameters.groups;
  EXPECT_EQ(groups.at(0).list, "sub/list.csv");
  EXPECT_EQ(groups.at(1).capture, "sub/frames.pcap");
  EXPECT_EQ(groups.at(2).sizes, "x.cdf");
}

TEST(BackgroundGroups, OfNetworkRateFlowFromSendersToReceivers) {
  const auto file = read_experiment(R"(
name = "small"
[network]
rate = "1gbit"
rtt = "1ms"
[[background]]
name = "a"
long_flows = 1
[[background]]
name = "storage"
from = "worker"
long_flows = 1
[[arm]]
label = "off"
)");
  ASSERT_TRUE(file) << format_issues("file", file.issues);
  const auto& groups = file.config->parameters.groups;
  EXPECT_EQ(groups[0].from, "sender");
  EXPECT_EQ(groups[0].to, "receiver");
  EXPECT_EQ(groups[1].from, "worker");
  EXPECT_EQ(groups[1].to, "receiver");
}

}  // namespace
}  // namespace outrider::background_groups_test
