// Goal: a hop record lands behind those of the hops before, is read back as it was written,
// keeps the UDP checksum right, and is written into nothing but a probe.
// Method: frames made by hand; the checksum summed anew, by RFC 768, with other code; every
// shorter frame; every byte of the header changed.
#include "common/net/hop_trace.h"

#include <gtest/gtest.h>

#include <vector>

#include "tests/support/frames.h"

namespace outrider::hop_trace_test {
namespace {

using hop_trace::Appended;
using hop_trace::Record;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kIp = 14;
constexpr std::size_t kUdp = kIp + 20;
constexpr std::size_t kTrace = kUdp + 8 + 18;
constexpr Record kFirst{7, 3, 1, 123'456, 40, 60'560};
constexpr Record kSecond{65'535, 255, 7, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF};

std::uint16_t udp_sum(const Bytes& f) {
  Bytes covered(f.begin() + kIp + 12, f.begin() + kIp + 20);  // addresses
  const std::uint16_t udp_bytes = static_cast<std::uint16_t>(f.size() - kUdp);
  covered.insert(covered.end(), {0, 17, static_cast<std::uint8_t>(udp_bytes >> 8),
                                 static_cast<std::uint8_t>(udp_bytes)});
  covered.insert(covered.end(), f.begin() + kUdp, f.end());
  return internet_checksum(covered);
}

/// `room` records behind the header; bytes beyond are what they are.
Bytes probe(std::uint8_t room, bool with_checksum) {
  Bytes f = bytes_of({.protocol = 17});
  f.resize(kTrace + 4 + 16U * room);
  for (std::size_t i = kUdp; i < f.size(); ++i) f[i] = static_cast<std::uint8_t>(i * 7);
  const auto udp_bytes = static_cast<std::uint16_t>(f.size() - kUdp);
  f[kUdp + 4] = static_cast<std::uint8_t>(udp_bytes >> 8);
  f[kUdp + 5] = static_cast<std::uint8_t>(udp_bytes);
  f[kTrace] = 'O';
  f[kTrace + 1] = 'H';
  f[kTrace + 2] = room;
  f[kTrace + 3] = 0;
  f[kUdp + 6] = f[kUdp + 7] = 0;
  if (with_checksum) {
    const std::uint16_t sum = udp_sum(f);
    f[kUdp + 6] = static_cast<std::uint8_t>(sum >> 8);
    f[kUdp + 7] = static_cast<std::uint8_t>(sum);
  }
  return f;
}

std::span<const std::uint8_t> payload_of(const Bytes& f) { return std::span(f).subspan(kUdp + 8); }

TEST(HopTrace, RecordsLieOneBehindTheOther) {
  Bytes f = probe(2, true);
  ASSERT_EQ(udp_sum(f), 0) << "the test's own checksum";
  EXPECT_EQ(append(f, kIp, kFirst), Appended::kYes);
  EXPECT_EQ(append(f, kIp, kSecond), Appended::kYes);
  const auto trace = hop_trace::read(payload_of(f));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->hops, 2);
  EXPECT_EQ(trace->records_kept, 2);
  EXPECT_TRUE(trace->complete());
  EXPECT_EQ(trace->records[0], kFirst);
  EXPECT_EQ(trace->records[1], kSecond);
  const Bytes first(f.begin() + kTrace + 4, f.begin() + kTrace + 20);
  EXPECT_EQ(first, (Bytes{0, 7, 3, 1, 0, 1, 0xE2, 0x40, 0, 0, 0, 40, 0, 0, 0xEC, 0x90}));
}

TEST(HopTrace, KeepsTheChecksumRightOrAbsent) {
  Bytes f = probe(3, true);
  for (int hop = 0; hop < 5; ++hop) {  // the last two find no room
    EXPECT_EQ(append(f, kIp, hop % 2 == 0 ? kFirst : kSecond),
              hop < 3 ? Appended::kYes : Appended::kNoRoom);
    EXPECT_EQ(udp_sum(f), 0) << hop;
    EXPECT_NE(f[kUdp + 6] << 8 | f[kUdp + 7], 0) << "zero would mean none";
  }
  Bytes without = probe(3, false);
  EXPECT_EQ(append(without, kIp, kFirst), Appended::kYes);
  EXPECT_EQ(without[kUdp + 6] << 8 | without[kUdp + 7], 0);
}

TEST(HopTrace, CountsHopsWithoutRoomUpTo255) {
  Bytes f = probe(1, true);
  EXPECT_EQ(append(f, kIp, kFirst), Appended::kYes);
  const Bytes before = f;
  EXPECT_EQ(append(f, kIp, kSecond), Appended::kNoRoom);
  auto trace = hop_trace::read(payload_of(f));
  ASSERT_TRUE(trace);
  EXPECT_EQ(trace->hops, 2);
  EXPECT_EQ(trace->records_kept, 1);
  EXPECT_FALSE(trace->complete());
  EXPECT_EQ(trace->records[0], kFirst);
  for (int i = 0; i < 300; ++i) EXPECT_EQ(append(f, kIp, kSecond), Appended::kNoRoom);
  EXPECT_EQ(hop_trace::read(payload_of(f))->hops, 255);
  EXPECT_EQ(udp_sum(f), 0);
}

TEST(HopTrace, NeverWritesBeyondWhatIsThere) {
  const Bytes whole = probe(2, true);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    Bytes cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const bool first = size >= kTrace + 4 + 16;
    const bool header = size >= kTrace + 4;
    const Appended expected = first    ? Appended::kYes
                              : header ? Appended::kNoRoom
                                       : Appended::kNotAProbe;
    const Bytes before = cut;
    cut.reserve(size);  // so that the sanitizer sees a byte too many
    EXPECT_EQ(append(cut, kIp, kFirst), expected) << size;
    EXPECT_TRUE(expected != Appended::kNotAProbe || cut == before) << size;
    static_cast<void>(hop_trace::read(std::span(cut).subspan(std::min(size, kUdp + 8))));
  }
}

TEST(HopTrace, LeavesOthersAlone) {
  const auto untouched = [](Bytes f, std::size_t ip_offset, const char* what) {
    const Bytes before = f;
    EXPECT_EQ(append(f, ip_offset, kFirst), Appended::kNotAProbe) << what;
    EXPECT_EQ(f, before) << what;
  };
  untouched(probe(2, true), 0, "not IP");
  Bytes f = probe(2, true);
  f[kIp] = 0x65;
  untouched(f, kIp, "IPv6");
  f = probe(2, true);
  f[kIp + 9] = 6;
  untouched(f, kIp, "TCP");
  f = probe(2, true);
  f[kIp + 6] = 0x20;
  untouched(f, kIp, "first of several fragments");
  f = probe(2, true);
  f[kIp + 7] = 1;
  untouched(f, kIp, "a later fragment");
  f = probe(2, true);
  f[kTrace + 1] = 'X';
  untouched(f, kIp, "no magic");
}

TEST(HopTrace, ReadsNothingThatDoesNotFit) {
  Bytes f = probe(4, true);
  EXPECT_TRUE(hop_trace::read(payload_of(f)));
  f[kTrace + 2] = 5;
  EXPECT_FALSE(hop_trace::read(payload_of(f))) << "more than are read";
  f = probe(1, true);
  f[kTrace + 2] = 2;
  EXPECT_FALSE(hop_trace::read(payload_of(f))) << "more than the payload holds";
  EXPECT_FALSE(hop_trace::read(payload_of(f).first(21)));
}

}  // namespace
}  // namespace outrider::hop_trace_test
