// Goal: an experiment with [fabric] has the hosts where its placements say, routes of as few
// prefixes as its pods need, and jobs of a list with their own hosts and settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "switch/runtime/reload_plan.h"
#include "tests/support/source_path.h"
#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/plan/host_places.h"
#include "tools/lab/plan/topology.h"
#include "tools/lab/simulation/run_result.h"
#include "tools/lab/warnings/advice.h"

namespace outrider::fabric_plan_test {
using namespace lab;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
namespace {

constexpr const char* kRacks = R"(
name = "racks"
question = "?"
[fabric]
kind = "leaf_spine"
leaves = 4
spines = 2
hosts_per_leaf = 4
host_rate = "10gbit"
host_delay = "1us"
uplink_rate = "20gbit"
uplink_delay = "2us"
[network]
measured = "worst"
[[hosts]]
name = "other"
count = 4
placement = "spread"
[background]
from = "other"
to = "other"
[[job]]
name = "ps"
workers = 3
burst_bytes = "2MB"
h_packets = 20
synchronisation = "asp"
transport.controller = "reno"
[[job]]
name = "ring"
count = 2
workers = 2
collective = "ring"
start = "3ms"
[parameters]
background.flows_per_pair = 1
job.burst_bytes = "1MB"
transport.controller = "dctcp"
[[arm]]
label = "off"
)";

ConfigResult<std::vector<Case>> planned(const std::string& text) {
  const auto experiment = read_experiment(text);
  if (!experiment) return {{}, experiment.issues};
  return make_plan(*experiment.config, {.seeds = 1});
}

std::string faults(const std::string& text) { return format_issues("", planned(text).issues); }

Case first_case(const std::string& text) {
  const auto plan = planned(text);
  EXPECT_TRUE(plan) << format_issues("", plan.issues);
  return plan ? plan.config->front() : Case{};
}

/// Returns the leaf of each host whose name begins so.
std::vector<std::string> leaves_of(const Case& c, const std::string& prefix) {
  std::vector<std::string> leaves;
  for (const auto& host : c.traffic.hosts)
    if (host.name.starts_with(prefix)) leaves.push_back(host.device);
  return leaves;
}

TEST(FabricPlan, PlacesGroupsAndJobs) {
  const Case c = first_case(kRacks);
  EXPECT_THAT(leaves_of(c, "other"), ElementsAre("leaf_0", "leaf_1", "leaf_2", "leaf_3"));
  EXPECT_THAT(leaves_of(c, "ps_worker"), ElementsAre("leaf_0", "leaf_0", "leaf_0"));
  EXPECT_THAT(leaves_of(c, "ps_server"), ElementsAre("leaf_1"));
  EXPECT_THAT(leaves_of(c, "ring_0"), ElementsAre("leaf_1", "leaf_1"));
  const Case spread =
      first_case(with(kRacks, "[parameters]\n", "[parameters]\nhost_placement = \"spread\"\n"));
  EXPECT_THAT(leaves_of(spread, "ps_worker"), ElementsAre("leaf_0", "leaf_1", "leaf_2"));
}

TEST(FabricPlan, RandomPlacesFollowTheSeedAlone) {
  const std::string text =
      with(with(kRacks, "[parameters]\n", "[parameters]\nhost_placement = \"random\"\n"),
           "[[arm]]\nlabel = \"off\"\n",
           "[[arm]]\nlabel = \"off\"\n[[arm]]\nlabel = \"on\"\n"
           "switch.regulation.mode = \"mark\"\n");
  const auto experiment = read_experiment(text);
  ASSERT_TRUE(experiment) << format_issues("", experiment.issues);
  const auto plan = make_plan(*experiment.config, {.seeds = 2});
  ASSERT_TRUE(plan) << format_issues("", plan.issues);
  std::map<std::uint64_t, std::set<std::vector<std::string>>> by_seed;
  for (const Case& c : *plan.config) by_seed[c.seed].insert(leaves_of(c, ""));
  EXPECT_EQ(by_seed[1].size(), 1U) << "arms of a seed have the same";
  EXPECT_NE(by_seed[1], by_seed[2]);
}

TEST(FabricPlan, JobsOfAListHaveTheirOwnSettings) {
  const Case c = first_case(kRacks);
  ASSERT_EQ(c.traffic.jobs.size(), 3U);
  const auto& ps = c.traffic.jobs[0];
  EXPECT_EQ(ps.name, "ps");
  EXPECT_EQ(ps.burst_bytes, 2'000'000U);
  EXPECT_EQ(ps.announce.threshold_packets, 20);
  EXPECT_EQ(ps.synchronisation, tg::Synchronisation::kAsp);
  EXPECT_EQ(ps.servers.size(), 1U);
  const auto transport =
      std::ranges::find(c.traffic.transports, ps.transport, &tg::TransportConfig::name);
  ASSERT_NE(transport, c.traffic.transports.end());
  EXPECT_EQ(transport->tcp.control.controller, tg::Controller::kReno);
  const auto& ring = c.traffic.jobs[2];
  EXPECT_EQ(ring.name, "ring_1");
  EXPECT_EQ(ring.collective, tg::Collective::kRing);
  EXPECT_THAT(ring.servers, IsEmpty());
  EXPECT_EQ(ring.workers.size(), 2U);
  EXPECT_EQ(ring.burst_bytes, 1'000'000U) << "of the case";
  EXPECT_EQ(ring.start, std::chrono::milliseconds(3));
  EXPECT_EQ(ring.transport, "ddl");
}

/// Returns kRacks with jobs over three protocols, the one over TCP between the others.
std::string three_protocols(const std::string& parameters = {}) {
  return with(with(with(kRacks, "transport.controller = \"reno\"", "transport.protocol = \"mlt\""),
                   "[parameters]\n",
                   "[[job]]\nname = \"roce\"\ntransport.protocol = \"roce\"\n"
                   "[[job]]\nname = \"loss\"\ntransport.protocol = \"mlt\"\n"
                   "[parameters]\njob.announce.signal_form = \"udp\"\n" +
                       parameters),
              "hosts_per_leaf = 4", "hosts_per_leaf = 6");
}

TEST(FabricPlan, EachProtocolOfTheJobsIsServed) {
  const Case c = first_case(three_protocols("job.announce.signal_key = \"auto\"\n"));
  for (const auto& sw : c.switches.switches) {
    ASSERT_EQ(sw.rules.size(), 3U);
    EXPECT_EQ(sw::format_port_range(*sw.rules[0].destination_ports), "5000-5004");
    EXPECT_EQ(sw::format_port_range(*sw.rules[1].source_ports), "5000-5004");
    EXPECT_EQ(sw::format_port_range(*sw.rules[2].destination_ports), "4791-4791");
    for (const auto& rule : sw.rules) EXPECT_EQ(rule.traffic_class, sw::RuleClass::kDdl);
    ASSERT_EQ(sw.signals.signers.size(), 5U) << "one for each job";
    EXPECT_THAT(sw.signals.signers[4].keys, ElementsAre("signal-4.key"));
  }
  const Case beside = first_case(three_protocols("background.protocol = \"roce\"\n"));
  EXPECT_EQ(beside.switches.switches[0].rules.size(), 2U) << "bounded loss has its ports";
  EXPECT_THAT(beside.switches.switches[0].classes.dscp_ddl, ElementsAre(26U, 48U));
  const Case layers = first_case(with(three_protocols(), "name = \"loss\"\n",
                                      "name = \"loss\"\ntransport.mlt.class_dscps = [24, 16]\n"));
  EXPECT_EQ(layers.switches.switches[0].ports[0].queues.size(), 2U);
}

// The case's own protocol has no such setting.
TEST(FabricPlan, ASweepReachesTheProtocolOfOneJob) {
  const auto file = read_experiment(three_protocols() +
                                    "[[sweep]]\nddl.transport.roce.window_packets = [8, 64]\n");
  ASSERT_TRUE(file) << format_issues("text", file.issues);
  const auto plan = make_plan(*file.config, {.seeds = 1});
  ASSERT_TRUE(plan) << format_issues("text", plan.issues);
  std::set<std::string> points;
  for (const Case& c : *plan.config) points.insert(case_name(*file.config, c));
  EXPECT_EQ(points.size(), 3 * file.config->arms.size()) << "without, 8 and 64";
  EXPECT_TRUE(points.contains("off ddl.transport.roce.window_packets=64 seed 1"))
      << testing::PrintToString(points);
}

TEST(FabricPlan, BackgroundAmongAGroupGoesHalfTheGroupFurther) {
  const Case c = first_case(kRacks);
  ASSERT_EQ(c.traffic.long_flows.size(), 1U);
  EXPECT_THAT(c.traffic.long_flows[0].to, ElementsAre("other_2", "other_3", "other_0", "other_1"));
}

TEST(FabricPlan, BackgroundMayGoToTheHostsOfAJob) {
  const std::string to_workers = with(kRacks, "to = \"other\"", "to = \"ring_0_worker\"");
  const Case c = first_case(with(to_workers, "background.flows_per_pair = 1",
                                 "background.flows_per_pair = 0\nbackground.load = 0.1\n"
                                 "background.sizes = \"" +
                                     source_path("conf/distributions/web-search.cdf") + "\""));
  ASSERT_EQ(c.traffic.flows.size(), 1U);
  EXPECT_THAT(c.traffic.flows[0].to, ElementsAre("ring_0_worker_0", "ring_0_worker_1"));
  EXPECT_THAT(faults(to_workers), HasSubstr("to")) << "long flows are pairs: four, but two hosts";
  EXPECT_THAT(faults(with(kRacks, "from = \"other\"", "from = \"ring_0_worker\"")),
              HasSubstr("background needs a group of its own"));
}

/// Returns kRacks with flows of a load instead of long ones, shared by a matrix.
ConfigResult<std::vector<Case>> planned_with(const RackMatrix& racks) {
  auto file = read_experiment(with(kRacks, "background.flows_per_pair = 1",
                                   "background.load = 0.4\nbackground.sizes = \"" +
                                       source_path("conf/distributions/web-search.cdf") + "\""));
  file.config.value().background.racks = racks;
  return make_plan(*file.config, {.seeds = 1});
}

TEST(FabricPlan, AMatrixSharesTheLoadByRacks) {
  const auto plan = planned_with({{0, 3, 0, 0}, {0, 0, 0, 1}, {0, 0, 0, 0}, {0, 0, 0, 0}});
  ASSERT_TRUE(plan) << format_issues("", plan.issues);
  const auto& flows = plan.config->front().traffic.flows;
  ASSERT_EQ(flows.size(), 2U);
  EXPECT_TRUE(planned_with({{0, 1, 1, 1}, {1, 0, 1, 1}, {1, 1, 0, 1}, {1, 1, 1, 0}}));
  EXPECT_THAT(flows[0].from, ElementsAre("other_0")) << "one of the group is at each leaf";
  EXPECT_THAT(flows[0].to, ElementsAre("other_1"));
  EXPECT_THAT(flows[1].from, ElementsAre("other_1"));
  EXPECT_THAT(flows[1].to, ElementsAre("other_3"));
  EXPECT_NEAR(static_cast<double>(flows[0].rate->bits_per_second),
              3.0 * static_cast<double>(flows[1].rate->bits_per_second), 4);
  const auto even = planned_with({});
  EXPECT_NEAR(static_cast<double>(even.config->front().traffic.flows[0].rate->bits_per_second),
              static_cast<double>(flows[0].rate->bits_per_second + flows[1].rate->bits_per_second),
              4);
}

TEST(FabricPlan, RoutesAreJoinedWhereTheirWaysAreEqual) {
  const Case c = first_case(R"(
name = "tree"
question = "?"
[fabric]
kind = "fat_tree"
k = 4
host_rate = "10gbit"
host_delay = "1us"
uplink_rate = "10gbit"
uplink_delay = "1us"
[network]
measured = "leaf_0.to_aggregation_0"
[[job]]
name = "job"
workers = 15
[parameters]
background.flows_per_pair = 0
[[arm]]
label = "off"
)");
  const auto routes_at = [&c](const std::string& name) {
    const auto sw = std::ranges::find(c.switches.switches, name, &sw::SwitchConfig::name);
    std::vector<std::string> prefixes;
    for (const auto& route : sw->routes)
      if (!route.prefix.ends_with("/32")) prefixes.push_back(route.prefix);
    return prefixes;
  };
  EXPECT_THAT(routes_at("core_0"),
              ElementsAre("10.0.0.0/23", "10.0.2.0/23", "10.0.4.0/23", "10.0.6.0/23"))
      << "one for each pod";
  EXPECT_THAT(routes_at("aggregation_0"),
              ElementsAre("10.0.0.0/24", "10.0.1.0/24", "10.0.2.0/23", "10.0.4.0/22"));
  EXPECT_THAT(routes_at("leaf_0"), ElementsAre("10.0.1.0/24", "10.0.2.0/23", "10.0.4.0/22"));
  EXPECT_EQ(c.switches.switches.front().routes.back().ports.size(), 2U) << "both uplinks";
}

/// Returns the ports by which a switch sends to the hosts of others.
std::set<std::string> ports_to_others(const sw::SwitchProcessConfig& config, std::size_t s) {
  std::set<std::string> ports;
  for (const auto& route : config.switches[s].routes) {
    if (route.prefix.ends_with("/32")) continue;
    ports.insert(route.ports.begin(), route.ports.end());
    if (route.port) ports.insert(*route.port);
  }
  return ports;
}

double loss_of(const sw::SwitchProcessConfig& config, std::size_t s, const char* port) {
  return std::ranges::find(config.switches[s].ports, port, &sw::SwitchPortConfig::name)->loss;
}

TEST(FabricPlan, AFailureTakesALinkDownAndLaterOutOfTheRoutes) {
  using namespace std::chrono_literals;
  const Case c = first_case(with(kRacks, "[network]",
                                 "[[fabric.failure]]\nlink = \"spine_1.to_leaf_2\"\n"
                                 "at = \"10ms\"\nuntil = \"30ms\"\nreroute_after = \"5ms\"\n"
                                 "[network]"));
  constexpr std::size_t kLeaf2 = 2, kSpine1 = 5;
  struct Row {
    Duration at;
    double loss;
    bool routed;
  };
  const Row rows[] = {{10ms, 1, true}, {15ms, 1, false}, {30ms, 0, false}, {35ms, 0, true}};
  ASSERT_EQ(c.changes.size(), std::size(rows));
  for (std::size_t i = 0; i < std::size(rows); ++i) {
    const auto& [at, config] = c.changes[i];
    EXPECT_EQ(at, Time{rows[i].at});
    EXPECT_EQ(loss_of(config, kLeaf2, "to_spine_1"), rows[i].loss) << i;
    EXPECT_EQ(loss_of(config, kSpine1, "to_leaf_2"), rows[i].loss) << i;
    EXPECT_EQ(loss_of(config, kLeaf2, "to_spine_0"), 0) << i;
    EXPECT_EQ(ports_to_others(config, kLeaf2).contains("to_spine_1"), rows[i].routed) << i;
    EXPECT_TRUE(ports_to_others(config, kLeaf2).contains("to_spine_0")) << i;
    EXPECT_TRUE(sw::validate(config).empty()) << i;
  }
  EXPECT_EQ(sw::changes_between(c.switches, c.changes.back().switches).size(), 0U);
  EXPECT_TRUE(without_background(c).changes.empty());
}

TEST(FabricPlan, AFailureThatLeavesNoPathIsRefused) {
  std::string both;
  for (const char* spine : {"0", "1"})
    both += std::string("[[fabric.failure]]\nlink = \"leaf_1.to_spine_") + spine +
            "\"\nat = \"10ms\"\n";
  EXPECT_EQ(faults(with(kRacks, "[network]", both + "[network]")), "")
      << "nobody notices, and all is lost";
  for (std::size_t at = 0; (at = both.find("at = ", at)) != std::string::npos; at += 40)
    both.insert(at, "reroute_after = \"1ms\"\n");
  EXPECT_THAT(faults(with(kRacks, "[network]", both + "[network]")),
              HasSubstr("fabric.failure: at 11ms no path is left from \"leaf_1\" to \"leaf_0\""));
}

TEST(FabricPlan, TheWorstQueueIsTheOneWhereBurstsWaitLongest) {
  sw::SwitchReport report;
  for (const std::uint64_t waited : {5U, 30U, 20U}) {
    auto& queue = report.queues.emplace_back();
    queue.bursts.resize(2);
    queue.bursts[0].sojourn_ns = queue.bursts[1].sojourn_ns = waited;
  }
  EXPECT_EQ(find_queue(report, kWorstQueue), &report.queues[1]);
  EXPECT_EQ(worst_queue({}), nullptr);
  report.queues[0].bursts = report.queues[1].bursts = {};
  EXPECT_EQ(worst_queue(report), &report.queues[2]) << "one of those that have records";
  report.queues[2].bursts = {};
  EXPECT_EQ(worst_queue(report), nullptr) << "the first port is nobody's worst";
}

// Over RoCEv2 the first port of the fabric was given out for the worst one, with its figures.
TEST(FabricPlan, WarnsThatNoQueueIsKnownAsTheWorstOfBurstsOverRoce) {
  const auto told = [](const std::string& text) {
    return format_advice("f", advice(std::vector<Case>{first_case(text)}));
  };
  const std::string over =
      "ddl.transport.protocol = \"roce\"\njob.announce.signal_form = \"udp\"\n";
  const std::string racks = std::string(kRacks).substr(0, std::string(kRacks).find("[[job]]"));
  const std::string all = racks + "[[job]]\nname = \"ps\"\nworkers = 3\n[parameters]\n" + over +
                          "[[arm]]\nlabel = \"off\"\n";
  EXPECT_THAT(told(all),
              HasSubstr("network.measured: queues keep no records of bursts over RoCEv2, "
                        "so that no queue is known as the worst"));
  EXPECT_THAT(told(with(all, "measured = \"worst\"", "measured = \"leaf_0.to_spine_1\"")),
              testing::Not(HasSubstr("network.measured")));
  EXPECT_THAT(told(kRacks), testing::Not(HasSubstr("network.measured")));
}

TEST(FabricPlan, AListOfPortsIsMeasuredAndNoOther) {
  const Case c = first_case(with(kRacks, "measured = \"worst\"",
                                 "measured = [\"leaf_0.to_spine_1\", \"leaf_1.to_ps_server_0\"]"));
  std::vector<std::string> recorded;
  for (const auto& sw : c.switches.switches)
    for (const auto& port : sw.ports)
      if (port.record) recorded.push_back(sw.name + '.' + port.name);
  EXPECT_THAT(recorded, ElementsAre("leaf_0.to_spine_1", "leaf_1.to_ps_server_0"));
  EXPECT_EQ(c.measured_queue, kWorstQueue);
  EXPECT_EQ(c.bottleneck.bits_per_second, 10'000'000'000U) << "the least of 20 and 10 Gbit/s";
  EXPECT_EQ(first_case(with(kRacks, "\"worst\"", "[\"leaf_0.to_spine_1\"]")).measured_queue,
            "leaf_0.to_spine_1");
}

TEST(FabricPlan, FaultsAreToldByTheUsersKey) {
  struct Row {
    std::string text, problem;
  };
  const std::string text = kRacks;
  const Row rows[] = {
      {with(text, "to = \"other\"", "to = \"other\"\nboth_ways = true\nmatrix = \"none\""),
       "background.both_ways: must be left out with a matrix"},
      {with(text, "to = \"other\"", "to = \"other\"\nmatrix = \"none\""),
       "background.matrix: \"none\": "},
      {with(text, "count = 4", "count = 40"), "hosts[0].count: 40 hosts: must be at most 16"},
      {with(text, "workers = 3", "workers = 20"), "job[0].workers: 20 hosts: must be at most 12"},
      {with(text, "synchronisation = \"asp\"", "synchronization = \"asp\""),
       "job[0].synchronization"},
      {with(text, "name = \"other\"", "name = \"ps_worker\""), "\"ps_worker\": is used twice"},
      {with(text, "[network]", "[network]\nrtt = \"1ms\""),
       "network.rtt: 1ms: must be left out with [fabric], or be its longest round trip, 12us"},
      {with(text, "placement = \"spread\"", "rate = \"1gbit\""),
       "hosts[0].rate: must be left out: a place in the fabric says it"},
      {with(text, "[parameters]", "[parameters]\njobs = 2"),
       "jobs: 2: must be left out with a list of jobs"},
      {with(text, "\"worst\"", "[\"leaf_0.to_spine_0\", \"leaf_0.to_spine_7\"]"),
       "network.measured: \"leaf_0.to_spine_7\": must be"},
      {with(text, "\"worst\"", "[]"), "network.measured: []: must name a port"},
      {with(text, "\"worst\"", "[\"worst\", \"leaf_0.to_spine_0\"]"), "or \"worst\" alone"},
      {with(with(three_protocols(), "name = \"loss\"\n",
                 "name = \"loss\"\ntransport.mlt.class_dscps = [24, 16]\n"),
            "name = \"ps\"\n", "name = \"ps\"\ntransport.mlt.class_dscps = [16, 24]\n"),
       "job[3].transport.mlt.class_dscps: must be those of the other jobs"},
      {text + "[[switch]]\nname = \"x\"\n", "switch: must be left out with [fabric]"},
      {with(small_experiment(), "rtt = \"2ms\"\n", ""), "network.rtt: is required without"},
      {with(small_experiment(), "switch = \"a\"\nrate = \"1gbit\"\n", "switch = \"a\"\n"),
       "hosts[0].rate: is required without [fabric]"},
      {small_experiment() + "[[job]]\nname = \"x\"\n", "job: as a list needs a [fabric]"},
  };
  for (const Row& row : rows) EXPECT_THAT(faults(row.text), HasSubstr(row.problem));
  const auto none = planned(with(text, "leaves = 4", "leaves = 0"));
  ASSERT_EQ(none.issues.size(), 1U)
      << "nothing follows from it: " << format_issues("", none.issues);
  EXPECT_EQ(none.issues[0].key, "fabric.leaves");
}

}  // namespace
}  // namespace outrider::fabric_plan_test
