#include "common/core/flow_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <vector>

#include "common/core/random.h"

namespace outrider::flow_table_test {
namespace {

FlowKey key(std::uint32_t n) { return {0x0A000000U + n, 0x0A010000U + n % 3, 1000, 5000}; }

struct Hash {
  std::size_t operator()(const FlowKey& k) const { return hash_of(k); }
};

// 50,000 random steps that keep the table at its limit, where probe runs are
// longest and a deletion has most to shift.
TEST(FlowTable, BehavesLikeAnUnorderedMapAtFullLoad) {
  constexpr std::uint32_t kEntries = 64;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    FlowTable<std::uint32_t> table(kEntries);
    std::unordered_map<FlowKey, std::uint32_t, Hash> model;
    std::uint64_t refused = 0, erased = 0, missed = 0, overwritten = 0;
    for (std::uint32_t step = 0; step < 50'000; ++step) {
      const FlowKey k = key(random.next_u32() % (kEntries * 3 / 2));
      const std::uint32_t* found = table.find(k);
      const auto expected = model.find(k);
      ASSERT_EQ(found != nullptr, expected != model.end()) << "seed " << seed << " step " << step;
      if (found != nullptr) {
        ASSERT_EQ(*found, expected->second);
      }
      if (random.next_u32() % 4 == 0) {
        ASSERT_EQ(table.erase(k), model.erase(k) == 1);
        ++(found != nullptr ? erased : missed);
      } else if (found != nullptr) {
        *table.find(k) = step;
        model[k] = step;
        ++overwritten;
      } else {
        std::uint32_t* inserted = table.insert(k, step);
        ASSERT_EQ(inserted == nullptr, model.size() == kEntries);
        if (inserted == nullptr) {
          ++refused;
        } else {
          ASSERT_EQ(*inserted, step);
          model[k] = step;
        }
      }
      ASSERT_EQ(table.size(), model.size());
    }
    std::map<FlowKey, std::uint32_t> visited;
    table.for_each([&](const FlowKey& k, std::uint32_t v) { visited[k] = v; });
    EXPECT_EQ(visited, (std::map<FlowKey, std::uint32_t>(model.begin(), model.end())));
    EXPECT_GT(refused, 500U) << "the table must have been full";
    EXPECT_GT(erased, 500U);
    EXPECT_GT(missed, 500U);
    EXPECT_GT(overwritten, 500U);
  }
}

// Keys with the same home slot, found by search, so that one run holds them all.
std::vector<FlowKey> colliding(std::size_t slots, std::size_t home, std::size_t n) {
  std::vector<FlowKey> keys;
  for (std::uint32_t i = 0; keys.size() < n; ++i)
    if ((hash_of(key(i)) & (slots - 1)) == home) keys.push_back(key(i));
  return keys;
}

TEST(FlowTable, DeletionShiftsTheRunBackAcrossTheEndOfTheTable) {
  constexpr std::uint32_t kEntries = 8;  // 16 slots
  for (const std::size_t home : {std::size_t{0}, std::size_t{14}, std::size_t{15}}) {
    const auto keys = colliding(16, home, 5);
    const auto next = colliding(16, (home + 1) & 15, 2);  // displaced by the run before them
    for (std::size_t victim = 0; victim < keys.size(); ++victim) {
      FlowTable<int> table(kEntries);
      for (std::size_t i = 0; i < keys.size(); ++i) table.insert(keys[i], static_cast<int>(i));
      for (const auto& k : next) table.insert(k, 100);
      EXPECT_TRUE(table.erase(keys[victim]));
      EXPECT_FALSE(table.erase(keys[victim])) << "gone";
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const int* found = table.find(keys[i]);
        ASSERT_EQ(found == nullptr, i == victim) << "home " << home << " victim " << victim;
        if (found != nullptr) {
          EXPECT_EQ(*found, static_cast<int>(i));
        }
      }
      for (const auto& k : next) ASSERT_NE(table.find(k), nullptr) << "home " << home;
    }
  }
}

TEST(FlowTable, EntryAtItsHomeIsNotShifted) {
  const auto first = colliding(16, 3, 1), second = colliding(16, 4, 1);
  FlowTable<int> table(8);
  table.insert(first[0], 1);
  table.insert(second[0], 2);
  table.erase(first[0]);
  ASSERT_NE(table.find(second[0]), nullptr);
  EXPECT_EQ(*table.find(second[0]), 2);
}

TEST(FlowTable, LimitIsExactAndSpaceComesBack) {
  for (const std::uint32_t entries : {1U, 2U, 3U, 7U, 8U}) {
    FlowTable<int> table(entries);
    for (std::uint32_t i = 0; i < entries; ++i) EXPECT_NE(table.insert(key(i), 1), nullptr);
    EXPECT_EQ(table.insert(key(entries), 1), nullptr) << entries;
    EXPECT_EQ(table.find(key(entries)), nullptr) << "ends although the table is full";
    EXPECT_TRUE(table.erase(key(0)));
    EXPECT_NE(table.insert(key(entries), 1), nullptr);
  }
}

// -- Keys that somebody has chosen

/// Undoes the finaliser of public_hash_of().
std::uint64_t unmixed(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0x9cb4b2f8129337dbULL;
  x ^= x >> 33;
  x *= 0x4f74430c22a54005ULL;
  return x ^ (x >> 33);
}

/// Returns `n` flows whose public hashes end in the same 32 bits, found by running the function
/// backwards, as somebody who knows it can.
std::vector<FlowKey> flows_of_one_slot(std::size_t n) {
  std::vector<FlowKey> flows;
  for (std::uint64_t high = 1; flows.size() < n; ++high) {
    FlowKey k{.source_port = static_cast<std::uint16_t>(high), .destination_port = 5000};
    // Without addresses the outer finaliser sees what the inner one makes of the ports.
    const std::uint64_t joined = unmixed(high << 32 | 7) ^ unmixed(public_hash_of(k));
    k.source_address = static_cast<std::uint32_t>(joined / 0x1'0000'000F);
    k.destination_address = static_cast<std::uint32_t>(joined % 0x1'0000'000F);
    if (joined_addresses(k) == joined) flows.push_back(k);
  }
  return flows;
}

// Goal: nobody can choose flows that all fall into one run of slots. Method: flows whose hashes
// without a key are equal in all bits that a table uses, under several keys.
TEST(FlowTable, SpreadsFlowsThatWereChosenToCollide) {
  constexpr std::uint32_t kEntries = 100'000;
  const std::vector<FlowKey> flows = flows_of_one_slot(kEntries);
  for (const FlowKey& k : flows) ASSERT_EQ(public_hash_of(k) & 0xFFFF'FFFF, 7U);
  FlowTable<int> table(kEntries);
  for (const FlowKey& k : flows) ASSERT_NE(table.insert(k, 1), nullptr) << "all differ";
  std::size_t worst = 0, sum = 0;
  for (const FlowKey& k : flows) {
    worst = std::max(worst, table.probes(k));
    sum += table.probes(k);
  }
  EXPECT_LE(worst, 100U);
  EXPECT_LE(sum, kEntries * 3 / 2) << "linear probing, 38 % full: 1.31 (Knuth, vol. 3, 6.4)";
}

// Flows that share a slot under one key are spread by another, for changes of single bits of
// the key as well.
TEST(FlowKey, WhichFlowsCollideDependsOnEveryWordOfTheKey) {
  constexpr std::uint64_t kSlots = 4096;
  std::vector<FlowKey> together;
  for (std::uint32_t i = 0; together.size() < 200; ++i)
    if (hash_of(key(i), kPublicHashKey) % kSlots == 0) together.push_back(key(i));
  for (std::size_t word = 0; word < 4; ++word) {
    for (const unsigned bit : {0U, 31U, 63U}) {
      HashKey other = kPublicHashKey;
      other.words[word] ^= std::uint64_t{1} << bit;
      std::map<std::uint64_t, int> used;
      for (const FlowKey& k : together) ++used[hash_of(k, other) % kSlots];
      EXPECT_GT(used.size(), 180U) << "word " << word << " bit " << bit;
    }
  }
}

TEST(FlowKey, ReversedIsAnInvolutionAndEveryFieldReachesTheHash) {
  const FlowKey k{1, 2, 3, 4};
  EXPECT_EQ(k.reversed(), (FlowKey{2, 1, 4, 3}));
  EXPECT_EQ(k.reversed().reversed(), k);
  for (const FlowKey other :
       {FlowKey{9, 2, 3, 4}, {1, 9, 3, 4}, {1, 2, 9, 4}, {1, 2, 3, 9}, k.reversed()})
    EXPECT_NE(hash_of(other), hash_of(k));
}

}  // namespace
}  // namespace outrider::flow_table_test
