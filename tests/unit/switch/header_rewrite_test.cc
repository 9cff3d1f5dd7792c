#include "switch/header_rewrite.h"

#include <gtest/gtest.h>

#include "tests/support/ipv6_frames.h"

namespace outrider {
namespace {

using Bytes = std::vector<std::uint8_t>;

Ipv6Header& ipv6_of(Bytes& frame) { return *reinterpret_cast<Ipv6Header*>(frame.data() + 14); }

// Every traffic class that is ECT, with a flow label of all ones beside it: two bits
// change and nothing else does.
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

}  // namespace
}  // namespace outrider
