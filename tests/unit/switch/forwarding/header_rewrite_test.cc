#include "switch/forwarding/header_rewrite.h"

#include <gtest/gtest.h>

#include <span>

#include "tests/support/ipv6_frames.h"

namespace outrider::header_rewrite_test {
using namespace sw;
namespace {

using Bytes = std::vector<std::uint8_t>;

Ipv6Header& ipv6_of(Bytes& frame) { return *reinterpret_cast<Ipv6Header*>(frame.data() + 14); }

// Every traffic class that is ECT, next to a flow label of all ones: only two bits change.
TEST(HeaderRewrite, CeOfIpv6TouchesTwoBits) {
  for (unsigned tos = 0; tos < 256; ++tos) {
    if ((tos & 3) == 0) continue;
    Bytes frame = ipv6_bytes_of({.traffic_class = static_cast<std::uint8_t>(tos)});
    frame[15] |= 0x0F, frame[16] = 0xFF, frame[17] = 0xFF;
    Bytes expected = frame;
    expected[15] |= 0x30;
    set_ce(ipv6_of(frame));
    ASSERT_EQ(frame, expected) << tos;
    ASSERT_EQ(ipv6_of(frame).traffic_class(), tos | 3U);
  }
}

TEST(HeaderRewrite, HopLimitRunsOut) {
  for (const unsigned before : {255U, 64U, 2U, 1U, 0U}) {
    Bytes frame = ipv6_bytes_of({.hop_limit = static_cast<std::uint8_t>(before)});
    EXPECT_EQ(decrement_hop_limit(ipv6_of(frame)), before >= 2) << before;
    EXPECT_EQ(ipv6_of(frame).hop_limit, before >= 2 ? before - 1 : before) << "unchanged if not";
  }
}

// Every TTL and TOS, in headers that let the checksum take any value. A checksum that is valid
// before is valid after, by an independent sum.
TEST(HeaderRewrite, Ipv4ChecksumStaysRight) {
  for (std::uint32_t n = 0; n < 4096; ++n) {
    FrameSpec spec{.flow = {0x0A000000 + n * 0x10'0F, n * 0x0123'4567, 1, 2},
                   .tos = static_cast<std::uint8_t>(n),
                   .ttl = static_cast<std::uint8_t>(n * 7)};
    Bytes frame = bytes_of(spec);
    auto& ip = *reinterpret_cast<Ipv4Header*>(frame.data() + 14);
    Bytes expected = frame;
    if ((n & 3) != 0) {
      set_ce(ip);
      expected[15] |= 3;
    }
    EXPECT_EQ(decrement_ttl(ip), spec.ttl > 1);
    if (spec.ttl > 1) --expected[22];
    reseal_ipv4(expected);
    // Both forms of zero are equal for a receiver: RFC 1624, section 3.
    ASSERT_EQ(internet_checksum(std::span(frame).subspan(14, 20)), 0) << n;
    frame[24] = expected[24], frame[25] = expected[25];
    ASSERT_EQ(frame, expected) << n;
  }
}

}  // namespace
}  // namespace outrider::header_rewrite_test
