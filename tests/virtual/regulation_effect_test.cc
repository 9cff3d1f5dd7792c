// Goal: our implementation shows the effects of the PCN paper (Kang et al., Sensors 2021)
// under its conditions: 200 Mbit/s, RTT 3.5 ms, queue of 60, K = 40, h = 10, three long
// DCTCP flows, bursts of 1 MB. Method: whole runs in virtual time on a fixed schedule. The
// arms of a comparison share their seeds, and every claim is about means over seeds.
#include "tests/virtual/regulation_effect.h"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/support/simulation.h"

namespace outrider::regulation_effect_test {
using namespace sw;
using namespace tg;
using namespace lab;
namespace {

TEST_F(RegulationEffect, SignalTakesOneRoundTripThroughEverySwitch) {
  Dumbbell d;
  d.background_flows = 0;
  d.workers = 2;
  mark(d);
  const RunResult r = run(d, *pool_);
  ASSERT_EQ(r.traffic.bursts.size(), 6U);
  for (const auto& b : r.traffic.bursts) {
    const Duration answer{b.ack_received_ns - b.start_sent_ns};
    EXPECT_GE(answer, d.rtt);
    EXPECT_LT(answer, d.rtt + std::chrono::microseconds(60));
    EXPECT_GE(b.released_ns, b.start_sent_ns + d.job.announce.lead.count());
    EXPECT_GE(b.first_sent_ns, b.ack_received_ns);
  }
  // 3 iterations x 2 workers; no other packet is a signal.
  const auto signals_at = [&r](const char* sw, const char* port) {
    return queue_of(r, sw, port).transmitted[TrafficClass::kSignal];
  };
  EXPECT_EQ(signals_at("left", "trunk"), 6U);
  EXPECT_EQ(signals_at("right", "s0"), 6U);
  EXPECT_EQ(signals_at("right", "trunk"), 6U);
  EXPECT_EQ(signals_at("left", "w0") + signals_at("left", "w1"), 6U);
  EXPECT_EQ(r.traffic.starts_sent, 6U);
  EXPECT_EQ(r.traffic.acks_received, 6U);
}

// (a) A full queue does not delay the signal. Only if the switch does not accept it, the
// signal waits like any packet.
TEST_F(RegulationEffect, SignalOvertakesTheQueue) {
  const auto longest_answer = [this](bool accept) {
    Dumbbell d;
    d.accept_signals = accept;
    const RunResult r = run(d, *pool_);
    Duration longest{};
    for (const auto& b : r.traffic.bursts)
      longest = std::max(longest, Duration{b.ack_received_ns - b.start_sent_ns} - d.rtt);
    return longest;
  };
  const Duration one_frame = std::chrono::microseconds(62);  // 1538 B at 200 Mbit/s
  EXPECT_LT(longest_answer(true), 2 * one_frame + std::chrono::microseconds(60));
  EXPECT_GT(longest_answer(false), 10 * one_frame);
}

// (b) DCTCP changes its estimate by 1/16 per window, so one RTT of lead shortens the queue
// only a little. With eight RTTs the burst finds it below h.
TEST_F(RegulationEffect, StartQueueFallsBelowThresholdGivenLead) {
  const double off = mean_of(arm(off_with_lead(1)), &Outcome::start_packets);
  const double one = mean_of(arm(mark_with_lead(1)), &Outcome::start_packets);
  const double four = mean_of(arm(mark_with_lead(4)), &Outcome::start_packets);
  const double eight = mean_of(arm(mark_with_lead(8)), &Outcome::start_packets);
  RecordProperty("off_1_4_8", std::to_string(off) + " " + std::to_string(one) + " " +
                                  std::to_string(four) + " " + std::to_string(eight));
  EXPECT_GT(off, 27) << "near K = 40: the saw-tooth's mean";
  EXPECT_LT(off, 41);
  EXPECT_LT(one, off + 2) << "not worse";
  EXPECT_GT(one, 15) << "far from drained: the lead is a lever, not a detail";
  EXPECT_LT(four, off - 4);
  EXPECT_LT(eight, 10) << "below h";
}

// (b) Senders that ignore marks, or never negotiated ECN, do not react, however long the
// lead.
TEST_F(RegulationEffect, MarkDoesNothingToBackgroundThatIgnoresEcn) {
  const Change deaf = [](Dumbbell& d) { d.background_tcp.obey_ece = false; };
  const Change not_ect = [](Dumbbell& d) {
    d.background_tcp.ecn = false;
    d.background_tcp.control.controller = Controller::kReno;
  };
  for (const auto& background : {deaf, not_ect}) {
    const Change common = [&](Dumbbell& d) {
      background(d);
      d.job.burst_bytes = 30'000;  // the queue is the background's: a long burst would starve
      d.ddl_tcp.min_rto = milliseconds(10);
      d.ddl_tcp.delayed_ack = milliseconds(5);
    };
    const auto off = arm([&](Dumbbell& d) {
      common(d);
      off_with_lead(8)(d);
    });
    const auto on = arm([&](Dumbbell& d) {
      common(d);
      mark_with_lead(8)(d);
    });
    EXPECT_GT(mean_of(on, &Outcome::starts), 0);
    EXPECT_GT(mean_of(on, &Outcome::start_packets), mean_of(off, &Outcome::start_packets) - 3);
    EXPECT_GT(mean_of(on, &Outcome::start_packets), 15);
  }
}

// (c) and (d): keeping the low threshold to the end and sparing the burst makes the burst
// much faster. The paper's recovery on arrival with one RTT of lead is not worse than no
// regulation, and it gains too with a long lead.
TEST_F(RegulationEffect, BurstsAreFasterAndQueuesShorter) {
  const auto off = arm(off_with_lead(1));
  const auto paper = arm(mark_with_lead(1));
  const auto led = arm(mark_with_lead(8));
  const auto held = arm([](Dumbbell& d) {
    mark_with_lead(4)(d);
    hold_and_spare(d);
  });
  const auto ratio = [&off](const std::vector<Outcome>& on, double Outcome::*metric) {
    return mean_of(on, metric) / mean_of(off, metric);
  };
  for (const auto& [name, on] : {std::pair{"paper", &paper}, {"led", &led}, {"held", &held}}) {
    RecordProperty(name,
                   "completion " + std::to_string(ratio(*on, &Outcome::completion_ms)) +
                       " communication " + std::to_string(ratio(*on, &Outcome::communication_ms)) +
                       " throughput " + std::to_string(ratio(*on, &Outcome::throughput_mbit)) +
                       " maximum " + std::to_string(ratio(*on, &Outcome::max_packets)) + " drops " +
                       std::to_string(mean_of(*on, &Outcome::drops)));
  }
  RecordProperty("off", "completion_ms " + std::to_string(mean_of(off, &Outcome::completion_ms)) +
                            " maximum " + std::to_string(mean_of(off, &Outcome::max_packets)) +
                            " drops " + std::to_string(mean_of(off, &Outcome::drops)));
  EXPECT_LT(ratio(paper, &Outcome::completion_ms), 1.10);
  EXPECT_GT(ratio(paper, &Outcome::throughput_mbit), 0.90);
  EXPECT_LT(ratio(led, &Outcome::completion_ms), 0.75);
  EXPECT_LT(ratio(held, &Outcome::completion_ms), 0.55);
  EXPECT_GT(ratio(held, &Outcome::throughput_mbit), 1.7);
  EXPECT_LT(ratio(held, &Outcome::communication_ms), 0.65) << "the wait included";
  EXPECT_LT(ratio(led, &Outcome::max_packets), 0.95);
  EXPECT_LT(ratio(held, &Outcome::max_packets), 0.97);
}

// (c) The paper's arm loses almost no packets. A drained queue loses some, because the
// burst's slow start continues and overshoots, but far fewer than a queue that does not
// mark.
TEST_F(RegulationEffect, TailDropsAreFew) {
  EXPECT_LT(mean_of(arm(mark_with_lead(1)), &Outcome::drops), 3);
  const Change room = [](Dumbbell& d) {
    mark_with_lead(8)(d);
    d.ddl_tcp.reuse = ConnectionReuse::kIdleRestart;
  };
  const auto on = arm(room);
  const auto tail_drop = arm([&](Dumbbell& d) {
    room(d);
    d.bottleneck_port.marker.kind = MarkerKind::kTailDrop;
  });
  RecordProperty("drops_on", std::to_string(mean_of(on, &Outcome::drops)));
  EXPECT_GT(mean_of(tail_drop, &Outcome::drops), 20);
  EXPECT_LT(mean_of(on, &Outcome::drops), 0.25 * mean_of(tail_drop, &Outcome::drops));
}

// (e) The background loses rate during a burst and has it back before the next burst.
TEST_F(RegulationEffect, BackgroundPaysAndGetsItBack) {
  const auto off = arm(off_with_lead(4));
  const auto on = arm([](Dumbbell& d) {
    mark_with_lead(4)(d);
    hold_and_spare(d);
  });
  const double share =
      mean_of(on, &Outcome::background_mbit) / mean_of(off, &Outcome::background_mbit);
  const double tail = mean_of(on, &Outcome::tail_mbit) / mean_of(off, &Outcome::tail_mbit);
  RecordProperty("background_share", std::to_string(share));
  RecordProperty("background_share_tail", std::to_string(tail));
  EXPECT_LT(share, 0.995) << "no free lunch";
  EXPECT_GT(share, 0.80);
  EXPECT_GT(tail, 0.97);
}

// (f) Every armed entry has ended, with one worker and with several.
TEST_F(RegulationEffect, EntriesReturnToZero) {
  for (const std::uint32_t workers : {1U, 2U, 4U}) {
    for (const bool hold : {false, true}) {
      const Outcome o = run_once(
          [&](Dumbbell& d) {
            mark(d);
            if (hold) hold_and_spare(d);
            d.workers = workers;
            d.job.burst_bytes = 300'000;
          },
          1, *pool_);
      EXPECT_EQ(o.starts, kIterations * workers);
      EXPECT_EQ(o.recovered, o.starts);
      EXPECT_EQ(o.entries_left, 0);
      EXPECT_GT(o.regulated_ms, 0);
    }
  }
}

// (g) k = 1 is no regulation: the run is the same, packet for packet.
TEST_F(RegulationEffect, ThresholdEqualToTheInitialOneChangesNothing) {
  const auto off = arm(off_with_lead(4));
  const auto on = arm([](Dumbbell& d) {
    mark_with_lead(4)(d);
    d.job.announce.threshold_packets = 40;
  });
  for (std::size_t i = 0; i < off.size(); ++i) {
    EXPECT_EQ(on[i].start_packets, off[i].start_packets);
    EXPECT_EQ(on[i].completion_ms, off[i].completion_ms);
    EXPECT_EQ(on[i].background_mbit, off[i].background_mbit);
    EXPECT_GT(on[i].starts, 0) << "regulated all the same";
  }
}

// (g) More lead and a lower threshold never lengthen the start queue, within the noise of
// the seeds. The burst waits for the ACK, so leads of 0, 1/2 and 1 RTT give the same run.
TEST_F(RegulationEffect, SweepOfLeadAndThreshold) {
  const auto point = [this](double rtts, std::uint16_t h) {
    return arm([rtts, h](Dumbbell& d) {
      mark(d);
      d.job.announce.lead = from_seconds(outrider::seconds(d.rtt) * rtts);
      d.job.announce.threshold_packets = h;
    });
  };
  constexpr double kNoise_packets = 3;
  std::vector<double> by_lead;
  for (const double rtts : {0.0, 0.5, 1.0, 2.0, 4.0, 8.0})
    by_lead.push_back(mean_of(point(rtts, 10), &Outcome::start_packets));
  EXPECT_EQ(by_lead[0], by_lead[1]);
  EXPECT_NEAR(by_lead[1], by_lead[2], 1) << "the ACK takes one RTT and a little";
  for (std::size_t i = 1; i < by_lead.size(); ++i)
    EXPECT_LT(by_lead[i], by_lead[i - 1] + kNoise_packets);
  EXPECT_LT(by_lead.back(), 0.4 * by_lead.front());
  std::vector<double> by_threshold;
  for (const std::uint16_t h :
       {std::uint16_t{40}, std::uint16_t{20}, std::uint16_t{10}, std::uint16_t{5}})
    by_threshold.push_back(mean_of(point(8, h), &Outcome::start_packets));
  for (std::size_t i = 1; i < by_threshold.size(); ++i)
    EXPECT_LT(by_threshold[i], by_threshold[i - 1] + kNoise_packets);
  EXPECT_LT(by_threshold[2], 0.5 * by_threshold[0]);
  std::string line;
  for (const double v : by_lead) line += std::to_string(v) + " ";
  line += "| ";
  for (const double v : by_threshold) line += std::to_string(v) + " ";
  RecordProperty("start_queue_by_lead_and_by_threshold", line);
}

// (h) At another loaded port of the same switch not a single packet differs.
TEST_F(RegulationEffect, SecondPortIsUnaffected) {
  const auto second_port = [this](bool on) {
    Dumbbell d;
    if (on) mark_with_lead(8)(d);
    else d.job.announce.lead = 8 * d.rtt;
    SwitchProcessConfig switches = d.switches();
    GeneratorConfig traffic = d.traffic();
    SwitchConfig& left = switches.switches[0];
    for (const char* name : {"e0", "f0"}) {
      SwitchPortConfig port = d.bottleneck_port;
      port.name = name;
      port.drain_rate = BitRate{100'000'000};
      port.delay = milliseconds(1);
      port.device = "left";
      left.ports.push_back(port);
      const std::string address = name[0] == 'e' ? "10.0.5.1" : "10.0.6.1";
      left.routes.push_back({address + "/32", name});
      traffic.hosts.push_back(
          {.name = name, .address = address, .device = "left", .rate = d.host_rate});
    }
    LongFlowsConfig flow;
    flow.name = "second";
    flow.from = {"e0"};
    flow.to = {"f0"};
    flow.transport = "background";
    flow.tcp_port = 30000;
    traffic.long_flows.push_back(flow);
    EXPECT_TRUE(validate(switches).empty());
    EXPECT_TRUE(validate(traffic).empty());
    Simulation simulation(switches, traffic, *pool_);
    simulation.run_until(Time{} + std::chrono::seconds(5));
    const RunResult r = simulation.result();
    EXPECT_EQ(bottleneck_of(r).starts_armed, on ? 3U : 0U);
    return queue_of(r, "left", "f0");
  };
  const QueueReport off = second_port(false), on = second_port(true);
  EXPECT_EQ(on.starts_armed, 0U);
  EXPECT_EQ(on.regulated_ns, 0);
  EXPECT_EQ(on.marks.values, off.marks.values);
  EXPECT_EQ(on.transmitted.values, off.transmitted.values);
  EXPECT_EQ(on.drops.values, off.drops.values);
  EXPECT_GT(sum(on.transmitted), 10'000U);
  EXPECT_GT(on.marks[TrafficClass::kBackground][0], 100U) << "it is congested";
}

}  // namespace
}  // namespace outrider::regulation_effect_test
