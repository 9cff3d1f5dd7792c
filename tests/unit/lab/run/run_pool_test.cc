// Goal: results do not depend on the number of processes. If a process ends unexpectedly, only
// its case is lost, and it is named.
#include "tools/lab/run/run_pool.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <map>
#include <numeric>
#include <stdexcept>

#include "common/dpdk/eal/error.h"
#include "tools/lab/cli/progress.h"

namespace outrider::run_pool_test {
using namespace lab;
namespace {

struct Outcome {
  std::map<std::size_t, std::string> results;
  PoolResult pool;
};

Outcome run_items(std::size_t items, std::size_t jobs, const PoolWork& work) {
  Outcome outcome;
  PoolOptions options;
  options.jobs = jobs;
  options.order.resize(items);
  std::iota(options.order.rbegin(), options.order.rend(), std::size_t{0});  // begun from the last
  options.make_worker = [&](std::size_t) { return work; };
  options.on_result = [&](std::size_t item, std::string text) {
    outcome.results[item] = std::move(text);
  };
  outcome.pool = run_pool(options);
  return outcome;
}

std::string square(std::size_t item, const std::function<bool()>&) {
  return std::to_string(item * item);
}

TEST(RunPool, EveryItemIsDoneOnce) {
  for (const std::size_t jobs : {1U, 2U, 5U, 40U}) {
    const auto outcome = run_items(30, jobs, square);
    ASSERT_EQ(outcome.results.size(), 30U) << jobs << " jobs";
    for (const auto& [item, text] : outcome.results) EXPECT_EQ(text, std::to_string(item * item));
    EXPECT_TRUE(outcome.pool.failures.empty());
    EXPECT_FALSE(outcome.pool.interrupted);
  }
}

TEST(RunPool, LongResultsArriveWhole) {
  const auto outcome = run_items(6, 3, [](std::size_t item, const auto&) {
    return std::string(3'000'000 + item, static_cast<char>('a' + item));
  });
  ASSERT_EQ(outcome.results.size(), 6U);
  for (const auto& [item, text] : outcome.results)
    EXPECT_EQ(text, std::string(3'000'000 + item, static_cast<char>('a' + item)));
}

TEST(RunPool, CrashCostsOneItem) {
  const auto outcome = run_items(12, 2, [](std::size_t item, const auto& stop) {
    if (item == 5) raise(SIGKILL);
    if (item == 7) _exit(3);
    if (item == 9) throw std::runtime_error("no such model");
    return square(item, stop);
  });
  EXPECT_EQ(outcome.results.size(), 9U);
  ASSERT_EQ(outcome.pool.failures.size(), 3U);
  EXPECT_EQ(outcome.pool.failures[0].item, 5U);
  EXPECT_THAT(outcome.pool.failures[0].cause, testing::HasSubstr("killed by signal 9"));
  EXPECT_EQ(outcome.pool.failures[1].item, 7U);
  EXPECT_THAT(outcome.pool.failures[1].cause, testing::HasSubstr("status 3"));
  EXPECT_EQ(outcome.pool.failures[2].cause, "no such model");
}

TEST(RunPool, SaysWhyWorkersCannotBegin) {
  PoolOptions options;
  options.order = {0, 1};
  options.make_worker = [](std::size_t) -> PoolWork { throw EnvironmentError("no memory"); };
  options.on_result = [](std::size_t, const std::string&) { FAIL(); };
  EXPECT_THROW(
      {
        try {
          run_pool(options);
        } catch (const EnvironmentError& error) {
          EXPECT_THAT(error.what(), testing::HasSubstr("no memory"));
          throw;
        }
      },
      EnvironmentError);
}

// Its cases would be in nobody's hands, and the session would end as if it had done them.
TEST(RunPool, SaysThatAWorkerDiedBeforeItsFirstCase) {
  PoolOptions options;
  options.order = {0, 1};
  options.make_worker = [](std::size_t) -> PoolWork {
    raise(SIGKILL);
    return {};
  };
  options.on_result = [](std::size_t, const std::string&) { FAIL(); };
  try {
    run_pool(options);
    FAIL() << "nobody noticed";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("killed by signal 9"));
  }
}

TEST(Progress, EstimatesWhatIsLeft) {
  EXPECT_EQ(progress_text(0, 180, 3), "0/180 cases, 3 s");
  EXPECT_EQ(progress_text(12, 180, 8), "12/180 cases, 8 s, about 112 s left");
  EXPECT_EQ(progress_text(180, 180, 120), "180/180 cases, 120 s");
}

}  // namespace
}  // namespace outrider::run_pool_test
