// Goal: a case is taken from a worker only if it was silent for a lease, and not run for ever.
// Method: looks at stamps and times that the test chooses.
#include "tools/lab/queue/lease.h"

#include <gtest/gtest.h>

namespace outrider::lease_test {
using namespace lab;
namespace {

using namespace std::chrono_literals;

const Ticket kHeldByA{.index = 12, .taken = 1, .worker = "a-1-00"};

TEST(TicketName, ReadsBackToTheSameTicket) {
  for (const Ticket& ticket :
       {Ticket{}, kHeldByA, Ticket{.index = 99'999, .taken = 3}, Ticket{.index = 1'234'567}})
    EXPECT_EQ(ticket_from(file_name(ticket)), ticket) << file_name(ticket);
  EXPECT_EQ(file_name(kHeldByA), "00012-taken1@a-1-00");
  EXPECT_LT(file_name({.index = 9}), file_name({.index = 10})) << "as `ls` sorts them";
}

TEST(TicketName, IsNoOtherFiles) {
  for (const char* name : {"", "00012", "12-taken0", "00012-taken", "00012-taken1@", "-taken1",
                           "00012-taken1x", "00012-taken01", "00012-taken1.part", "queue.json",
                           "99999999999999999999999-taken0", "+0012-taken0"})
    EXPECT_FALSE(ticket_from(name)) << name;
}

TEST(Verdict, PutsAsideWhatTooManyHaveTaken) {
  const LeaseRules rules{.lease = 60s, .takes = 3};
  EXPECT_EQ(verdict_of({.taken = 1}, rules), TicketVerdict::kAgain);
  EXPECT_EQ(verdict_of({.taken = 2}, rules), TicketVerdict::kAgain);
  EXPECT_EQ(verdict_of({.taken = 3}, rules), TicketVerdict::kFailed);
  EXPECT_EQ(renewal_interval(rules), 20s);
}

class LeaseWatchTest : public testing::Test {
 protected:
  /// @return whether the lease of the ticket has expired at this look
  bool expired(std::int64_t stamp, LeaseWatch::Clock::duration at, const Ticket& t = kHeldByA) {
    const auto silent = watch_.look({{t, stamp}}, LeaseWatch::Clock::time_point(at));
    return silent == std::vector<Ticket>{t};
  }
  LeaseWatch watch_{60s};
};

TEST_F(LeaseWatchTest, SilenceForMoreThanALeaseEndsIt) {
  EXPECT_FALSE(expired(5, 1000s));
  EXPECT_FALSE(expired(5, 1060s));
  EXPECT_TRUE(expired(5, 1061s));
}

TEST_F(LeaseWatchTest, RenewalBeginsANewLease) {
  EXPECT_FALSE(expired(5, 1000s));
  EXPECT_FALSE(expired(6, 1059s));
  EXPECT_FALSE(expired(6, 1119s));
  EXPECT_TRUE(expired(6, 1120s));
}

// The other machine's clock may be wrong by years, and may be set back.
TEST_F(LeaseWatchTest, StampsAreNoTimesOfThisMachine) {
  EXPECT_FALSE(expired(-4'000'000'000'000'000'000, 1000s));
  EXPECT_FALSE(expired(4'000'000'000'000'000'000, 1059s));
  EXPECT_FALSE(expired(-4'000'000'000'000'000'000, 1100s)) << "renewed, with its clock set back";
}

// After a pause of the watching machine the stamps decide, not the pause.
TEST_F(LeaseWatchTest, APauseOfTheWatcherEndsNoLeaseThatWasRenewed) {
  EXPECT_FALSE(expired(5, 1000s));
  EXPECT_FALSE(expired(6, 9000s));
  EXPECT_FALSE(expired(6, 9060s));
}

// The same case may be taken by one worker, given back, and taken by another.
TEST_F(LeaseWatchTest, AnotherWorkersLeaseIsItsOwn) {
  EXPECT_FALSE(expired(5, 1000s));
  EXPECT_FALSE(expired(5, 1061s, {.index = 12, .taken = 2, .worker = "b-1-00"}));
  EXPECT_FALSE(expired(5, 1100s)) << "was gone at the last look";
}

}  // namespace
}  // namespace outrider::lease_test
