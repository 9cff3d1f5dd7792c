// Goal: a generator's report survives its text form exactly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "trafficgen/report/report_json.h"

namespace outrider::generator_report_json_test {
namespace {

/// Every number differs from every other and from its default.
std::int64_t given = 0;
template <class T>
T next() {
  return static_cast<T>(++given);
}

/// Fills what a binding names.
struct Numbering {
  std::size_t fields = 0;
  void value(const char*, std::uint64_t& v) {
    v = next<std::uint64_t>();
    ++fields;
  }
};

GeneratorReport filled_report() {
  GeneratorReport r;
  for (auto* v : {&r.bin_ns, &r.end_ns, &r.longest_poll_gap_ns}) *v = next<std::int64_t>();
  for (auto* v : {&r.sent, &r.received, &r.consumed, &r.mbuf_exhausted, &r.starts_sent,
                  &r.acks_sent, &r.acks_received, &r.ack_timeouts, &r.late_iterations,
                  &r.device_rx_missed, &r.device_rx_nombuf, &r.device_full_waits})
    *v = next<std::uint64_t>();
  for (auto& count : r.drops) count = next<std::uint64_t>();
  for (auto* v : {&r.starts.meant, &r.starts.lost, &r.starts.late, &r.starts.early,
                  &r.starts.duplicated, &r.starts.forged})
    *v = next<std::uint64_t>();
  r.jobs_finished = true;
  r.ledger_balanced = true;
  BurstRecord burst;
  burst.identity = {next<std::uint16_t>(), next<std::uint16_t>(), next<std::uint32_t>(),
                    BurstDirection::kPull};
  burst.bytes = next<std::uint64_t>();
  for (auto* v : {&burst.due_ns, &burst.start_sent_ns, &burst.ack_received_ns, &burst.released_ns,
                  &burst.first_sent_ns, &burst.delivered_ns})
    *v = next<std::int64_t>();
  burst.rtos = next<std::uint32_t>();
  burst.retransmitted = next<std::uint32_t>();
  burst.ack_timed_out = true;
  for (auto* v : {&burst.delivered_bytes, &burst.lost_bytes, &burst.unsent_bytes})
    *v = next<std::uint64_t>();
  r.bursts = {burst, {}};
  r.iterations = {{next<std::uint16_t>(), next<std::uint16_t>(), next<std::uint32_t>(),
                   next<std::int64_t>(), next<std::int64_t>(), next<std::int64_t>(),
                   next<std::int64_t>(), next<std::int64_t>(), next<std::int64_t>(),
                   next<std::int64_t>(), next<std::int64_t>(), next<std::int64_t>(),
                   next<std::int64_t>(), next<std::int64_t>(), next<std::uint32_t>(),
                   next<std::uint32_t>(), true, next<std::int64_t>(), next<std::uint32_t>()}};
  JobReport job;
  job.name = "job";
  job.finished = true;
  for (auto* v :
       {&job.begin_ns, &job.end_ns, &job.iteration_p50_ns, &job.iteration_p99_ns,
        &job.iteration_max_ns, &job.compute_mean_ns, &job.wait_mean_ns, &job.wait_max_ns,
        &job.first_layer_mean_ns, &job.forward_wait_mean_ns, &job.r2sp_period_ns, &job.r2sp_gap_ns})
    *v = next<std::int64_t>();
  job.nic_send_idle_share = 0.125;
  job.nic_receive_idle_share = 0.375;
  for (auto* v : {&job.iterations, &job.straggled}) *v = next<std::uint64_t>();
  for (auto* v : {&job.workers, &job.ahead_max}) *v = next<std::uint32_t>();
  job.job = next<std::uint16_t>();
  job.staleness = {5, 0, 7};
  job.worker_blocked_mean_ns = {8, 0, 9};
  r.jobs = {job};
  LearnerReport learner;
  learner.name = "job";
  for (auto* v : {&learner.parameters, &learner.gradients, &learner.samples, &learner.zeroed_values,
                  &learner.kept_values, &learner.losses_every})
    *v = next<std::uint64_t>();
  for (auto* v : {&learner.target_ns, &learner.target_gradients, &learner.diverged_ns})
    *v = next<std::int64_t>();
  learner.first_loss = 0.75;
  learner.last_loss = 0.25;
  learner.least_loss = 0.125;
  learner.target_loss = 0.375;
  learner.job = next<std::uint16_t>();
  learner.losses = {{next<std::int64_t>(), next<std::uint64_t>(), 0.1}, {}};
  r.learners = {learner};
  FlowReport flow;
  flow.name = "long \xC3\xA4 0";
  flow.traffic_class = TrafficClass::kDdl;
  for (auto* v : {&flow.delivered_bytes, &flow.retransmitted, &flow.rtos_data, &flow.rtos_handshake,
                  &flow.fast_recoveries, &flow.ece_reductions})
    *v = next<std::uint64_t>();
  r.flows = {flow};
  GoodputBin bin;
  for (auto& bytes : bin.delivered_bytes.values) bytes = next<std::uint64_t>();
  r.bins = {bin};
  Numbering numbering;
  fields(numbering, r.tcp_events);
  EXPECT_EQ(numbering.fields * sizeof(std::uint64_t), sizeof(TcpEvents)) << "all are bound";
  return r;
}

TEST(GeneratorReportJson, SurvivesTheRoundTripExactly) {
  const GeneratorReport r = filled_report();
  const GeneratorReport back = generator_report_from_json(to_json(r));
  EXPECT_EQ(to_json(back), to_json(r));
  EXPECT_EQ(back.drops, r.drops);
  EXPECT_TRUE(back.jobs_finished);
  EXPECT_TRUE(back.ledger_balanced);
  ASSERT_EQ(back.bursts.size(), 2U);
  EXPECT_EQ(back.bursts[0].identity, r.bursts[0].identity);
  EXPECT_EQ(back.bursts[0].delivered_ns, r.bursts[0].delivered_ns);
  EXPECT_TRUE(back.bursts[0].ack_timed_out);
  EXPECT_EQ(back.bursts[1].delivered_ns, kNotYet_ns);
  ASSERT_EQ(back.flows.size(), 1U);
  EXPECT_EQ(back.flows[0].name, r.flows[0].name);
  EXPECT_EQ(back.flows[0].traffic_class, TrafficClass::kDdl);
  ASSERT_EQ(back.learners.size(), 1U);
  EXPECT_EQ(back.learners[0].losses.size(), 2U);
}

// Every field is bound: each number of the filled report stands in the text.
TEST(GeneratorReportJson, ForgetsNoField) {
  const std::int64_t before = given;
  const std::string text = to_json(filled_report());
  EXPECT_GT(given - before, 40) << "the report is filled";
  for (std::int64_t n = before + 1; n <= given; ++n) {
    const std::string number = ":" + std::to_string(n);
    EXPECT_TRUE(text.find(number + ",") != std::string::npos ||
                text.find(number + "}") != std::string::npos)
        << "number " << n << " is missing";
  }
}

TEST(GeneratorReportJson, RefusesTheReportOfASwitch) {
  std::string text = to_json(filled_report());
  text.replace(text.find("generator_report"), 16, "switch_report");
  EXPECT_THROW(generator_report_from_json(text), std::runtime_error);
}

}  // namespace
}  // namespace outrider::generator_report_json_test
