// Goal: the rules of queues, markers, schedulers and the shared buffer, each by its key.
#include <gtest/gtest.h>

#include "common/config/config_file.h"
#include "switch/config/config_toml.h"
#include "tests/unit/config/full_switch.h"
#include "tests/unit/config/issue_matchers.h"

namespace outrider::queue_config_test {
using namespace sw;
namespace {

using C = SwitchProcessConfig;

TEST(QueueConfig, EveryRuleNamesItsKey) {
  const auto port = [](C& c) -> SwitchPortConfig& { return c.switches[0].ports[0]; };
  const Breach<C> breaches[] = {
      {[&](C& c) { port(c).queue.weight = 0; }, "switch[0].port[0].queue.weight", "0"},
      {[&](C& c) { port(c).queue.alpha = 0; }, "switch[0].port[0].queue.alpha", "0"},
      {[&](C& c) { port(c).queue.floor_depth_bytes = 9000; },
       "switch[0].port[0].queue.floor_depth_bytes", "9000 bytes: must be at least 9018"},
      {[&](C& c) { port(c).marker.red.kmax_packets = 5; },
       "switch[0].port[0].marker.red.kmax_packets", "5.000000: must be above kmin_packets"},
      {[&](C& c) { port(c).marker.red.pmax = 0; }, "switch[0].port[0].marker.red.pmax", "0"},
      {[&](C& c) { port(c).marker.red.weight = 1.5; }, "switch[0].port[0].marker.red.weight",
       "1.5"},
      {[&](C& c) { port(c).marker.pie.target = 0s; }, "switch[0].port[0].marker.pie.target", "0s"},
      {[&](C& c) { port(c).marker.pie.mark_ecnth = 2; }, "switch[0].port[0].marker.pie.mark_ecnth",
       "2"},
      {[&](C& c) { port(c).marker.codel.interval = 1ms; },
       "switch[0].port[0].marker.codel.interval", "1ms: must not be shorter than target, 2ms"},
      {[&](C& c) { port(c).queues.resize(9); }, "switch[0].port[0].queues",
       "9 queues: must be at most 8"},
      {[&](C& c) { port(c).queues[1].queue.limit_bytes = 1000; },
       "switch[0].port[0].queues[1].limit_bytes", "1000 bytes: must be at least 9018"},
      {[&](C& c) { port(c).queues[1].queue.floor_rate = BitRate{9'498'000'001}; },
       "switch[0].port[0].queues",
       "floor_rate adds up to 9500000001bit: must not be more than drain_rate, 9500mbit"},
      {[](C& c) { c.switches[0].buffer.total_bytes = 9'000; }, "switch[0].buffer.total_bytes",
       "9000 bytes: must hold a frame of 9018 B"},
  };
  expect_each_reported(breaches, full_config());
}

// Where a step has no higher queue to count, or no step is there, it is refused.
TEST(QueueConfig, OccupancyOfHigherQueuesNeedsThem) {
  constexpr auto kBoth = StepOccupancy::kOwnAndHigher;
  const auto port = [](C& c) -> SwitchPortConfig& { return c.switches[0].ports[0]; };
  C counts = full_config();
  port(counts).scheduler = SchedulerKind::kStrictFloor;
  port(counts).queues[1].marker.occupancy = kBoth;
  ASSERT_TRUE(validate(counts).empty());
  const Breach<C> breaches[] = {
      {[&](C& c) { port(c).scheduler = SchedulerKind::kDwrr; },
       "switch[0].port[0].queues[1].marker.occupancy",
       "\"own_and_higher\": scheduler \"dwrr\" serves no queue before another; set \"own\""},
      {[&](C& c) { port(c).queues[0].marker.occupancy = kBoth; },
       "switch[0].port[0].queues[0].marker.occupancy",
       "\"own_and_higher\": no queue is served before queue 0"},
      {[&](C& c) { port(c).queues[1].marker.kind = MarkerKind::kRed; },
       "switch[0].port[0].queues[1].marker.occupancy", "\"own_and_higher\": needs kind = \"step\""},
      {[&](C& c) { c.switches[0].ports[1].marker.occupancy = kBoth; },
       "switch[0].port[1].marker.occupancy",
       "\"own_and_higher\": needs [[switch.port.queues]]: the port has one queue"},
  };
  expect_each_reported(breaches, counts);
}

TEST(PortLimitConfig, EveryRuleNamesItsKey) {
  const auto port = [](C& c) -> SwitchPortConfig& { return c.switches[0].ports[0]; };
  C limited = full_config();
  for (PortQueueConfig& queue : port(limited).queues) queue.queue.lossless = {};
  port(limited).limit_packets = 100;
  ASSERT_TRUE(validate(limited).empty());
  const Breach<C> breaches[] = {
      {[&](C& c) { port(c).limit_packets = 0; }, "switch[0].port[0].limit_packets",
       "0 packets: must be at least 1"},
      {[](C& c) { c.switches[0].ports[1].limit_packets = 100; }, "switch[0].port[1].limit_packets",
       "100 packets: needs [[switch.port.queues]]: with one queue set queue.limit_packets"},
      {[&](C& c) {
         c = full_config();  // has a lossless queue
         port(c).limit_packets = 100;
       },
       "switch[0].port[0].limit_packets", "100 packets: excludes lossless queues"},
  };
  expect_each_reported(breaches, limited);
}

TEST(SteerConfig, EveryRuleNamesItsKey) {
  const auto port = [](C& c) -> SwitchPortConfig& { return c.switches[0].ports[0]; };
  const auto policy = [&](C& c) -> RegulationPolicy& { return port(c).queues[1].regulation; };
  C steered = full_config();
  port(steered).scheduler = SchedulerKind::kStrict;
  policy(steered).mode = RegulationMode::kSteer;
  policy(steered).recovery = Recovery::kBurstEnd;
  policy(steered).predict.from = PredictFrom::kOff;
  policy(steered).steer_to_queue = 0;
  ASSERT_TRUE(validate(steered).empty());
  const Breach<C> breaches[] = {
      {[&](C& c) { policy(c).steer_to_queue = 7; },
       "switch[0].port[0].queues[1].regulation.steer_to_queue", "7: the port has"},
      {[&](C& c) { policy(c).steer_to_queue = 1; },
       "switch[0].port[0].queues[1].regulation.steer_to_queue", "1: must be another queue"},
      {[&](C& c) {
         port(c).queues.resize(3);
         policy(c).steer_to_queue = 2;
       },
       "switch[0].port[0].queues[1].regulation.steer_to_queue", "2: must be below 1"},
      {[&](C& c) {
         port(c).scheduler = SchedulerKind::kDwrr;
         port(c).queues.resize(3);
         port(c).queues[0].regulation = policy(c);
         port(c).queues[0].regulation.steer_to_queue = 2;
       },
       "switch[0].port[0].queues[1].regulation.steer_to_queue",
       "0: must not be a queue that steers bursts itself"},
      {[&](C& c) { policy(c).recovery = Recovery::kTimer; },
       "switch[0].port[0].queues[1].regulation.recovery", "must be \"burst_end\" with mode"},
      {[&](C& c) { policy(c).predict.from = PredictFrom::kSignals; },
       "switch[0].port[0].queues[1].regulation.predict.from", "must be \"off\" with mode"},
      {[&](C& c) {
         port(c).regulation = policy(c);
         port(c).queues.clear();
       },
       "switch[0].port[0].regulation.mode", "\"steer\": needs [[switch.port.queues]]"},
  };
  expect_each_reported(breaches, steered);
}

TEST(DemotionConfig, EveryRuleNamesItsKey) {
  const auto port = [](C& c) -> SwitchPortConfig& { return c.switches[0].ports[0]; };
  const auto demotion = [&](C& c) -> DemotionConfig& { return port(c).queues[1].queue.demotion; };
  C demoting = full_config();
  port(demoting).queues[1].queue.lossless = {};
  demotion(demoting).after_bytes = 70'000;
  port(demoting).scheduler = SchedulerKind::kStrict;
  ASSERT_TRUE(validate(demoting).empty());
  const Breach<C> breaches[] = {
      {[&](C& c) { demotion(c).from_queue = 7; }, "switch[0].port[0].queues[1].demotion.from_queue",
       "7: the port has"},
      {[&](C& c) { demotion(c).from_queue = 1; }, "switch[0].port[0].queues[1].demotion.from_queue",
       "1: must be another queue"},
      {[&](C& c) {
         port(c).queues.resize(3);
         demotion(c).from_queue = 2;
       },
       "switch[0].port[0].queues[1].demotion.from_queue", "2: must be below 1"},
      {[&](C& c) { port(c).scheduler = SchedulerKind::kDwrr; },
       "switch[0].port[0].queues[1].demotion.after", "70000 B: needs a scheduler"},
      {[&](C& c) {
         port(c).queues[0].queue.limit_packets = c.switches[0].ports[1].queue.limit_packets = 1000;
         port(c).queues[0].queue.limit_bytes.reset();
         port(c).queues[0].queue.lossless.xoff_bytes = 20'000;
       },
       "switch[0].port[0].queues[1].demotion.after", "70000 B: excludes lossless queues"},
      {[&](C& c) {
         port(c).queues[1].regulation.mode = RegulationMode::kFairWindow;
         port(c).queues[1].regulation.window.beyond.clear();
       },
       "switch[0].port[0].queues[1].demotion.after",
       "70000 B: needs regulation.mode \"off\" or \"mark\""},
      {[&](C& c) { demotion(c).max_flows = 0; }, "switch[0].port[0].queues[1].demotion.max_flows",
       "0: must be at least 1"},
      {[&](C& c) { demotion(c).idle = {}; }, "switch[0].port[0].queues[1].demotion.idle",
       "0s: must be longer than zero"},
      {[&](C& c) {
         port(c).queue.demotion.after_bytes = 70'000;
         port(c).queues.clear();
       },
       "switch[0].port[0].queue.demotion.after", "70000 B: needs [[switch.port.queues]]"},
  };
  expect_each_reported(breaches, demoting);
}

TEST(HearsConfig, EveryRuleNamesItsKey) {
  const auto policy = [](C& c) -> RegulationPolicy& { return c.switches[0].ports[0].regulation; };
  const std::string key = "switch[0].port[0].regulation.hears";
  C heard = full_config();
  ASSERT_TRUE(heard.switches[0].buffer.total_bytes);
  policy(heard).hears = Subscription::kSwitch;
  ASSERT_TRUE(validate(heard).empty());
  const Breach<C> breaches[] = {
      {[&](C& c) {
         c.switches[0].buffer.total_bytes.reset();
         for (auto& port : c.switches[0].ports) {
           port.queue.reserved_bytes = 0;
           for (auto& queue : port.queues) queue.queue.reserved_bytes = 0;
         }
       },
       key, "\"switch\": needs total_bytes in [switch.buffer]"},
      {[&](C& c) { policy(c).mode = RegulationMode::kPace; }, key,
       "\"switch\": must be \"queue\" in a mode that paces"},
      {[&](C& c) {
         policy(c).mode = RegulationMode::kMarkPace;
         policy(c).hears = Subscription::kPort;
       },
       key, "\"port\": must be \"queue\" in a mode that paces"},
      {[&](C& c) {
         policy(c).mode = RegulationMode::kSteer;
         policy(c).recovery = Recovery::kBurstEnd;
         policy(c).predict.from = PredictFrom::kOff;
       },
       key, "\"switch\": must be \"queue\" with mode \"steer\""},
  };
  expect_each_reported(breaches, heard);
}

TEST(PredictConfig, EveryRuleNamesItsKey) {
  const auto policy = [](C& c) -> RegulationPolicy& { return c.switches[0].ports[0].regulation; };
  const Breach<C> breaches[] = {
      {[&](C& c) { policy(c).predict.threshold_packets = 0; },
       "switch[0].port[0].regulation.predict.threshold_packets", "0 packets: must be at least 1"},
      {[&](C& c) { policy(c).predict.idle_gap = 0s; },
       "switch[0].port[0].regulation.predict.idle_gap", "0s: must be longer"},
      {[&](C& c) { policy(c).predict.idle_gap = 61s; },
       "switch[0].port[0].regulation.predict.idle_gap", "61s: must be at most 60s"},
      {[&](C& c) { policy(c).predict.tolerance = 0.5; },
       "switch[0].port[0].regulation.predict.tolerance",
       "0.5: must be more than 0.0 and less than 0.5"},
      {[&](C& c) { policy(c).predict.missed_limit = 0; },
       "switch[0].port[0].regulation.predict.missed_limit", "0: must be at least 1"},
      {[&](C& c) { policy(c).predict.max_jobs = 257; },
       "switch[0].port[0].regulation.predict.max_jobs", "257: must be at most 256"},
      {[&](C& c) { policy(c).lead.reset(); }, "switch[0].port[0].regulation.lead",
       "must say how long before a predicted burst regulation begins"},
      {[&](C& c) { policy(c).mode = RegulationMode::kOff; }, "switch[0].port[0].regulation.mode",
       "\"off\": must regulate"},
  };
  expect_each_reported(breaches, full_config());
}

TEST(LeadConfig, AutoIsRefusedWhereNothingIsMeasured) {
  const auto policy = [](C& c) -> RegulationPolicy& { return c.switches[0].ports[0].regulation; };
  C measured = full_config();
  policy(measured).mode = RegulationMode::kWindow;
  policy(measured).hears = Subscription::kQueue;
  policy(measured).recovery = Recovery::kBurstEnd;
  policy(measured).predict.from = PredictFrom::kOff;
  policy(measured).window.beyond.clear();
  policy(measured).lead = OrAuto<Duration>{};
  measured.switches[0].signals.accept_udp = true;
  ASSERT_TRUE(validate(measured).empty());
  policy(measured).predict.from = PredictFrom::kSignals;
  ASSERT_TRUE(validate(measured).empty()) << "predictions follow it too";
  policy(measured).predict.from = PredictFrom::kOff;
  const char* const key = "switch[0].port[0].regulation.lead";
  const Breach<C> breaches[] = {
      {[&](C& c) { policy(c).mode = RegulationMode::kMark; }, key,
       "\"auto\": needs a mode that holds windows"},
      {[&](C& c) { policy(c).mode = RegulationMode::kPace; }, key,
       "\"auto\": needs a mode that holds windows"},
      {[&](C& c) {
         policy(c).window.beyond = {
             {.name = "far", .destinations = {"10.9.0.0/16"}, .rate = BitRate{1'000'000'000}}};
       },
       key, "\"auto\": needs an empty window.beyond"},
      {[&](C& c) {
         c.switches[0].signals.signers.clear();
         c.switches[0].signals.accept_udp = false;
         c.switches[0].signals.accept_tos = true;
         c.switches[0].signals.require_signed = false;
         for (auto& queue : c.switches[0].ports[0].queues) {
           queue.regulation.lead.reset();
           queue.regulation.predict.from = PredictFrom::kOff;
         }
       },
       key, "\"auto\": needs accept_udp"},
  };
  expect_each_reported(breaches, measured);
}

TEST(PredictConfig, GoesWithEveryModeThatRegulates) {
  for (const auto mode : {RegulationMode::kMark, RegulationMode::kPace, RegulationMode::kWindow}) {
    C c = full_config();
    RegulationPolicy& policy = c.switches[0].ports[0].regulation;
    policy.mode = mode;
    policy.hears = Subscription::kQueue;
    policy.recovery = Recovery::kBurstEnd;
    policy.predict.from = PredictFrom::kSignals;
    EXPECT_TRUE(validate(c).empty()) << format_issues("f", validate(c));
  }
}

// Nobody has to announce anything, but somebody has to be believed.
TEST(PredictConfig, FromTrafficNeedsSourcesAndNoSignals) {
  C c = full_config();
  for (auto& sw : c.switches) sw.signals = {.accept_from = {"10.0.0.0/8"}};
  const auto faults_of_mode = [](const C& config) {
    std::size_t faults = 0;
    for (const auto& issue : validate(config)) faults += issue.key.ends_with("regulation.mode");
    return faults;
  };
  EXPECT_GT(faults_of_mode(c), 0U);
  for (auto& sw : c.switches)
    for (auto& port : sw.ports) {
      const auto hear = [](RegulationPolicy& p) {
        if (p.mode != RegulationMode::kOff) p.predict.from = PredictFrom::kTraffic;
      };
      hear(port.regulation);
      for (auto& queue : port.queues) hear(queue.regulation);
    }
  EXPECT_EQ(faults_of_mode(c), 0U);

  for (auto& sw : c.switches) sw.signals.accept_from.clear();
  EXPECT_NE(format_issues("f", validate(c))
                .find("switch[0].port[0].regulation.predict.from: \"traffic\": needs accept_from, "
                      "trusted or signers in [switch.signals]"),
            std::string::npos)
      << format_issues("f", validate(c));
}

TEST(QueueConfig, AQueueInheritsFromItsPort) {
  const auto result = switch_config_from(parse_toml(R"(
[[device]]
name = "a"
device = "net_null0"
[[switch]]
name = "s"
[[switch.port]]
name = "p"
device = "a"
scheduler = "dwrr"
queue = { limit_packets = 100 }
marker = { kind = "red", red = { kmin_packets = 3 } }
[[switch.port.queues]]
weight = 2.0
[[switch.port.queues]]
limit_packets = 7
marker = { kind = "codel" }
)")
                                             .config.value());
  ASSERT_TRUE(result) << format_issues("text", result.issues);
  const auto& port = result.config->switches[0].ports[0];
  ASSERT_EQ(port.queues.size(), 2U);
  EXPECT_EQ(port.queues[0].queue.limit_packets, 100U);
  EXPECT_EQ(port.queues[0].queue.weight, 2.0);
  EXPECT_EQ(port.queues[0].marker.kind, MarkerKind::kRed);
  EXPECT_EQ(port.queues[1].queue.limit_packets, 7U);
  EXPECT_EQ(port.queues[1].marker.kind, MarkerKind::kCodel);
  EXPECT_EQ(port.queues[1].marker.red.kmin_packets, 3);
}

}  // namespace
}  // namespace outrider::queue_config_test
