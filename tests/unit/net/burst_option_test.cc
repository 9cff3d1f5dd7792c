#include "common/net/burst_option.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "common/core/random.h"

namespace outrider::burst_option_test {
namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr BurstIdentity kIdentity{
    .job = 0x0102, .worker = 0x0304, .iteration = 0x05060708, .direction = BurstDirection::kPull};
// Kind 253, length 12, ExID, job, pull bit and worker, iteration.
const Bytes kEncoded = {253, 12, 0x4F, 0x52, 0x01, 0x02, 0x83, 0x04, 0x05, 0x06, 0x07, 0x08};

Bytes encoded(const BurstIdentity& id) {
  Bytes out(kBurstOptionBytes, 0xEE);
  HeaderWriter writer(out.data());
  encode_burst_option(id, writer);
  return out;
}

TEST(BurstOption, WritesItsDocumentedBytes) {
  EXPECT_EQ(encoded(kIdentity), kEncoded);
  EXPECT_EQ(encoded({.job = 1, .worker = 2, .iteration = 3}),
            (Bytes{253, 12, 0x4F, 0x52, 0, 1, 0, 2, 0, 0, 0, 3}));
}

TEST(BurstOption, RoundTrip) {
  RandomStream random(1, 0, RandomPurpose::kTest);
  for (int i = 0; i < 10'000; ++i) {
    const BurstIdentity id{
        .job = static_cast<std::uint16_t>(random.next_u32()),
        .worker = static_cast<std::uint16_t>(random.next_u32() & 0x7FFF),
        .iteration = random.next_u32(),
        .direction = random.next_u32() % 2 == 0 ? BurstDirection::kPush : BurstDirection::kPull};
    ASSERT_EQ(decode_burst_option(encoded(id)), id);
  }
}

TEST(BurstOption, IsFoundBehindOtherOptions) {
  const Bytes others[] = {
      {1, 1},                                         // two paddings
      {2, 4, 0x05, 0xB4},                             // MSS
      {8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 1},          // timestamps, padded
      {5, 10, 0, 0, 0, 0, 0, 0, 0, 0},                // SACK
      {253, 4, 0x4F, 0x52},                           // our kind, another length
      {253, 12, 0xF9, 0x89, 0, 0, 0, 0, 0, 0, 0, 0},  // our kind and length, another ExID
      {4, 2},                                         // SACK permitted: length 2 is legal
  };
  for (const auto& before : others) {
    Bytes options = before;
    options.insert(options.end(), kEncoded.begin(), kEncoded.end());
    EXPECT_EQ(decode_burst_option(options), kIdentity) << "behind kind " << int{before[0]};
    options.push_back(0);
    EXPECT_EQ(decode_burst_option(options), kIdentity) << "and before the end of the list";
  }
}

TEST(BurstOption, MalformedOptionsAnswerNothing) {
  struct Row {
    Bytes options;
    const char* why;
  };
  Bytes behind_end = {0};
  behind_end.insert(behind_end.end(), kEncoded.begin(), kEncoded.end());
  Bytes behind_zero_length = {8, 0};
  behind_zero_length.insert(behind_zero_length.end(), kEncoded.begin(), kEncoded.end());
  Bytes behind_length_one = {8, 1};
  behind_length_one.insert(behind_length_one.end(), kEncoded.begin(), kEncoded.end());
  Bytes too_long = kEncoded;
  too_long[1] = 13;
  Bytes too_short = kEncoded;
  too_short[1] = 11;
  Bytes overrun = {8, 14};
  overrun.insert(overrun.end(), kEncoded.begin(), kEncoded.end() - 1);
  const Row rows[] = {
      {{}, "no options"},
      {{253}, "kind without length"},
      {{1, 1, 1, 253}, "the same at the end of padding"},
      {{253, 12}, "nothing behind the length"},
      {Bytes(kEncoded.begin(), kEncoded.end() - 1), "one byte short"},
      {too_long, "length beyond the header"},
      {too_short, "wrong length"},
      {behind_end, "behind the end of the list"},
      {behind_zero_length, "length 0 would never end"},
      {behind_length_one, "length 1 is impossible"},
      {overrun, "an option that runs past the header"},
  };
  for (const auto& row : rows) EXPECT_EQ(decode_burst_option(row.options), std::nullopt) << row.why;
}

// Any bytes of any length: reads stay inside (checked by the sanitizer: the
// buffer is exactly as long) and the search ends.
TEST(BurstOption, AnyBytesAreSafe) {
  RandomStream random(2, 0, RandomPurpose::kTest);
  std::uint64_t found = 0;
  for (int i = 0; i < 100'000; ++i) {
    Bytes options(random.next_u32() % (kMaxTcpOptionBytes + 1));
    for (auto& b : options) {
      constexpr std::uint8_t kLikely[] = {0, 1, 2, 12, 253, 0x4F, 0x52, 255};
      b = kLikely[random.next_u32() % std::size(kLikely)];
    }
    if (options.size() >= 16 && i % 4 == 0)
      std::copy(kEncoded.begin(), kEncoded.end(), options.begin() + 4);
    found += decode_burst_option(options).has_value();
  }
  EXPECT_GT(found, 100U);
}

}  // namespace
}  // namespace outrider::burst_option_test
