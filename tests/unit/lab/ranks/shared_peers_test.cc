// Goal: ranks of one machine exchange messages of any length, and notice that one has ended.
// Method: a thread for each rank; the same memory serves processes.
#include "tools/lab/ranks/shared_peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "tools/lab/ranks/shared_lanes.h"

namespace outrider::lab {
namespace {

using testing::ElementsAre;

/// Calls `work` as each rank in a thread of its own.
void as_ranks(std::uint32_t ranks, std::uint32_t spins,
              const std::function<void(SharedPeers&)>& work) {
  SharedLanes lanes(ranks);
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      SharedPeers peers(rank, lanes, spins);
      work(peers);
      lanes.end(rank);
    });
  for (auto& thread : threads) thread.join();
}

// Messages of several rings' length go both ways at the same time: nobody may wait for room while
// the other does.
TEST(SharedPeers, ExchangeMessagesOfAnyLength) {
  for (const std::uint32_t spins : {0U, 100U})
    as_ranks(3, spins, [](SharedPeers& peers) {
      const std::vector<bool> all(3, true);
      for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{5'000'000}}) {
        std::vector<std::string> send(3), received;
        for (std::uint32_t to = 0; to < 3; ++to)
          if (to != peers.rank()) send[to].assign(bytes, static_cast<char>('a' + peers.rank()));
        const std::int64_t least =
            peers.exchange(send, all, 10 - static_cast<std::int64_t>(peers.rank()), received);
        EXPECT_EQ(least, 8);
        for (std::uint32_t from = 0; from < 3; ++from)
          EXPECT_EQ(received[from], from == peers.rank()
                                        ? std::string()
                                        : std::string(bytes, static_cast<char>('a' + from)));
      }
    });
}

TEST(SharedPeers, KeepTheRoundsApart) {
  as_ranks(2, 0, [](SharedPeers& peers) {
    for (std::int64_t round = 0; round < 20'000; ++round)
      ASSERT_EQ(peers.least(round + peers.rank()), round);
  });
}

TEST(SharedPeers, GatherAtRankZero) {
  as_ranks(3, 0, [](SharedPeers& peers) {
    const auto texts = peers.gather(std::string(peers.rank() + 1, 'x'));
    if (peers.rank() == 0) EXPECT_THAT(texts, ElementsAre("x", "xx", "xxx"));
    else EXPECT_THAT(texts, ElementsAre());
  });
}

TEST(SharedPeers, SayWhoHasEnded) {
  as_ranks(3, 0, [](SharedPeers& peers) {
    EXPECT_EQ(peers.least(5), 5);
    if (peers.rank() == 2) return;
    try {
      static_cast<void>(peers.least(5));
      ADD_FAILURE() << "rank 2 takes no part";
    } catch (const PeerGone& gone) {
      // The other rank may have noticed first, and ended too.
      EXPECT_THAT(gone.what(), testing::EndsWith("has ended"));
    }
  });
}

// A rank that ends has said all that it had to say.
TEST(SharedPeers, HearTheLastWords) {
  for (int time = 0; time < 200; ++time)
    as_ranks(2, 0, [](SharedPeers& peers) { EXPECT_EQ(peers.least(peers.rank() + 1), 1); });
}

}  // namespace
}  // namespace outrider::lab
