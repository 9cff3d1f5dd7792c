// Goal: blocks as the format has them. Method: bytes written by hand from the draft's figures.
#include "switch/control/pcapng.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstring>

namespace outrider::pcapng_test {
namespace {

static_assert(std::endian::native == std::endian::little, "the bytes below are little-endian");

using pcapng::Bytes;

TEST(Pcapng, ASectionNamesItsByteOrderAndApplication) {
  Bytes out;
  pcapng::section_header(out, "abc");
  EXPECT_EQ(out,
            (Bytes{0x0A, 0x0D, 0x0D, 0x0A, 40,   0,    0,    0,    0x4D, 0x3C, 0x2B, 0x1A, 1, 0,
                   0,    0,    0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 4,    0,    3, 0,
                   'a',  'b',  'c',  0,    0,    0,    0,    0,    40,   0,    0,    0}));
}

TEST(Pcapng, AnInterfaceCountsNanoseconds) {
  Bytes out;
  pcapng::interface_description(out, "s.p", 128);
  EXPECT_EQ(out, (Bytes{1,   0,   0,   0, 40, 0, 0, 0, 1, 0, 0, 0, 128, 0, 0, 0, 2,  0, 3, 0,
                        's', '.', 'p', 0, 9,  0, 1, 0, 9, 0, 0, 0, 0,   0, 0, 0, 40, 0, 0, 0}));
}

TEST(Pcapng, APacketIsPaddedAndCarriesItsComment) {
  const std::array<std::uint8_t, 5> frame = {1, 2, 3, 4, 5};
  Bytes out;
  pcapng::enhanced_packet(out, {.interface = 2,
                                .at_ns = 0x0102030405060708,
                                .frame_bytes = 60,
                                .captured = frame,
                                .comment = "hi"});
  EXPECT_EQ(out, (Bytes{6, 0, 0, 0, 52,  0,   0,  0, 2, 0, 0, 0, 4,  3, 2, 1, 8, 7,
                        6, 5, 5, 0, 0,   0,   60, 0, 0, 0, 1, 2, 3,  4, 5, 0, 0, 0,
                        1, 0, 2, 0, 'h', 'i', 0,  0, 0, 0, 0, 0, 52, 0, 0, 0}));
}

TEST(Pcapng, APacketWithoutACommentHasNoOptions) {
  Bytes out;
  pcapng::enhanced_packet(out, {.frame_bytes = 60});
  EXPECT_EQ(out.size(), 32U);
  EXPECT_EQ(std::memcmp(out.data() + 4, out.data() + 28, 4), 0);
}

}  // namespace
}  // namespace outrider::pcapng_test
