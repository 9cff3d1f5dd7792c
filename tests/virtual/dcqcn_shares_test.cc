// Goal: flows over RoCEv2 that begin at once share a link evenly and fill it, and one that joins
// another has its share soon, as the experiments say that were made to show it. Method: cases of
// conf/experiments/dcqcn-incast.toml and dcqcn-join.toml, from the samples of their senders; one
// seed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "common/dpdk/packet/mempool.h"
#include "tests/support/source_path.h"
#include "tools/lab/plan/plan.h"
#include "tools/lab/run/run_cases.h"
#include "tools/lab/simulation/run_virtual.h"
#include "trafficgen/roce/path_mtu.h"

namespace outrider::dcqcn_shares_test {
using namespace tg;
using namespace lab;
namespace {

using namespace std::chrono_literals;

constexpr double kLink_bps = 40e9;

/// Returns the results of the first seed of the plan's case number `index`.
RunResult run_case(const std::string& experiment, std::size_t index) {
  const auto file = load_experiment(source_path("conf/experiments/" + experiment));
  EXPECT_TRUE(file) << format_issues(experiment, file.issues);
  const auto plan = make_plan(*file.config, {.seeds = 1});
  EXPECT_TRUE(plan) << format_issues(experiment, plan.issues);
  const Case& c = plan.config->at(index);
  const Mempool pool = make_packet_pool(
      {.name = "shares", .mbufs = buffers_needed(c), .frame_room_bytes = kHeaderRoomBytes});
  RunResult result = run_virtual(c, *pool, {});
  EXPECT_TRUE(result.traffic.jobs_finished);
  EXPECT_TRUE(result.traffic.ledger_balanced && result.switches.ledger_balanced);
  EXPECT_EQ(result.traffic.roce.retransmitted, 0U);
  return result;
}

/// Bytes that senders had acknowledged, and their CNPs, by host.
using Samples = std::map<std::string, std::vector<ConnectionSample>>;

Samples samples_of(const RunResult& result) {
  Samples all;
  for (const ConnectionSample& sample : result.traffic.connections)
    all[sample.host].push_back(sample);
  return all;
}

double acked_at(const std::vector<ConnectionSample>& samples, std::int64_t at_ns) {
  double bytes = 0;
  for (const ConnectionSample& sample : samples)
    if (sample.at_ns <= at_ns) bytes = static_cast<double>(sample.acked_bytes.value_or(0));
  return bytes;
}

TEST(DcqcnShares, EightFlowsThatBeginAtOnceFillTheLinkEvenly) {
  const Samples senders = samples_of(run_case("dcqcn-incast.toml", 1));
  ASSERT_EQ(senders.size(), 8U);
  std::int64_t begin = INT64_MAX, end = INT64_MAX, first_cut = INT64_MAX;
  for (const auto& [host, samples] : senders) {
    begin = std::min(begin, samples.front().at_ns);
    const auto whole = std::ranges::find(samples, 40'000'000U, &ConnectionSample::acked_bytes);
    ASSERT_NE(whole, samples.end()) << host;
    end = std::min(end, whole->at_ns);
    for (const ConnectionSample& sample : samples)
      if (sample.cnps_received.value_or(0) > 0) first_cut = std::min(first_cut, sample.at_ns);
  }
  double sum = 0, squares = 0;
  for (const auto& [host, samples] : senders) {
    const double bytes = acked_at(samples, end);
    sum += bytes;
    squares += bytes * bytes;
  }
  EXPECT_GT(sum * sum / (8 * squares), 0.95) << "Jain's index";
  const double of_wire = 1024.0 / (1024 + kAroundPayloadBytes);
  const double use = sum * 8e9 / static_cast<double>(end - begin) / kLink_bps / of_wire;
  EXPECT_GT(use, 0.85);
  EXPECT_LE(use, 1.01);
  EXPECT_LT(first_cut - begin, std::int64_t{5'000'000});
}

TEST(DcqcnShares, AFlowThatJoinsHasItsShareWithin40Milliseconds) {
  const Samples senders = samples_of(run_case("dcqcn-join.toml", 0));
  ASSERT_EQ(senders.size(), 2U);
  constexpr std::int64_t kJoins_ns = 50'000'000, kWindow_ns = 5'000'000;
  const auto rate = [&](const std::string& host, std::int64_t from_ns) {
    const auto& samples = senders.at(host);
    return (acked_at(samples, from_ns + kWindow_ns) - acked_at(samples, from_ns)) * 8e9 /
           static_cast<double>(kWindow_ns);
  };
  EXPECT_GT(rate("sender", kJoins_ns - kWindow_ns), 0.8 * kLink_bps) << "alone before";
  std::int64_t shared_at = kJoins_ns;
  for (; shared_at < kJoins_ns + 40'000'000; shared_at += 1'000'000) {
    const double joined = rate("worker_0", shared_at), both = joined + rate("sender", shared_at);
    if (joined > 0.45 * both && joined < 0.55 * both) break;
  }
  EXPECT_LT(shared_at, kJoins_ns + 40'000'000) << "within a tenth of its fair share";
}

}  // namespace
}  // namespace outrider::dcqcn_shares_test
