// Goal: as generator_config_test.cc, for what a job alone says.
#include "trafficgen/workload/config/job_config.h"

#include <gtest/gtest.h>

#include "common/config/config_file.h"
#include "tests/unit/config/full_job.h"
#include "tests/unit/config/issue_matchers.h"

namespace outrider::job_config_test {
using namespace tg;

namespace {

using namespace std::chrono_literals;

JobConfig closed_job() {
  JobConfig c = full_job();
  c.schedule = Schedule::kClosedLoop;
  c.announce.lead = 1ms;
  return c;
}

TEST(JobConfig, AListOfStepsIsOfItsCollective) {
  JobConfig steps = closed_job();
  steps.collective = Collective::kSteps;
  steps.servers.clear();
  steps.burst_bytes.reset();
  steps.compute.reset();
  steps.shard_by = ShardRule::kBytes;
  const Breach<JobConfig> rows[] = {{[](JobConfig& c) { c.collective = Collective::kRing; },
                                     "job[0].steps", "needs collective \"steps\""},
                                    {[](JobConfig& c) {
                                       c.steps.reset();
                                       c.burst_bytes = 1000;
                                     },
                                     "job[0].steps", "is required with collective \"steps\""},
                                    {[](JobConfig& c) { c.burst_bytes = 1000; }, "job[0].steps",
                                     "must not be given together with burst_bytes"}};
  for (const auto& row : rows) {
    JobConfig c = steps;
    c.steps = "list.csv";
    row.change(c);
    ConfigIssues issues;
    check(Checks(issues, "job[0]"), c);
    EXPECT_NE(
        format_issues("", issues).find(std::string(row.key) + ": " + std::string(row.problem)),
        std::string::npos)
        << format_issues("", issues);
  }
}

TEST(JobConfig, AJobThatComesAgain) {
  JobConfig job = full_job();
  job.start = 1s;
  job.arrivals = {5s, 9s};
  EXPECT_EQ(write_config(arrival(job, 0)), write_config(job));
  const JobConfig third = arrival(job, 2);
  EXPECT_EQ(std::tuple(third.name, third.start, third.tcp_port),
            std::tuple("fixed#3", Duration{10s}, 5003));
}

TEST(JobConfig, EveryRuleNamesItsKey) {
  using C = JobConfig;
  EXPECT_TRUE(validate(full_job()).empty());
  const Breach<C> breaches[] = {
      {[](C& c) {
         c.workers = {"w0", "w0"};
       },
       "job[0].workers[1]", "\"w0\": is named twice"},
      {[](C& c) { c.iterations = 3'000'000; }, "job[0].iterations",
       "3000000: must be at most 2097152"},
      {[](C& c) { c.start = -1s; }, "job[0].start", "-1s: must not be negative"},
      {[](C& c) { c.stop_after = 0s; }, "job[0].stop_after", "0s: must be longer"},
      {[](C& c) { c.batch_jitter = 0.1; }, "job[0].batch_jitter", "needs schedule"},
      {[](C& c) {
         c.compute_factors = {1, 2};
       },
       "job[0].compute_factors", "needs schedule"},
      {[](C& c) { c.stragglers = {{.factor = 2}}; }, "job[0].straggler[0].factor",
       "needs schedule"},
      {[](C& c) { c.stragglers = {{.share = 0, .delay = 1ms}}; }, "job[0].straggler[0].share",
       "0.0: must be more than 0.0"},
      {[](C& c) { c.stragglers = {{.share = 1.5, .delay = 1ms}}; }, "job[0].straggler[0].share",
       "1.5: must be more than 0.0 and at most 1.0"},
      {[](C& c) {
         c.stragglers = {{}, {.delay = 1ms}};
       },
       "job[0].straggler[0].delay", "one of factor and delay is required"},
      {[](C& c) { c.stragglers = {{.delay = -1ms}}; }, "job[0].straggler[0].delay",
       "-1ms: must not be negative"},
      {[](C& c) {
         c.stragglers = {{.workers = {"w1", "s0"}, .delay = 1ms}};
       },
       "job[0].straggler[0].workers[1]", "\"s0\": is no worker of this job"},
  };
  expect_each_reported(breaches, full_job());
  const Breach<C> of_rules[] = {
      {[](C& c) { c.synchronisation = Synchronisation::kSsp; }, "job[0].staleness_bound",
       "is required with synchronisation \"ssp\""},
      {[](C& c) { c.staleness_bound = 1; }, "job[0].staleness_bound",
       "1: needs synchronisation \"ssp\""},
      {[](C& c) { c.shard_by = ShardRule::kRoundRobin; }, "job[0].shard_by", "needs a model"},
      {[](C& c) {
         c.servers = {"s0", "s1"};
         c.burst_bytes = 1;
       },
       "job[0].burst_bytes", "1 bytes: must be at least 2"},
      {[](C& c) {
         c.arrivals = {1s, 0s};
       },
       "job[0].arrivals[1]", "0s: must be longer"},
      {[](C& c) {
         c.tcp_port = 65534;
         c.arrivals = {1s, 2s};
       },
       "job[0].arrivals", "2 arrivals: need a port each"},
  };
  expect_each_reported(of_rules, full_job());
  const Breach<C> of_closed_loops[] = {
      {[](C& c) { c.batch_jitter = 1; }, "job[0].batch_jitter", "1.000000: must be at least 0"},
      {[](C& c) { c.compute_factors = {1}; }, "job[0].compute_factors",
       "1 factors: must be one for each worker, 2"},
      {[](C& c) {
         c.compute_factors = {1, 0};
       },
       "job[0].compute_factors[1]", "0.0: must be more than 0.0"},
      {[](C& c) { c.stragglers = {{.factor = 0.5}}; }, "job[0].straggler[0].factor",
       "0.5: must be at least 1.0"},
  };
  C ring = closed_job();
  ring.collective = Collective::kRing;
  ring.servers.clear();
  ring.pull = true;
  ring.aggregate = {};
  EXPECT_TRUE(validate(ring).empty());
  const Breach<C> of_rings[] = {
      {[](C& c) { c.servers = {"s0"}; }, "job[0].servers", "must not be given with collective"},
      {[](C& c) { c.workers = {"w0"}; }, "job[0].workers",
       "1 workers: must be at least 2 with collective \"ring\""},
      {[](C& c) { c.synchronisation = Synchronisation::kAsp; }, "job[0].synchronisation",
       "must be \"bsp\""},
      {[](C& c) { c.pull = false; }, "job[0].pull", "false: must be true"},
      {[](C& c) { c.aggregate = 1us; }, "job[0].aggregate", "1us: must be 0s"},
      {[](C& c) { c.burst_bytes = 1; }, "job[0].burst_bytes", "1 bytes: must be at least 2"},
  };
  expect_each_reported(of_rings, ring);
  for (const Collective c : {Collective::kHalvingDoubling, Collective::kTree, Collective::kAllToAll,
                             Collective::kPipeline}) {
    ring.collective = c;
    if (c == Collective::kPipeline) ring.burst_bytes = 8;
    EXPECT_TRUE(validate(ring).empty()) << name_of(c);
  }
  const Breach<C> of_pipelines[] = {
      {[](C& c) { c.workers = {"w0"}; }, "job[0].workers",
       "1 workers: must be at least 2 with collective \"pipeline\""},
      {[](C& c) { c.all_to_all.skew = 1; }, "job[0].all_to_all.skew",
       "1.0: needs collective \"all_to_all\""},
      {[](C& c) { c.pipeline.micro_batches = 9; }, "job[0].burst_bytes",
       "8 bytes: must be at least 9"},
      {[](C& c) { c.pipeline.micro_batches = 0; }, "job[0].pipeline.micro_batches",
       "0: must be at least 1"},
      {[](C& c) {
         c.model = "model.toml";
         c.burst_bytes.reset();
       },
       "job[0].model", "must not be given with collective \"pipeline\", whose data are"},
  };
  expect_each_reported(of_pipelines, ring);
  ring.collective = Collective::kAllToAll;
  const Breach<C> of_all_to_all[] = {
      {[](C& c) { c.all_to_all.skew = -1; }, "job[0].all_to_all.skew", "-1.0: must be at least 0"},
      {[](C& c) { c.pipeline.micro_batches = 2; }, "job[0].pipeline.micro_batches",
       "2: needs collective \"pipeline\""},
  };
  expect_each_reported(of_all_to_all, ring);
  EXPECT_TRUE(validate(closed_job()).empty());
  const Breach<C> of_policies[] = {
      {[](C& c) { c.send_policy = SendPolicyKind::kWfbp; }, "job[0].send_policy",
       "\"wfbp\": needs a model"},
  };
  expect_each_reported(of_policies, closed_job());
  expect_each_reported(of_closed_loops, closed_job());
}

TEST(JobConfig, ALeadThatNobodyCanTellIsRefused) {
  using C = JobConfig;
  C followed = full_job();
  followed.announce.lead_limit = 30ms;
  ASSERT_TRUE(validate(followed).empty());
  const char* const key = "job[0].announce.lead_limit";
  const Breach<C> breaches[] = {
      {[](C& c) { c.announce.lead_limit = 19ms; }, key,
       "19ms: must not be shorter than lead, 20ms"},
      {[](C& c) { c.announce.lead_limit = 2s; }, key, "2s: must not be longer than period, 1s"},
      {[](C& c) { c.announce.signal_form = SignalForm::kTos; }, key,
       "30ms: needs signal_form \"udp\""},
      {[](C& c) { c.announce.signal_key = "job.key"; }, key,
       "30ms: needs a job without signal_key"},
      {[](C& c) { c.announce.lead_source = LeadSource::kNone; }, key, "30ms: needs lead_source"},
  };
  expect_each_reported(breaches, followed);
}

TEST(JobConfig, OnlyPullsThatThereAreCanBeAnnounced) {
  using C = JobConfig;
  C announced = full_job();
  announced.announce.pulls = announced.pull = true;
  ASSERT_TRUE(validate(announced).empty());
  const Breach<C> breaches[] = {
      {[](C& c) { c.pull = false; }, "job[0].announce.pulls",
       "true: needs collective \"ps\" with pull = true"},
  };
  expect_each_reported(breaches, announced);
}

TEST(JobConfig, PoliciesRefuseWhatMakesNoSenseToThem) {
  using C = JobConfig;
  C prophet = closed_job();
  prophet.burst_bytes.reset();
  prophet.model = "x";
  prophet.pull = true;
  prophet.send_policy = SendPolicyKind::kProphet;
  prophet.policy = {.granularity = Granularity::kTensor,
                    .partition_bytes = 1'000'000,
                    .credit_bytes = 4'000'000,
                    .bandwidth_error = 0.5};
  EXPECT_TRUE(validate(prophet).empty());
  const Breach<C> breaches[] = {
      {[](C& c) { c.policy.granularity = Granularity::kShard; }, "job[0].policy.granularity",
       "\"shard\": must be \"tensor\" with send_policy \"prophet\""},
      {[](C& c) { c.pull = false; }, "job[0].policy.granularity", "\"tensor\": needs pull"},
      {[](C& c) { c.synchronisation = Synchronisation::kAsp; }, "job[0].policy.granularity",
       "\"tensor\": needs synchronisation \"bsp\""},
      {[](C& c) {
         c.aggregate = {};
         c.collective = Collective::kRing;
         c.servers.clear();
       },
       "job[0].policy.granularity", "\"tensor\": needs collective \"ps\""},
      {[](C& c) {
         c.schedule = Schedule::kFixed;
         c.period = 1s;
       },
       "job[0].policy.granularity", "\"tensor\": needs schedule \"closed_loop\""},
      {[](C& c) { c.policy.credit_bytes.reset(); }, "job[0].policy.credit_bytes", "is required"},
      {[](C& c) { c.policy.credit_bytes = 999'999; }, "job[0].policy.credit_bytes",
       "999999 bytes: must be at least partition_bytes"},
      {[](C& c) { c.policy.partition_bytes = 999; }, "job[0].policy.partition_bytes",
       "999 bytes: must be at least 1000"},
      {[](C& c) { c.policy.bandwidth_error = 0; }, "job[0].policy.bandwidth_error", "0.0: must be"},
      {[](C& c) { c.policy.profile_iterations = 0; }, "job[0].policy.profile_iterations",
       "0: must be at least 1"},
      {[](C& c) {
         c.policy.blocks = {0, 3, 5, 7};
       },
       "job[0].policy.bandwidth_error", "must be left out with blocks"},
      {[](C& c) {
         c.policy.bandwidth_error.reset();
         c.policy.blocks = {0, 3, 5};
       },
       "job[0].policy.blocks", "3 values: must be two for each block"},
      {[](C& c) {
         c.policy.bandwidth_error.reset();
         c.policy.blocks = {1, 3};
       },
       "job[0].policy.blocks", "1 at first: must begin with tensor 0"},
      {[](C& c) {
         c.policy.bandwidth_error.reset();
         c.policy.blocks = {0, 3, 3, 7};
       },
       "job[0].policy.blocks", "3 after 3: must be larger"},
      {[](C& c) { c.message.blocks = true; }, "job[0].message.blocks",
       "true: needs worker_time above 0s"},
      {[](C& c) { c.message.worker_time = 11ms; }, "job[0].message.worker_time", "11ms: must be"},
      {[](C& c) { c.policy.fusion_bytes = 1; }, "job[0].policy.fusion_bytes",
       "means nothing to send_policy \"prophet\""},
      {[](C& c) { c.policy.cycle = 1ms; }, "job[0].policy.cycle",
       "means nothing to send_policy \"prophet\": it is of \"fusion\""},
      {[](C& c) {
         c.send_policy = SendPolicyKind::kP3;
         c.policy.bandwidth_error.reset();
       },
       "job[0].policy.credit_bytes", "means nothing to send_policy \"p3\""},
  };
  expect_each_reported(breaches, prophet);
  C whole = closed_job();
  const Breach<C> shards[] = {
      {[](C& c) { c.message.worker_time = 1us; }, "job[0].message.worker_time",
       "1us: needs granularity \"tensor\""},
      {[](C& c) { c.message.server_time = 1us; }, "job[0].message.server_time",
       "1us: needs granularity \"tensor\""},
  };
  expect_each_reported(shards, whole);
}

}  // namespace
}  // namespace outrider::job_config_test
