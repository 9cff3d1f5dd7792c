// Goal: a pause frame of priority flow control has the bytes of the standard, and any bytes are
// either one or none. Method: a frame by hand, changes of each byte of its head, random bytes.
#include "common/net/pause_frame.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace outrider::pause_frame_test {
namespace {

using Bytes = std::array<std::uint8_t, kPauseFrameBytes>;

constexpr MacAddress kSource{0x02, 0x00, 0x00, 0x00, 0x00, 0x07};

/// Priority 3 pauses as long as it can, priority 4 may go on (IEEE 802.3, figure 31D-1).
constexpr PauseFrame kExample{.enabled = 0x18, .quanta = {0, 0, 0, 0xFFFF, 0, 0, 0, 0}};
constexpr Bytes kExampleBytes{
    0x01, 0x80, 0xC2, 0x00, 0x00, 0x01,  // destination
    0x02, 0x00, 0x00, 0x00, 0x00, 0x07,  // source
    0x88, 0x08, 0x01, 0x01,              // MAC control, PFC
    0x00, 0x18,                          // class-enable vector
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00,  // time 0 to 2
    0xFF, 0xFF, 0x00, 0x00,              // time 3 and 4
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00,  // time 5 to 7
};                                       // and padding

TEST(PauseFrame, HasTheBytesOfTheStandard) {
  Bytes bytes;
  bytes.fill(0xEE);
  encode(kExample, kSource, bytes);
  EXPECT_EQ(bytes, kExampleBytes);
  EXPECT_EQ(decode_pause_frame(kExampleBytes), kExample);
}

TEST(PauseFrame, EachPriorityHasItsPlace) {
  for (std::size_t p = 0; p < kPausePriorities; ++p) {
    PauseFrame frame;
    frame.set(p, static_cast<std::uint16_t>(0x1200 + p));
    EXPECT_TRUE(frame.concerns(p));
    EXPECT_EQ(frame.enabled, 1U << p);
    Bytes bytes{};
    encode(frame, kSource, bytes);
    EXPECT_EQ(bytes[17], 1U << p);
    EXPECT_EQ(bytes[18 + 2 * p], 0x12);
    EXPECT_EQ(bytes[19 + 2 * p], p);
    EXPECT_EQ(decode_pause_frame(bytes), frame);
  }
}

TEST(PauseFrame, OthersAreNone) {
  for (const std::size_t at : {0U, 5U, 12U, 13U, 14U, 15U}) {
    Bytes other = kExampleBytes;
    other[at] ^= 0x01;
    EXPECT_EQ(decode_pause_frame(other), std::nullopt) << at;
  }
  Bytes plain_pause = kExampleBytes;  // of 802.3x, for the whole link
  plain_pause[14] = 0x00;
  EXPECT_EQ(decode_pause_frame(plain_pause), std::nullopt);
  for (std::size_t size = 0; size < 34; ++size)
    EXPECT_EQ(decode_pause_frame(std::span(kExampleBytes).first(size)), std::nullopt) << size;
  EXPECT_TRUE(decode_pause_frame(std::span(kExampleBytes).first(34))) << "padding may be cut off";
}

TEST(PauseFrame, TheReservedByteIsIgnored) {
  Bytes bytes = kExampleBytes;
  bytes[16] = 0xFF;
  EXPECT_EQ(decode_pause_frame(bytes), kExample);
}

TEST(PauseFrame, AnyBytesAreReadWithinTheirEnd) {
  std::mt19937 draw(7);
  std::size_t read = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::uint8_t> bytes(kExampleBytes.begin(), kExampleBytes.begin() + 16);
    bytes.resize(16 + draw() % 30);
    for (std::size_t at = 16; at < bytes.size(); ++at)
      bytes[at] = static_cast<std::uint8_t>(draw());
    read += decode_pause_frame(bytes).has_value();
  }
  EXPECT_GT(read, 100U);
  EXPECT_LT(read, 1900U);
}

TEST(PauseFrame, WiresharkReadsIt) {
  const std::string path = testing::TempDir() + "/pause_frame_test.pcap";
  std::ofstream out(path, std::ios::binary);
  const auto word = [&out](std::uint32_t v) {
    for (int shift = 0; shift < 32; shift += 8) out.put(static_cast<char>(v >> shift));
  };
  for (const std::uint32_t v : {0xA1B2C3D4U, 4U << 16 | 2, 0U, 0U, 262144U, 1U}) word(v);
  for (const std::uint32_t v : {1'700'000'000U, 0U, kPauseFrameBytes, kPauseFrameBytes}) word(v);
  for (const std::uint8_t byte : kExampleBytes) out.put(static_cast<char>(byte));
  out.close();
  const std::string command =
      "tshark -n -r " + path +
      " -T fields -E separator=, -e macc.opcode -e macc.cbfc.enbv -e macc.cbfc.pause_time.c3"
      " -e macc.cbfc.pause_time.c4 2>/dev/null";
  const std::unique_ptr<FILE, int (*)(FILE*)> tshark(popen(command.c_str(), "r"), pclose);
  std::string said;
  std::array<char, 256> line{};
  while (fgets(line.data(), line.size(), tshark.get()) != nullptr) said += line.data();
  if (said.empty()) GTEST_SKIP() << "tshark is not there to read the frame";
  EXPECT_EQ(said, "0x0101,0x0018,65535,0\n");
}

}  // namespace
}  // namespace outrider::pause_frame_test
