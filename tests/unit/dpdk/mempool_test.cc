// Goal: a pool's packets are ready for senders that write headers only.
#include "common/dpdk/packet/mempool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "common/dpdk/eal/error.h"
#include "common/dpdk/packet/packet.h"
#include "common/dpdk/packet/receive.h"

namespace outrider::mempool_test {
namespace {

TEST(PacketPool, HasAsManyPacketsAsAskedForWithMetaDataAndZeros) {
  for (const std::uint32_t mbufs : {7U, 511U, 1024U}) {  // with and without a cache
    const Mempool pool = make_packet_pool({.name = "zeros", .mbufs = mbufs});
    std::vector<Packet*> taken;
    while (Packet* packet = rte_pktmbuf_alloc(pool.get())) {
      taken.push_back(packet);
      ASSERT_EQ(meta(*packet).next, nullptr);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(&meta(*packet)) % alignof(PacketMeta), 0U);
      const char* room = rte_pktmbuf_append(packet, 2048);
      ASSERT_NE(room, nullptr);
      ASSERT_TRUE(std::all_of(room, room + 2048, [](char c) { return c == 0; }));
    }
    EXPECT_EQ(taken.size(), mbufs);
    for (Packet* packet : taken) release(packet);
  }
}

TEST(PacketPool, HeaderRoomHoldsHeadersInEverySize) {
  const Mempool pool =
      make_packet_pool({.name = "headers", .mbufs = 7, .frame_room_bytes = kHeaderRoomBytes});
  Packet* packet = rte_pktmbuf_alloc(pool.get());
  ASSERT_NE(packet, nullptr);
  EXPECT_NE(rte_pktmbuf_append(packet, kHeaderRoomBytes), nullptr);
  EXPECT_EQ(rte_pktmbuf_append(packet, 1), nullptr);
  release(packet);
}

// release() puts an ordinary packet into the lcore's cache itself and must leave others to DPDK.
TEST(PacketPool, HasEveryBufferBackAfterReleasesOfPacketsOfAnyForm) {
  constexpr std::uint32_t kMbufs = 1023;
  const Mempool pool = make_packet_pool({.name = "forms", .mbufs = kMbufs});
  Packet* shared = rte_pktmbuf_alloc(pool.get());
  rte_mbuf_refcnt_update(shared, 1);
  release(shared);
  EXPECT_EQ(rte_mempool_avail_count(pool.get()), kMbufs - 1) << "another holder has it";
  EXPECT_EQ(rte_mbuf_refcnt_read(shared), 1);
  release(shared);

  Packet* chain = rte_pktmbuf_alloc(pool.get());
  ASSERT_EQ(rte_pktmbuf_chain(chain, rte_pktmbuf_alloc(pool.get())), 0);
  release(chain);

  Packet* original = rte_pktmbuf_alloc(pool.get());
  Packet* clone = rte_pktmbuf_alloc(pool.get());
  rte_pktmbuf_attach(clone, original);  // one more holder of the original's buffer
  release(clone);
  EXPECT_EQ(rte_mbuf_refcnt_read(original), 1);
  release(original);
  EXPECT_EQ(rte_mempool_avail_count(pool.get()), kMbufs);

  std::vector<Packet*> all(kMbufs);  // more than the cache of an lcore takes
  ASSERT_EQ(rte_pktmbuf_alloc_bulk(pool.get(), all.data(), kMbufs), 0);
  for (Packet* packet : all) {
    EXPECT_EQ(packet->nb_segs, 1);
    EXPECT_EQ(packet->next, nullptr);
    release(packet);
  }
  EXPECT_EQ(rte_mempool_avail_count(pool.get()), kMbufs);
  const rte_mempool_cache* cache = rte_mempool_default_cache(pool.get(), rte_lcore_id());
  ASSERT_NE(cache, nullptr);
  EXPECT_LE(cache->len, cache->flushthresh);
}

// Else the meta data of a batch would share one set of the L1 cache, 64 sets of 64 bytes.
TEST(PacketPool, SpreadsPacketsOverTheCacheOnOrdinaryPagesToo) {
  const Mempool pool = make_packet_pool({.name = "spread", .mbufs = 1023});
  std::vector<Packet*> taken(64);
  ASSERT_EQ(rte_pktmbuf_alloc_bulk(pool.get(), taken.data(), 64), 0);
  std::array<int, 64> in_set{};
  for (Packet* packet : taken) {
    const int in = ++in_set[reinterpret_cast<std::uintptr_t>(&meta(*packet)) / 64 % 64];
    EXPECT_LE(in, 8) << "as many as the smallest L1 has ways";
    release(packet);
  }
}

// An lcore that the kernel has stopped inside the pool must not stop the others.
TEST(PacketPool, OfSeveralLcoresHasNoLock) {
  const Mempool one = make_packet_pool({.name = "one", .mbufs = 1023});
  const Mempool two = make_packet_pool({.name = "two", .mbufs = 1023, .lcores = 2});
  EXPECT_STREQ(rte_mempool_get_ops(one->ops_index)->name, "stack");
  EXPECT_STREQ(rte_mempool_get_ops(two->ops_index)->name, "lf_stack");
  std::vector<Packet*> taken;
  while (Packet* packet = rte_pktmbuf_alloc(two.get())) taken.push_back(packet);
  EXPECT_EQ(taken.size(), 1023U);
  for (Packet* packet : taken) release(packet);
  EXPECT_EQ(rte_mempool_avail_count(two.get()), 1023U);
}

TEST(PacketPool, NamesCallSubjectAndCause) {
  const Mempool first = make_packet_pool({.name = "twice", .mbufs = 7});
  try {
    make_packet_pool({.name = "twice", .mbufs = 7});
    FAIL() << "two pools of one name";
  } catch (const DpdkError& error) {
    EXPECT_STREQ(error.what(), "rte_mempool_create_empty(twice): File exists (errno 17)");
  }
}

TEST(PrepareReceived, GivesFreshMetaDataAndOneSegment) {
  const Mempool pool = make_packet_pool({.name = "segments", .mbufs = 7});
  Packet* packet = rte_pktmbuf_alloc(pool.get());
  Packet* more = rte_pktmbuf_alloc(pool.get());
  std::memset(rte_pktmbuf_append(packet, 60), 1, 60);
  std::memset(rte_pktmbuf_append(more, 40), 2, 40);
  ASSERT_EQ(rte_pktmbuf_chain(packet, more), 0);
  meta(*packet).notes.content = Content::kBurst;
  ASSERT_TRUE(prepare_received(*packet));
  EXPECT_EQ(packet->nb_segs, 1);
  EXPECT_EQ(buffer(*packet).size(), 100U);
  EXPECT_EQ(buffer(*packet)[99], 2);
  EXPECT_EQ(meta(*packet).frame_bytes, 100U);
  EXPECT_EQ(meta(*packet).notes.content, Content::kUnread);
  release(packet);
  EXPECT_EQ(rte_mempool_avail_count(pool.get()), 7U);
}

TEST(PrepareReceived, RefusesWhatDoesNotFitOneSegment) {
  const Mempool pool = make_packet_pool({.name = "too_long", .mbufs = 7});
  Packet* packet = rte_pktmbuf_alloc(pool.get());
  Packet* more = rte_pktmbuf_alloc(pool.get());
  rte_pktmbuf_append(packet, 1500);
  rte_pktmbuf_append(more, 1500);
  ASSERT_EQ(rte_pktmbuf_chain(packet, more), 0);
  EXPECT_FALSE(prepare_received(*packet));
  release(packet);
}

}  // namespace
}  // namespace outrider::mempool_test
