// Goal: packets of RoCEv2 are byte for byte those of other implementations, with their ICRC, and
// any bytes either give a packet or a fault.
#include "common/net/roce.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <vector>

#include "common/net/headers.h"

namespace outrider::roce_packet_test {
using namespace roce;
namespace {

/// A CNP that a ConnectX-4 Lx sent, without Ethernet header; the last four bytes are its ICRC.
/// Source: test/contrib/roce.uts of scapy, "RoCE CNP captured on ConnectX-4 Lx".
constexpr std::array<std::uint8_t, 60> kCapturedCnp{
    0x45, 0xC2, 0x00, 0x3C, 0x71, 0x8C, 0x40, 0x00, 0x40, 0x11, 0x91, 0x61, 0x0A, 0x00, 0x11,
    0x01, 0x0A, 0x00, 0x12, 0x01, 0x00, 0x00, 0x12, 0xB7, 0x00, 0x28, 0x00, 0x00, 0x81, 0x00,
    0xFF, 0xFF, 0x40, 0x00, 0x01, 0x18, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x82, 0xFD, 0x00, 0x2A};
constexpr std::uint32_t kPayloadAt = sizeof(Ipv4Header) + sizeof(UdpHeader);

std::array<std::uint8_t, 4> wire_bytes(std::uint32_t icrc) {
  return {static_cast<std::uint8_t>(icrc), static_cast<std::uint8_t>(icrc >> 8),
          static_cast<std::uint8_t>(icrc >> 16), static_cast<std::uint8_t>(icrc >> 24)};
}

TEST(RocePacket, IcrcIsThatOfACapturedCnp) {
  const std::uint32_t own = icrc(kCapturedCnp, kCapturedCnp.size() - kIcrcBytes);
  EXPECT_EQ(wire_bytes(own), (std::array<std::uint8_t, 4>{0x82, 0xFD, 0x00, 0x2A}));
}

TEST(RocePacket, ACapturedCnpIsReadAndWrittenAgain) {
  const std::span payload = std::span(kCapturedCnp).subspan(kPayloadAt);
  Message m;
  ASSERT_EQ(decode(payload, static_cast<std::uint32_t>(payload.size()), m), std::nullopt);
  EXPECT_EQ(m, (Message{.opcode = Opcode::kCnp, .becn = true, .destination_qp = 0x118}));
  std::array<std::uint8_t, kMaxHeaderBytes> out{};
  const std::uint32_t bytes = encode(m, out);
  ASSERT_EQ(bytes + kIcrcBytes, payload.size());
  EXPECT_TRUE(std::equal(out.begin(), out.begin() + bytes, payload.begin()));
}

// The example of scapy's tests for a packet with payload, whose pad count is 2.
TEST(RocePacket, IcrcCoversPayloadAndPad) {
  std::vector<std::uint8_t> ip{0x45, 0x01, 0x00, 0x40, 0x04, 0x78, 0x40, 0x00, 0x40, 0x11,
                               0xB4, 0xD5, 0xC0, 0xA8, 0x00, 0x07, 0xC0, 0xA8, 0x00, 0x07,
                               0xC0, 0x00, 0x12, 0xB7, 0x00, 0x2C, 0xAC, 0xA2, 0x24, 0x60,
                               0xFF, 0xFF, 0x00, 0x00, 0x00, 0xD3, 0x00, 0xCF, 0x17, 0x10};
  constexpr std::array<std::uint8_t, 20> kPayload{0x46, 0x30, 0x81, 0x8B, 0xE2, 0x89, 0x35,
                                                  0xD9, 0x0E, 0x9A, 0x95, 0x50, 0x54, 0x01,
                                                  0xBE, 0x88, 0x5E, 0x50, 0x00, 0x00};
  ip.insert(ip.end(), kPayload.begin(), kPayload.end());
  EXPECT_EQ(wire_bytes(icrc(ip, static_cast<std::uint32_t>(ip.size()))),
            (std::array<std::uint8_t, 4>{0x78, 0xF3, 0x53, 0xF3}));
}

TEST(RocePacket, WhatAForwarderChangesIsNotInTheIcrc) {
  auto changed = kCapturedCnp;
  for (const std::size_t at : {1U, 8U, 10U, 11U, 26U, 27U, 32U}) changed[at] ^= 0xFF;
  EXPECT_EQ(icrc(changed, 56), icrc(kCapturedCnp, 56));
  for (std::size_t at = 0; at < 56; ++at) {
    changed = kCapturedCnp;
    changed[at] ^= 0x10;
    const bool masked =
        at == 1 || at == 8 || at == 10 || at == 11 || (at > 25 && at < 28) || at == 32;
    EXPECT_EQ(icrc(changed, 56) == icrc(kCapturedCnp, 56), masked) << at;
  }
}

TEST(RocePacket, ZerosThatAreNotPresentCount) {
  for (const std::uint32_t zeros : {0U, 1U, 3U, 15U, 16U, 255U, 1024U, 4096U, 65'000U}) {
    std::vector<std::uint8_t> whole(kCapturedCnp.begin(), kCapturedCnp.begin() + 48);
    const std::vector<std::uint8_t> head = whole;
    whole.resize(48 + zeros);
    const auto bytes = static_cast<std::uint32_t>(whole.size());
    EXPECT_EQ(icrc(head, bytes), icrc(whole, bytes)) << zeros;
  }
}

/// The CRC bit by bit over what annex A17.3.3 masks, with no zero left out.
std::uint32_t plain_icrc(std::vector<std::uint8_t> ip) {
  for (const std::size_t at : {1U, 8U, 10U, 11U, 26U, 27U, 32U}) ip[at] = 0xFF;
  ip.insert(ip.begin(), 8, 0xFF);
  std::uint32_t crc = 0xFFFFFFFF;
  for (std::uint32_t byte : ip)
    for (int bit = 0; bit < 8; ++bit, byte >>= 1)
      crc = (crc >> 1) ^ (((crc ^ byte) & 1) != 0 ? 0xEDB88320 : 0);
  return ~crc;
}

// Payload of a foreign sender: any bytes, and zeros where these end.
TEST(RocePacket, IcrcIsThatOfTheBytesAsTheyCome) {
  std::mt19937 random(4791);
  for (int round = 0; round < 400; ++round) {
    std::vector<std::uint8_t> ip(kCapturedCnp.begin(), kCapturedCnp.begin() + 40);
    ip.resize(40 + random() % 200);
    const std::size_t nonzero = 40 + random() % (ip.size() - 39);
    for (std::size_t i = 40; i < nonzero; ++i) ip[i] = static_cast<std::uint8_t>(random());
    const auto bytes = static_cast<std::uint32_t>(ip.size());
    ASSERT_EQ(icrc(ip, bytes), plain_icrc(ip)) << "round " << round;
    ASSERT_EQ(icrc(std::span(ip).first(nonzero), bytes), plain_icrc(ip)) << "round " << round;
  }
}

TEST(RocePacket, EveryKindComesBackAsItWas) {
  const Message write{.opcode = Opcode::kWriteFirst,
                      .asks = true,
                      .destination_qp = 0xABCDEF,
                      .psn = kPsnMask,
                      .address = 0x0123456789ABCDEF,
                      .key = 0xDEADBEEF,
                      .length_bytes = 1'000'001,
                      .payload_bytes = 1024};
  Message only = write;
  only.opcode = Opcode::kWriteOnlyImmediate;
  only.immediate = 42;
  only.payload_bytes = 1;
  const Message last{
      .opcode = Opcode::kWriteLastImmediate, .psn = 7, .immediate = 3, .payload_bytes = 1023};
  const Message ack{.opcode = Opcode::kAcknowledge,
                    .psn = 1,
                    .syndrome = kNakSequenceSyndrome,
                    .message_number = 0x123456};
  const Message middle{.opcode = Opcode::kWriteMiddle, .fecn = true, .payload_bytes = 256};
  const Message send{.opcode = Opcode::kSendFirst, .psn = 9, .payload_bytes = 4096};
  const Message sent{.opcode = Opcode::kSendOnlyImmediate,
                     .asks = true,
                     .psn = 10,
                     .immediate = 5,
                     .payload_bytes = 2};
  for (const Message& m : {write, only, last, ack, middle, send, sent}) {
    std::array<std::uint8_t, kMaxHeaderBytes> out{};
    const std::uint32_t bytes = encode(m, out);
    const std::uint32_t datagram = bytes + m.payload_bytes + pad_of(m.payload_bytes) + kIcrcBytes;
    Message read;
    ASSERT_EQ(decode(std::span(out).first(bytes), datagram, read), std::nullopt);
    EXPECT_EQ(read, m);
  }
}

// Numbers of InfiniBand Architecture Specification 1.2.1, table 38.
TEST(RocePacket, AnOpcodeSaysWhatAPacketHas) {
  struct Row {
    std::uint8_t number;
    const char* kinds;  ///< s: SEND, w: WRITE, f: first, l: last, i: immediate, r: RETH
    std::uint32_t headers;
  };
  constexpr Row kRows[]{{0x00, "sf", 12},  {0x01, "s", 12},    {0x02, "sl", 12},
                        {0x03, "sli", 16}, {0x04, "sfl", 12},  {0x05, "sfli", 16},
                        {0x06, "wfr", 28}, {0x07, "w", 12},    {0x08, "wl", 12},
                        {0x09, "wli", 16}, {0x0A, "wflr", 28}, {0x0B, "wflir", 32},
                        {0x11, "", 16},    {0x81, "", 28}};
  for (const Row& row : kRows) {
    const auto o = static_cast<Opcode>(row.number);
    std::string kinds;
    if (is_data(o) && is_send(o)) kinds += 's';
    if (is_data(o) && is_write(o)) kinds += 'w';
    if (starts_message(o)) kinds += 'f';
    if (ends_message(o)) kinds += 'l';
    if (has_immediate(o)) kinds += 'i';
    if (has_reth(o)) kinds += 'r';
    EXPECT_EQ(kinds, row.kinds) << int{row.number};
    EXPECT_EQ(header_bytes(row.number), row.headers) << int{row.number};
    if (is_data(o)) {
      EXPECT_EQ(opcode_of(is_send(o) ? Operation::kSend : Operation::kWrite, part_of(o)), o);
    }
  }
}

TEST(RocePacket, WhatIsNoPacketIsNamed) {
  std::array<std::uint8_t, kMaxHeaderBytes> out{};
  const std::uint32_t bytes = encode({.opcode = Opcode::kAcknowledge}, out);
  Message m;
  EXPECT_EQ(decode(std::span(out).first(11), 40, m), Fault::kBadLength);
  EXPECT_EQ(decode(std::span(out).first(bytes), bytes, m), Fault::kBadLength) << "no ICRC";
  EXPECT_EQ(decode(std::span(out).first(bytes), bytes + 8, m), Fault::kBadLength) << "payload";
  out[1] = 0x01;
  EXPECT_EQ(decode(std::span(out).first(bytes), bytes + 4, m), Fault::kBadVersion);
  out[1] = 0x10;
  EXPECT_EQ(decode(std::span(out).first(bytes), bytes + 4, m), Fault::kBadPad);
  out[0] = 0x0C;  // RDMA READ request
  EXPECT_EQ(decode(std::span(out).first(bytes), bytes + 4, m), Fault::kBadOpcode);
  EXPECT_EQ(m, Message{}) << "untouched";
}

TEST(RocePacket, AnyBytesAreRead) {
  std::mt19937 dice(1);
  std::array<std::uint8_t, 40> bytes{};
  int read = 0;
  for (int i = 0; i < 20'000; ++i) {
    for (auto& b : bytes) b = static_cast<std::uint8_t>(dice());
    bytes[1] &= 0x30;
    const std::size_t present = dice() % bytes.size();
    Message m;
    if (!decode(std::span(bytes).first(present), static_cast<std::uint32_t>(present + dice() % 64),
                m))
      ++read;
  }
  EXPECT_GT(read, 10);
}

}  // namespace
}  // namespace outrider::roce_packet_test
