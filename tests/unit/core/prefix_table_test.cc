#include "switch/forwarding/prefix_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/core/random.h"

namespace outrider::prefix_table_test {
namespace {

constexpr std::uint32_t mask_of(unsigned length) {
  return length == 0 ? 0 : ~std::uint32_t{0} << (32 - length);
}

struct Route {
  std::uint32_t address;
  unsigned length;
  std::uint16_t value;
};

// Longest match by looking at every route; of equal prefixes the last one counts.
std::optional<std::uint16_t> naive_lookup(const std::vector<Route>& routes, std::uint32_t address) {
  std::optional<std::uint16_t> best;
  unsigned best_length = 0;
  for (const auto& r : routes) {
    if (((address ^ r.address) & mask_of(r.length)) != 0) continue;
    if (!best || r.length >= best_length) {
      best = r.value;
      best_length = r.length;
    }
  }
  return best;
}

TEST(PrefixTable, AgreesWithANaiveSearch) {
  std::uint64_t default_routes = 0, host_routes = 0, misses = 0, hits = 0, duplicates = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    std::vector<Route> routes;
    PrefixTable table;
    for (int i = 0; i < 60; ++i) {
      // Few distinct high bits, so that prefixes nest.
      const std::uint32_t address = 0x0A000000 | (random.next_u32() & 0x80030703);
      unsigned length = random.next_u32() % 33;
      if (seed % 2 == 0 && length == 0) length = 32;  // half of the tables have no default
      const auto value =
          static_cast<std::uint16_t>(random.next_u32() % (PrefixTable::kMaxValue + 1));
      for (const auto& r : routes)
        duplicates += r.length == length && ((r.address ^ address) & mask_of(length)) == 0;
      routes.push_back({address, length, value});  // bits beyond the length are left in
      table.insert(address, length, value);
      default_routes += length == 0;
      host_routes += length == 32;
    }
    const auto check = [&](std::uint32_t address) {
      const auto expected = naive_lookup(routes, address);
      ASSERT_EQ(table.lookup(address), expected) << "seed " << seed << " address " << address;
      ++(expected ? hits : misses);
    };
    for (int i = 0; i < 2'000; ++i) check(0x0A000000 | (random.next_u32() & 0x80030703));
    for (int i = 0; i < 500; ++i) check(random.next_u32());
    for (const auto& r : routes) {  // the edges of every prefix
      const std::uint32_t low = r.address & mask_of(r.length);
      const std::uint32_t high = low | ~mask_of(r.length);
      for (const auto a : {low, high, low - 1, high + 1}) check(a);
    }
  }
  EXPECT_GT(default_routes, 5U);
  EXPECT_GT(host_routes, 5U);
  EXPECT_GT(duplicates, 50U);
  EXPECT_GT(misses, 100U);
  EXPECT_GT(hits, 1'000U);
}

TEST(PrefixTable, OrderOfInsertionDoesNotMatterForDistinctPrefixes) {
  const std::vector<Route> routes = {{0, 0, 1},           {0x0A000000, 8, 2},  {0x0A010000, 15, 3},
                                     {0x0A010000, 16, 4}, {0x0A010200, 23, 5}, {0x0A010203, 32, 6}};
  std::vector<std::size_t> order = {0, 1, 2, 3, 4, 5};
  do {
    PrefixTable table;
    for (const auto i : order) table.insert(routes[i].address, routes[i].length, routes[i].value);
    EXPECT_EQ(table.lookup(0x0B000000), 1);
    EXPECT_EQ(table.lookup(0x0A020000), 2);
    EXPECT_EQ(table.lookup(0x0A000001), 3);
    EXPECT_EQ(table.lookup(0x0A010001), 4);
    EXPECT_EQ(table.lookup(0x0A010302), 5);
    EXPECT_EQ(table.lookup(0x0A010203), 6);
  } while (std::ranges::next_permutation(order).found);
}

TEST(PrefixTable, EmptyAnswersNothing) {
  const PrefixTable table;
  EXPECT_EQ(table.lookup(0), std::nullopt);
  EXPECT_EQ(table.lookup(~std::uint32_t{0}), std::nullopt);
}

TEST(PrefixTable, LargestValueIsNotTakenForNone) {
  PrefixTable table;
  table.insert(0, 0, PrefixTable::kMaxValue);
  EXPECT_EQ(table.lookup(1), PrefixTable::kMaxValue);
}

bool within(const Ipv6Address& a, const Ipv6Address& prefix, unsigned length) {
  for (unsigned bit = 0; bit < length; ++bit)
    if (((a[bit / 8] ^ prefix[bit / 8]) >> (7 - bit % 8) & 1) != 0) return false;
  return true;
}

// The same trie over 16 bytes, against a look at every route.
TEST(Ipv6PrefixTable, AgreesWithANaiveSearch) {
  std::uint64_t hits = 0, misses = 0, long_hits = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    RandomStream random(seed, 0, RandomPurpose::kTest);
    const auto address = [&random] {
      // Few distinct bits in bytes 0, 6, 8 and 15, so that prefixes nest.
      Ipv6Address a{};
      a[0] = 0x20 | (random.next_u32() & 1);
      a[6] = random.next_u32() & 0x81;
      a[8] = random.next_u32() & 0x03;
      a[15] = random.next_u32() & 0x07;
      return a;
    };
    struct Ipv6Route {
      Ipv6Address address;
      unsigned length;
      std::uint16_t value;
    };
    std::vector<Ipv6Route> routes;
    Ipv6PrefixTable table;
    for (std::uint16_t i = 0; i < 20; ++i) {
      routes.push_back({address(), 57 + random.next_u32() % 72, i});
      table.insert(routes.back().address, routes.back().length, i);
    }
    for (int i = 0; i < 2'000; ++i) {
      const Ipv6Address a = address();
      const Ipv6Route* best = nullptr;
      for (const auto& r : routes)
        if (within(a, r.address, r.length) && (best == nullptr || r.length >= best->length))
          best = &r;
      const auto found = table.lookup(a);
      ASSERT_EQ(found.has_value(), best != nullptr) << "seed " << seed;
      ++(best != nullptr ? hits : misses);
      if (best == nullptr) continue;
      ASSERT_EQ(*found, best->value);
      long_hits += best->length > 64;
    }
  }
  EXPECT_GT(hits, 1'000U);
  EXPECT_GT(misses, 100U);
  EXPECT_GT(long_hits, 1'000U);
}

}  // namespace
}  // namespace outrider::prefix_table_test
