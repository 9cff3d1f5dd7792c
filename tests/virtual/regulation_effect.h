#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "tests/support/simulation.h"

namespace outrider {

using std::chrono::milliseconds;

constexpr std::uint32_t kIterations = 6;
constexpr Duration kFirstDue = std::chrono::seconds(1);
constexpr Duration kPeriod = milliseconds(500);
constexpr Duration kTail = milliseconds(100);  ///< last part of a period, long after every burst

/// Results of one run at the bottleneck, as means over its bursts.
struct Outcome {
  double start_packets = 0;  ///< background packets found by a burst's first packet
  double max_packets = 0;
  double completion_ms = 0;
  double communication_ms = 0;
  double throughput_mbit = 0;
  double background_mbit = 0;  ///< goodput over the schedule
  double tail_mbit = 0;        ///< background in the last kTail of every period
  double drops = 0;            ///< at the bottleneck, during the schedule
  double rtos = 0;
  double regulated_ms = 0;
  double starts = 0;
  double recovered = 0;  ///< entries ended by arrival or end of the burst
  double entries_left = 0;
};

inline double background_bytes(const tg::GeneratorReport& r, Time from, Time to) {
  double bytes = 0;
  for (std::size_t i = 0; i < r.bins.size(); ++i) {
    const Time at{Duration{static_cast<std::int64_t>(i) * r.bin_ns}};
    if (at >= from && at < to)
      bytes += static_cast<double>(r.bins[i].delivered_bytes[TrafficClass::kBackground]);
  }
  return bytes;
}

inline double to_mbit(double bytes, Duration d) { return bytes * 8e-6 / outrider::seconds(d); }

inline Outcome outcome_of(const Dumbbell& d, const lab::RunResult& r, std::uint64_t drops_before) {
  Outcome o;
  const sw::QueueReport& q = bottleneck_of(r);
  EXPECT_EQ(q.bursts.size(), kIterations * d.workers);
  EXPECT_EQ(r.traffic.bursts.size(), kIterations * d.workers);
  const auto bursts = static_cast<double>(q.bursts.size());
  for (const auto& b : q.bursts) {
    o.start_packets += b.start_packets[TrafficClass::kBackground] / bursts;
    o.max_packets += b.max_packets / bursts;
  }
  for (const auto& b : r.traffic.bursts) {
    EXPECT_NE(b.delivered_ns, tg::kNotYet_ns);
    const Duration completion{b.delivered_ns - b.first_sent_ns};
    o.completion_ms += outrider::seconds(completion) * 1e3 / bursts;
    o.communication_ms += outrider::seconds(Duration{b.delivered_ns - b.due_ns}) * 1e3 / bursts;
    o.throughput_mbit += to_mbit(static_cast<double>(b.bytes), completion) / bursts;
    o.rtos += b.rtos;
  }
  const Time begin = Time{} + kFirstDue;
  const Duration length = kPeriod * kIterations;
  o.background_mbit = to_mbit(background_bytes(r.traffic, begin, begin + length), length);
  for (std::uint32_t i = 1; i <= kIterations; ++i) {
    const Time end = begin + kPeriod * i;
    o.tail_mbit += to_mbit(background_bytes(r.traffic, end - kTail, end), kTail) / kIterations;
  }
  o.drops = static_cast<double>(sum(q.drops) - drops_before);
  o.regulated_ms = outrider::seconds(Duration{q.regulated_ns}) * 1e3;
  o.starts = static_cast<double>(q.starts_armed);
  o.recovered = static_cast<double>(q.recovered_arrival + q.recovered_burst_end);
  o.entries_left = static_cast<double>(q.entries_left);
  return o;
}

using Change = std::function<void(Dumbbell&)>;

inline Outcome run_once(const Change& change, std::uint64_t seed, rte_mempool& pool) {
  Dumbbell d;
  d.seed = seed;
  d.job.iterations = kIterations;
  d.job.first_due = kFirstDue;
  d.job.period = kPeriod;
  d.job.due_jitter = milliseconds(20);  // bursts meet any phase of the saw-tooth
  change(d);
  EXPECT_TRUE(validate(d.switches()).empty());
  EXPECT_TRUE(validate(d.traffic()).empty());
  lab::Simulation simulation(d.switches(), d.traffic(), pool);
  simulation.run_until(Time{} + kFirstDue - milliseconds(50));
  const std::uint64_t drops_before = sum(bottleneck_of(simulation.result()).drops);
  simulation.run_until(Time{} + kFirstDue + kPeriod * kIterations);
  const lab::RunResult r = simulation.result();
  EXPECT_TRUE(r.switches.ledger_balanced && r.traffic.ledger_balanced);
  EXPECT_TRUE(r.traffic.jobs_finished);
  return outcome_of(d, r, drops_before);
}

class RegulationEffect : public testing::Test {
 protected:
  std::vector<Outcome> arm(const Change& change) const {
    std::vector<Outcome> outcomes;
    for (std::uint64_t seed = 1; seed <= seeds_; ++seed)
      outcomes.push_back(run_once(change, seed, *pool_));
    return outcomes;
  }
  static double mean_of(const std::vector<Outcome>& arm, double Outcome::*metric) {
    double total = 0;
    for (const auto& o : arm) total += o.*metric;
    return total / static_cast<double>(arm.size());
  }
  Mempool pool_ = make_test_pool();
  std::uint32_t seeds_ = seeds(6, 40);
};

/// Marks as in the PCN paper.
inline void mark(Dumbbell& d) {
  d.bottleneck_port.regulation.mode = RegulationMode::kMark;
  d.bottleneck_port.regulation.recovery = Recovery::kArrival;
  d.bottleneck_port.regulation.spare_ddl = false;
}
inline Change mark_with_lead(int rtts) {
  return [rtts](Dumbbell& d) {
    mark(d);
    d.job.announce.lead = rtts * d.rtt;
  };
}
inline Change off_with_lead(int rtts) {
  return [rtts](Dumbbell& d) { d.job.announce.lead = rtts * d.rtt; };
}
inline void hold_and_spare(Dumbbell& d) {
  mark(d);
  d.bottleneck_port.regulation.recovery = Recovery::kBurstEnd;
  d.bottleneck_port.regulation.spare_ddl = true;
}

// (a) On an empty path the answer takes the propagation, the time of four short frames and
// each NIC's random wait. Both signals cross both switches.

}  // namespace outrider
