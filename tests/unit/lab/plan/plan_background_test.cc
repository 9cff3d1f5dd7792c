// Goal: groups of background become rows of the generator's file between the hosts that they name,
// and faults of a row are reported by the key of its group.
#include "tools/lab/plan/plan_background.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/source_path.h"
#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/plan/plan_jobs.h"
#include "tools/lab/warnings/advice.h"

namespace outrider::plan_background_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string group(const std::string& name, const std::string& from, const std::string& to,
                  const std::string& more) {
  return "[[background]]\nname = \"" + name + "\"\nfrom = \"" + from + "\"\nto = \"" + to + "\"\n" +
         more;
}

std::string with_groups(const std::string& groups) {
  return with(small_experiment(), "[background]\nfrom = \"sender\"\nto = \"receiver\"\n", groups);
}

Case first_case(const std::string& text) {
  const auto cases = plan_of(text, {.seeds = 1});
  return cases.empty() ? Case{} : cases.front();
}

std::string plan_faults(const std::string& text) {
  const auto file = read_experiment(text);
  EXPECT_TRUE(file) << format_issues("text", file.issues);
  return file ? format_issues("plan", make_plan(*file.config).issues) : std::string();
}

const tg::TransportConfig& transport_of(const Case& c, const std::string& name) {
  return transport_named(c.traffic, name);
}

TEST(PlannedBackground, ThreeFlowsOfOneControllerAndOneOfAnother) {
  const Case c = first_case(with_groups(
      group("dctcp", "sender", "receiver", "long_flows = 3\ntransport.controller = \"dctcp\"\n") +
      group("cubic", "sender", "receiver",
            "long_flows = 1\ntransport = { controller = \"cubic\", ecn = false }\n")));
  ASSERT_EQ(c.traffic.long_flows.size(), 2U);
  const LongFlowsConfig &dctcp = c.traffic.long_flows[0], &cubic = c.traffic.long_flows[1];
  EXPECT_EQ(dctcp.name, "dctcp");
  EXPECT_THAT(dctcp.from, ElementsAre("sender_0", "sender_1", "sender_0")) << "pairs in turn";
  EXPECT_THAT(dctcp.to, ElementsAre("receiver_0", "receiver_1", "receiver_0"));
  EXPECT_EQ(dctcp.flows_per_pair, 1U);
  EXPECT_THAT(cubic.from, ElementsAre("sender_1")) << "goes on where the other has ended";
  EXPECT_EQ(transport_of(c, dctcp.transport).tcp.control.controller, Controller::kDctcp);
  EXPECT_EQ(transport_of(c, cubic.transport).tcp.control.controller, Controller::kCubic);
  EXPECT_TRUE(transport_of(c, dctcp.transport).tcp.ecn);
  EXPECT_FALSE(transport_of(c, cubic.transport).tcp.ecn);
  EXPECT_NE(dctcp.tcp_port, cubic.tcp_port) << "receiver_1 has both";
  EXPECT_EQ(c.background_flows, 4U);
  EXPECT_THAT(c.background_groups, ElementsAre("dctcp", "cubic"));
}

// What [background] and the parameters say, and the group for which they stand, are one thing.
TEST(PlannedBackground, TheShorthandIsAGroup) {
  const std::string load =
      "background.load = 0.5\nbackground.sizes = \"web-search\"\n"
      "background.transport.controller = \"cubic\"\n";
  const Case old = first_case(with(small_experiment(), "[parameters]\n", "[parameters]\n" + load));
  const Case own = first_case(
      with_groups(group("all", "sender", "receiver",
                        "load = 0.5\nsizes = \"web-search\"\ntransport.controller = \"cubic\"\n")));
  ASSERT_EQ(old.traffic.flows.size(), 1U);
  ASSERT_EQ(own.traffic.flows.size(), 1U);
  EXPECT_EQ(own.traffic.flows[0].rate, old.traffic.flows[0].rate);
  EXPECT_EQ(own.traffic.flows[0].from, old.traffic.flows[0].from);
  EXPECT_EQ(own.traffic.flows[0].to, old.traffic.flows[0].to);
  EXPECT_EQ(own.traffic.flows[0].tcp_port, old.traffic.flows[0].tcp_port);
  EXPECT_EQ(transport_of(own, own.traffic.flows[0].transport).tcp.control.controller,
            transport_of(old, old.traffic.flows[0].transport).tcp.control.controller);
  EXPECT_THAT(old.background_groups, IsEmpty()) << "it has no results by group";
}

TEST(PlannedBackground, MayBeOnTheJobsOwnHosts) {
  const Case c = first_case(
      with(with_groups(group("storage", "worker", "receiver", "requests.connections = 2\n") +
                       group("shuffle", "worker", "worker", "load = 0.1\nsizes = \"hadoop\"\n")),
           "[parameters]\n", "[parameters]\nworkers = 4\n"));
  ASSERT_EQ(c.traffic.requests.size(), 1U);
  EXPECT_THAT(c.traffic.requests[0].from,
              ElementsAre("worker_0", "worker_1", "worker_2", "worker_3"));
  EXPECT_THAT(c.traffic.requests[0].to,
              ElementsAre("receiver_0", "receiver_1", "receiver_0", "receiver_1"))
      << "the smaller end takes several";
  EXPECT_EQ(c.traffic.requests[0].connections, 2U);
  ASSERT_EQ(c.traffic.flows.size(), 1U);
  EXPECT_EQ(c.traffic.flows[0].from.size(), 4U);
  EXPECT_EQ(c.traffic.flows[0].to.size(), 4U);
  EXPECT_EQ(c.traffic.jobs[0].workers, c.traffic.flows[0].from);
}

TEST(PlannedBackground, BothWaysHasARowBack) {
  const Case c = first_case(
      with_groups(group("a", "sender", "receiver", "both_ways = true\nlong_flows = 2\n")));
  ASSERT_EQ(c.traffic.long_flows.size(), 2U);
  EXPECT_EQ(c.traffic.long_flows[1].name, "a_back");
  EXPECT_EQ(c.traffic.long_flows[1].from, c.traffic.long_flows[0].to);
  EXPECT_EQ(c.background_flows, 2U) << "what flows back crosses the queue as ACKs alone";
}

TEST(PlannedBackground, SeveralOfEachKindHavePortsOfTheirOwn) {
  std::string groups;
  for (const char* n : {"0", "1"}) {
    const std::string name = n;
    groups += group("long" + name, "sender", "receiver", "long_flows = 2\n") +
              group("load" + name, "sender", "receiver", "load = 0.1\nsizes = \"hadoop\"\n") +
              group("calls" + name, "sender", "receiver",
                    "requests = { connections = 1, server_ports = 3 }\n") +
              group("frames" + name, "sender", "receiver",
                    "capture = \"" + source_path("conf/samples/frames.pcap") + "\"\n");
  }
  const Case c = first_case(with_groups(groups));
  ASSERT_EQ(c.traffic.captures.size(), 2U);
  EXPECT_NE(c.traffic.captures[0].udp_port, c.traffic.captures[1].udp_port);
  ASSERT_EQ(c.traffic.requests.size(), 2U);
  EXPECT_EQ(c.traffic.requests[1].tcp_port, c.traffic.requests[0].tcp_port + 3);
  EXPECT_EQ(c.traffic.transports.size(), 1U + 6U) << "a capture has none";
  EXPECT_EQ(c.background_groups.size(), 8U);
}

TEST(PlannedBackground, OverRoceHasAnArmsQueue) {
  const Case c = first_case(with(
      with_groups(group("fast", "sender", "receiver",
                        "long_flows = 1\nprotocol = \"roce\"\nqueue = \"ddl\"\n"
                        "transport.roce.dscp = 10\n") +
                  group("slow", "sender", "receiver", "long_flows = 1\n")),
      "[parameters]\n",
      "[parameters]\nswitch.scheduler = \"strict_floor\"\njob.announce.signal_form = \"udp\"\n"));
  ASSERT_FALSE(c.switches.switches.empty());
  const auto& dscps = c.switches.switches.front().classes.dscp;
  const ConfigValue* queue = dscps.get("10");
  ASSERT_NE(queue, nullptr);
  EXPECT_EQ(*queue, ConfigValue(std::int64_t{0}));
  EXPECT_EQ(transport_of(c, "background_fast").protocol, TransportProtocol::kRoce);
}

TEST(PlannedBackground, FaultsOfRowsAreToldByTheGroup) {
  EXPECT_THAT(plan_faults(with_groups(group("a", "worker", "worker", "long_flows = 1\n"))),
              HasSubstr("background[0].to: \"worker_0\": must be another host than the sender"));
  EXPECT_THAT(plan_faults(with_groups(
                  group("a", "sender", "receiver", "long_flows = 1\n") +
                  group("b", "sender", "receiver", "load = 0.1\nsizes = \"./none.cdf\"\n"))),
              HasSubstr("background[1].sizes"));
  EXPECT_THAT(
      plan_faults(with_groups(group("a", "sender", "receiver", "capture = \"./none.pcap\"\n"))),
      HasSubstr("background[0].capture"));
  EXPECT_THAT(plan_faults(with_groups(group("a", "sender", "receiver",
                                            "long_flows = 1\ntransport.mss_bytes = 9000\n"))),
              HasSubstr("mtu_bytes"));
}

TEST(PlannedBackground, HostsOfAGroupAreInUse) {
  const auto advice_on = [](const std::string& text) {
    const auto file = read_experiment(text);
    EXPECT_TRUE(file) << format_issues("text", file.issues);
    return file ? format_issues("advice", advice(*file.config)) : std::string();
  };
  EXPECT_EQ(advice_on(with_groups(group("a", "sender", "receiver", "long_flows = 1\n"))), "");
  EXPECT_THAT(advice_on(with_groups(group("a", "sender", "server", "long_flows = 1\n"))),
              HasSubstr("hosts \"receiver\""));
  EXPECT_THAT(advice_on(with_groups(group("a", "receiver", "sender", "long_flows = 1\n"))),
              HasSubstr("share no queue with bursts"));
}

}  // namespace
}  // namespace outrider::plan_background_test
