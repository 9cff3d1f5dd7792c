#include "switch/forwarding/mac_table.h"

#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "common/core/random.h"

namespace outrider::mac_table_test {
namespace {

using namespace std::chrono_literals;
using Learned = MacTable::Learned;

constexpr std::uint64_t kStation = 0x0200'0000'0000;
MacKey station(std::uint64_t n, std::uint16_t vlan = 0) { return MacKey::of(vlan, kStation + n); }

constexpr Duration kTick{1 << 20};

// Goal: an entry lives for `ageing` after it was last heard. Method: a literal timeline,
// with epochs of one tick.
TEST(MacTable, AgesByATimeline) {
  constexpr Duration kAgeing = 16 * kTick;
  for (const Time start : {Time{}, Time{1ns}, Time{1h}, Time{365 * 24h}}) {
    const Time begin = Time{} + (start.time_since_epoch() / kTick) * kTick;
    MacTable table({.max_entries = 8, .ageing = kAgeing});
    EXPECT_EQ(table.find(station(1), begin), std::nullopt) << "nothing was heard";
    EXPECT_EQ(table.learn(station(1), 3, begin), Learned::kNew);
    EXPECT_EQ(table.find(station(1), begin), 3);
    EXPECT_EQ(table.find(station(1), begin + kAgeing), 3) << "not yet over";
    EXPECT_EQ(table.find(station(1), begin + kAgeing + kTick), std::nullopt) << "over";
    EXPECT_EQ(table.size(), 1U) << "not found, but its place is not freed by asking";
    EXPECT_EQ(table.learn(station(1), 4, begin + kAgeing + kTick), Learned::kNew);
    EXPECT_EQ(table.learn(station(1), 4, begin + 2 * kAgeing), Learned::kRefreshed);
    EXPECT_EQ(table.find(station(1), begin + 3 * kAgeing), 4) << "from when it was heard last";
    table.sweep(begin + 3 * kAgeing + kTick, table.buckets());
    EXPECT_EQ(table.size(), 0U);
    EXPECT_EQ(table.counters().learned, 2U);
    EXPECT_EQ(table.counters().aged, 2U);
    EXPECT_EQ(table.counters().moved, 0U) << "who was forgotten has not moved";
  }
}

// Goal: where an epoch is longer than a tick, `ageing` is kept at least and exceeded by one
// epoch at most, wherever in an epoch the station was heard.
TEST(MacTable, AgesByASixteenthMoreAtMost) {
  constexpr Duration kAgeing = 320 * kTick;
  constexpr Duration kEpoch = 20 * kTick;
  for (int late = 0; late < 20; ++late) {
    MacTable table({.max_entries = 8, .ageing = kAgeing});
    const Time heard = Time{} + 100 * kEpoch + late * kTick;
    table.learn(station(1), 3, heard);
    EXPECT_EQ(table.find(station(1), heard + kAgeing), 3) << late;
    EXPECT_EQ(table.find(station(1), heard + kAgeing + kEpoch), std::nullopt) << late;
    const Time last = Time{} + 116 * kEpoch + 19 * kTick;
    EXPECT_EQ(table.find(station(1), last), 3) << late;
    EXPECT_EQ(table.find(station(1), last + kTick), std::nullopt) << late;
    EXPECT_EQ(table.learn(station(1), 3, last), Learned::kRefreshed) << late << ", of the same age";
  }
}

// Goal: what was heard once stays forgotten, though ages are counted modulo 32 epochs.
// Method: one station talks on, at many rates, and keeps the clock going.
TEST(MacTable, ForgottenStaysForgotten) {
  constexpr std::uint32_t kStations = 1000;
  constexpr Duration kAgeing = 16 * kTick;
  for (const std::int64_t every : {1, 2, 7, 15, 16, 17, 31, 32, 33, 100}) {
    MacTable table({.max_entries = kStations + 1, .ageing = kAgeing});
    Time now{1h};
    for (std::uint32_t i = 0; i < kStations; ++i) table.learn(station(i), 3, now);
    const Time end = now + 5 * 32 * kTick;
    while (now < end) {
      now += every * kTick;
      table.learn(station(kStations), 1, now);
      const bool gone = now > Time{1h} + kAgeing + kTick;
      for (std::uint32_t i = 0; gone && i < kStations; ++i)
        ASSERT_EQ(table.find(station(i), now), std::nullopt) << every << " " << i;
    }
    EXPECT_LE(table.size(), kStations / 2 + 1) << every << ": nobody asked, but places are freed";
    table.sweep(now, table.buckets());
    EXPECT_EQ(table.size(), 1U) << every;
    EXPECT_EQ(table.counters().learned, table.counters().aged + 1) << every;
  }
}

// VLAN 0 and address 0 read as the key of a place that is free.
TEST(MacTable, KnowsNobodyWithoutAnAddress) {
  MacTable table({});
  EXPECT_EQ(table.find(MacKey::of(0, 0), Time{}), std::nullopt);
  table.learn(station(1), 5, Time{});
  EXPECT_EQ(table.find(MacKey::of(0, 0), Time{}), std::nullopt);
}

TEST(MacTable, AStationMoves) {
  MacTable table({});
  EXPECT_EQ(table.learn(station(1), 1, Time{}), Learned::kNew);
  EXPECT_EQ(table.learn(station(1), 2, Time{1ms}), Learned::kMoved);
  EXPECT_EQ(table.find(station(1), Time{1ms}), 2);
  EXPECT_EQ(table.learn(station(1), 2, Time{2ms}), Learned::kKnown);
  EXPECT_EQ(table.counters().moved, 1U);
  EXPECT_EQ(table.size(), 1U);
}

TEST(MacTable, VlansAreApart) {
  MacTable table({});
  table.learn(station(1, 10), 1, Time{});
  table.learn(station(1, 20), 2, Time{});
  EXPECT_EQ(table.find(station(1, 10), Time{}), 1);
  EXPECT_EQ(table.find(station(1, 20), Time{}), 2);
  EXPECT_EQ(table.find(station(1), Time{}), std::nullopt);
}

TEST(MacTable, LearnsNoGroupAndNoZero) {
  MacTable table({});
  for (const std::uint64_t mac :
       {0xFFFF'FFFF'FFFFULL, 0x0100'5E00'0001ULL, 0x3333'0000'0001ULL, 0x0ULL})
    EXPECT_EQ(table.learn(MacKey::of(5, mac), 1, Time{}), Learned::kRefused) << std::hex << mac;
  EXPECT_EQ(table.counters().refused_source, 4U);
  EXPECT_EQ(table.size(), 0U);
}

TEST(MacTable, StaticEntriesNeitherAgeNorMove) {
  MacTable table({.max_entries = 4, .ageing = 10ms});
  EXPECT_EQ(table.learn(station(1), 9, Time{}), Learned::kNew);
  EXPECT_TRUE(table.insert_static(station(1), 1)) << "takes the place of what was learned";
  EXPECT_EQ(table.size(), 1U);
  EXPECT_EQ(table.learn(station(1), 2, Time{1h}), Learned::kStatic);
  EXPECT_EQ(table.counters().refused_static, 1U);
  table.sweep(Time{1h}, 100);
  EXPECT_EQ(table.find(station(1), Time{365 * 24h}), 1);
  EXPECT_EQ(table.counters().learned, table.counters().aged);
}

// A storm of unknown sources meets a full table: counted, nothing evicted, and the
// stations that had been there before stay reachable.
TEST(MacTable, AFullTableRefusesAndRecovers) {
  constexpr std::uint32_t kEntries = 100;
  MacTable table({.max_entries = kEntries, .ageing = 1s});
  EXPECT_TRUE(table.insert_static(station(1'000'000), 7));
  for (std::uint32_t i = 0; i + 1 < kEntries; ++i)
    ASSERT_EQ(table.learn(station(i), 1, Time{}), Learned::kNew) << i;
  for (std::uint32_t i = 0; i < 100'000; ++i)
    ASSERT_EQ(table.learn(station(2'000'000 + i), 2, Time{1ms}), Learned::kFull);
  EXPECT_EQ(table.counters().refused_full, 100'000U);
  EXPECT_EQ(table.size(), kEntries);
  for (std::uint32_t i = 0; i + 1 < kEntries; ++i) ASSERT_EQ(table.find(station(i), Time{1ms}), 1);
  EXPECT_FALSE(table.insert_static(station(3'000'000), 1)) << "no place for a static one either";
  // Everything expires; a new station makes room by its own attempts.
  std::uint32_t attempts = 0;
  while (table.learn(station(4'000'000), 3, Time{1h}) != Learned::kNew) ASSERT_LT(++attempts, 100U);
  EXPECT_EQ(table.find(station(4'000'000), Time{1h}), 3);
  EXPECT_EQ(table.find(station(1'000'000), Time{1h}), 7) << "the static one";
}

// At the size that it is sized for there is a place for every one, however the
// vendor numbers its cards.
TEST(MacTable, HoldsWhatItPromises) {
  for (const std::uint64_t stride : {1ULL, 2ULL, 256ULL, 65'536ULL, 0x1'0000'0001ULL}) {
    MacTable table({.max_entries = 131'072, .ageing = 300s});
    for (std::uint64_t i = 0; i < 131'072; ++i) {
      const auto mac = (kStation + i * stride) & ~(std::uint64_t{1} << 40);
      ASSERT_EQ(table.learn(MacKey::of(0, mac), 1, Time{}), Learned::kNew) << stride << " " << i;
    }
    EXPECT_EQ(table.learn(station(0x1234'5678'9), 1, Time{}), Learned::kFull);
  }
}

struct Model {
  struct Entry {
    std::uint16_t port = 0;
    std::int64_t seen_tick = 0;
  };
  std::map<std::uint64_t, Entry> entries;
  std::int64_t ageing_ticks = 0;

  const Entry* find(MacKey key, Time now) const {
    const auto it = entries.find(key.bits);
    if (it == entries.end()) return nullptr;
    return tick(now) > it->second.seen_tick + ageing_ticks ? nullptr : &it->second;
  }
  static std::int64_t tick(Time t) { return t.time_since_epoch().count() >> 20; }
};

// Goal: nobody can choose addresses that take all places of a station. Method: stations that
// shared both of their buckets under a function without a secret, which the table once had.
TEST(MacTable, SpreadsStationsThatWereChosenToCollide) {
  constexpr std::uint32_t kEntries = 1024, kStations = 100;
  MacTable table({.max_entries = kEntries});
  __extension__ using Wide = unsigned __int128;
  const auto bucket = [&](std::uint64_t mixed) {
    return static_cast<std::size_t>(Wide{mixed} * table.buckets() >> 64);
  };
  std::uint32_t learned = 0, chosen = 0;
  for (std::uint64_t n = 0; chosen < kStations; ++n) {
    const MacKey key = station(n);
    const std::uint64_t product = (key.bits ^ key.bits >> 29) * 0x9E3779B97F4A7C15ULL;
    const std::uint64_t mixed = product ^ product >> 32;
    const std::uint64_t turned = (mixed << 32 | mixed >> 32) * 0xC4CEB9FE1A85EC53ULL;
    if (bucket(mixed) != 5 || bucket(turned) != 6) continue;
    ++chosen;
    learned += table.learn(key, 1, Time{}) == Learned::kNew;
  }
  EXPECT_EQ(learned, kStations);
  EXPECT_EQ(table.counters().refused_full, 0U);
}

// The same steps on a map that never forgets: found, port and answers agree.
TEST(MacTable, AgreesWithAModel) {
  std::map<Learned, std::uint64_t> seen;
  std::uint64_t hits = 0, misses = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    Model model{.entries = {}, .ageing_ticks = 16};
    MacTable table({.max_entries = 128, .ageing = 16 * kTick});
    Time now{};
    for (int i = 0; i < 20'000; ++i) {
      now += Duration{random.next_u32() % (1 << 16)};
      const MacKey key = station(random.next_u32() % 300, random.next_u32() % 2 == 0 ? 0 : 7);
      const auto port = static_cast<std::uint16_t>(random.next_u32() % 4);
      const auto* known = model.find(key, now);
      if (random.next_u32() % 2 == 0) {
        const auto found = table.find(key, now);
        ASSERT_EQ(found.has_value(), known != nullptr) << "seed " << seed << " step " << i;
        if (known != nullptr) {
          ASSERT_EQ(*found, known->port);
        }
        ++(known != nullptr ? hits : misses);
        continue;
      }
      // Of an ageing of 16 ticks an eighth to a quarter that is a power of two: 4 ticks.
      const bool refreshed = known != nullptr && known->seen_tick / 4 != Model::tick(now) / 4;
      const Learned expected = known == nullptr      ? Learned::kNew
                               : known->port != port ? Learned::kMoved
                               : refreshed           ? Learned::kRefreshed
                                                     : Learned::kKnown;
      const Learned answer = table.learn(key, port, now);
      ++seen[answer];
      if (answer == Learned::kFull) {
        ASSERT_EQ(expected, Learned::kNew);
        ASSERT_EQ(table.size(), table.max_entries());
        continue;
      }
      ASSERT_EQ(answer, expected) << "seed " << seed << " step " << i;
      model.entries[key.bits] = {port, Model::tick(now)};
      if (i % 16 == 0) table.sweep(now, 2);
      ASSERT_EQ(table.counters().learned, table.counters().aged + table.size());
    }
  }
  EXPECT_GT(hits, 10'000U);
  EXPECT_GT(misses, 10'000U);
  for (const auto l :
       {Learned::kKnown, Learned::kRefreshed, Learned::kNew, Learned::kMoved, Learned::kFull})
    EXPECT_GT(seen[l], 100U) << static_cast<int>(l);
}

}  // namespace
}  // namespace outrider::mac_table_test
