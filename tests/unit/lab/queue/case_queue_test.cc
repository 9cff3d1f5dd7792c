// Goal: each case is one worker's at a time, whoever dies. Method: several queues, of one process
// and of several, on one directory; times that the test chooses.
#include "tools/lab/queue/case_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <numeric>
#include <stdexcept>

namespace outrider::case_queue_test {
using namespace lab;
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr LeaseRules kRules{.lease = 60s, .takes = 3};

LeaseWatch::Clock::time_point at(LeaseWatch::Clock::duration since_begin) {
  return LeaseWatch::Clock::time_point(since_begin);
}

class CaseQueueTest : public testing::Test {
 protected:
  CaseQueueTest() {
    std::string name = (fs::temp_directory_path() / "outrider-queue-XXXXXX").string();
    directory_ = mkdtemp(name.data());
  }
  ~CaseQueueTest() override { fs::remove_all(directory_); }

  void make(std::size_t cases) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < cases; ++i) names.push_back("case " + std::to_string(i));
    CaseQueue::make(directory_, names);
    rank_.resize(cases);
    std::iota(rank_.begin(), rank_.end(), std::size_t{0});
  }
  CaseQueue worker(const std::string& name) const {
    CaseQueue queue(directory_, name, kRules);
    queue.join(name);
    return queue;
  }
  bool has(const std::string& file) const { return fs::exists(directory_ / file); }

  fs::path directory_;
  std::vector<std::size_t> rank_;
};

TEST_F(CaseQueueTest, TakesEachCaseOnceInOrder) {
  make(3);
  rank_ = {2, 0, 1};
  auto a = worker("a"), b = worker("b");
  EXPECT_EQ(a.take(rank_), (Ticket{.index = 1, .taken = 1, .worker = "a"}));
  EXPECT_EQ(b.take(rank_), (Ticket{.index = 2, .taken = 1, .worker = "b"}));
  EXPECT_EQ(a.take(rank_)->index, 0U) << "its last look still has what b took";
  EXPECT_FALSE(a.take(rank_));
  EXPECT_EQ(a.counts().running, 3U);
  EXPECT_EQ(a.own(1)->taken, 1U);
  EXPECT_FALSE(a.own(2));
  a.finish(*a.own(0));
  a.finish(*a.own(1));
  EXPECT_EQ(a.counts().running, 1U);
  EXPECT_EQ(a.counts().todo, 0U);
}

// Workers take as fast as they can: none of the renames may succeed twice.
TEST_F(CaseQueueTest, ProcessesShareTheCases) {
  constexpr std::size_t kCases = 300, kProcesses = 4;
  make(kCases);
  for (std::size_t p = 0; p < kProcesses; ++p) {
    if (fork() != 0) continue;
    auto own = worker("p" + std::to_string(p));
    while (const auto ticket = own.take(rank_)) {
      own.note(std::to_string(ticket->index));
      own.finish(*ticket);
    }
    _exit(0);
  }
  while (wait(nullptr) > 0) {
  }
  std::map<std::string, int> taken;
  for (std::size_t p = 0; p < kProcesses; ++p) {
    std::ifstream journal(directory_ / "workers" / ("p" + std::to_string(p)));
    std::string line;
    std::getline(journal, line);
    while (std::getline(journal, line)) ++taken[line];
  }
  EXPECT_EQ(taken.size(), kCases);
  for (const auto& [index, times] : taken) EXPECT_EQ(times, 1) << index;
}

TEST_F(CaseQueueTest, WhatIsGivenBackDoesNotCountAsTaken) {
  make(2);
  auto a = worker("a"), b = worker("b");
  ASSERT_TRUE(a.take(rank_) && b.take(rank_));
  a.give_back_all();
  EXPECT_TRUE(has("todo/00000-taken0"));
  EXPECT_TRUE(has("running/00001-taken1@b"));
}

TEST_F(CaseQueueTest, ADeadWorkersCaseIsTakenAgainAndALiveOnesIsNot) {
  make(2);
  auto dead = worker("dead"), alive = worker("alive"), third = worker("third");
  ASSERT_TRUE(dead.take(rank_));
  const auto held = alive.take(rank_);
  EXPECT_TRUE(third.expire(at(0s)).empty());
  ASSERT_TRUE(alive.renew(*held));
  EXPECT_TRUE(third.expire(at(59s)).empty());
  EXPECT_EQ(third.expire(at(61s)),
            (std::vector<Ticket>{{.index = 0, .taken = 1, .worker = "dead"}}));
  EXPECT_TRUE(has("todo/00000-taken1"));
  EXPECT_EQ(third.take(rank_), (Ticket{.index = 0, .taken = 2, .worker = "third"}));
  EXPECT_TRUE(has("running/00001-taken1@alive"));
}

// A process of the worker has died before it said what it took: nobody renews that.
TEST_F(CaseQueueTest, AWorkerPutsBackWhatItDoesNotKnowThatItHas) {
  make(2);
  auto a = worker("a");
  const auto known = a.take(rank_);
  ASSERT_TRUE(a.take(rank_));
  a.expire(at(0s));
  ASSERT_TRUE(a.renew(*known));
  EXPECT_EQ(a.expire(at(61s)).size(), 1U);
  EXPECT_TRUE(has("running/00000-taken1@a"));
  EXPECT_TRUE(has("todo/00001-taken1"));
}

// Two workers see the same expired lease: the rename of the second finds nothing.
TEST_F(CaseQueueTest, OneOfTwoPutsACaseBack) {
  make(1);
  auto dead = worker("dead"), b = worker("b"), c = worker("c");
  ASSERT_TRUE(dead.take(rank_));
  b.expire(at(0s));
  c.expire(at(0s));
  EXPECT_EQ(b.expire(at(61s)).size(), 1U);
  EXPECT_TRUE(c.expire(at(61s)).empty());
  EXPECT_EQ(b.counts().todo, 1U);
}

// A worker was taken for dead, and comes back while another one has its case.
TEST_F(CaseQueueTest, ALateWorkerLearnsThatItsLeaseIsGoneAndDisturbsNobody) {
  make(1);
  auto late = worker("late"), b = worker("b");
  const auto ticket = late.take(rank_);
  b.expire(at(0s));
  b.expire(at(61s));
  ASSERT_TRUE(b.take(rank_));
  EXPECT_FALSE(late.renew(*ticket));
  late.finish(*ticket);
  late.fail(*ticket, "too late", TicketVerdict::kFailed);
  late.give_back_all();
  EXPECT_TRUE(has("running/00000-taken2@b"));
  EXPECT_EQ(late.counts().todo + late.counts().failed, 0U);
}

TEST_F(CaseQueueTest, ACaseThatKillsItsWorkersIsPutAside) {
  make(1);
  auto watcher = worker("watcher");
  for (int i = 0; i < 3; ++i) {
    auto dying = worker("dying" + std::to_string(i));
    ASSERT_TRUE(dying.take(rank_)) << i;
    watcher.expire(at(100s * i));
    ASSERT_EQ(watcher.expire(at(100s * i + 61s)).size(), 1U);
  }
  EXPECT_FALSE(watcher.take(rank_));
  ASSERT_EQ(watcher.failed(), (std::vector<Ticket>{{.index = 0, .taken = 3}}));
  EXPECT_EQ(watcher.history(watcher.failed()[0]),
            "the lease of dying0 has expired\nthe lease of dying1 has expired\n"
            "the lease of dying2 has expired");
}

TEST_F(CaseQueueTest, FilesThatAreNoTicketsAreNamed) {
  make(3);
  auto a = worker("a");
  ASSERT_TRUE(a.take(rank_));
  EXPECT_FALSE(a.foreign(3));
  std::ofstream(directory_ / "todo/.nfs0000012") << "a file server's own";
  EXPECT_FALSE(a.foreign(3));
  EXPECT_EQ(a.foreign(2), directory_ / "todo/00002-taken0") << "of a larger queue";
  for (const char* name :
       {"todo/notes.txt", "todo/00001-taken0@a", "running/00001-taken1", "failed/00001-taken3@a"}) {
    std::ofstream(directory_ / name) << "x";
    EXPECT_EQ(a.foreign(3), directory_ / name);
    fs::remove(directory_ / name);
  }
}

TEST_F(CaseQueueTest, SaysWhatIsInTheWay) {
  make(1);
  fs::remove(directory_ / "workers");
  std::ofstream(directory_ / "workers") << "a file";
  try {
    worker("a");
    FAIL() << "no journal can be written";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("workers/a: cannot be written: Not a directory"));
  }
  CaseQueue gone(directory_, "a", kRules);
  fs::remove_all(directory_ / "running");
  EXPECT_FALSE(gone.take(rank_)) << "and it does not try for ever";
  EXPECT_THROW((void)gone.counts(), std::runtime_error);
  fs::remove_all(directory_ / "todo");
  EXPECT_THROW(gone.take(rank_), std::runtime_error);
}

TEST(WorkerName, DiffersWithinAProcess) {
  EXPECT_NE(new_worker_name(), new_worker_name());
  const auto ticket = ticket_from(file_name({.worker = new_worker_name()}));
  EXPECT_TRUE(ticket);
}

}  // namespace
}  // namespace outrider::case_queue_test
