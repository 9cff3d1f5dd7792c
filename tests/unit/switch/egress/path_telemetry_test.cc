// Goal: a switch that is asked to writes into packets of RoCEv2 with telemetry when they left, how
// long their port had been sending their queue, and what they left behind there; others pass
// unchanged, and so do all where it is not asked. Method: a switch of 1 Gbit/s ports; frames made
// by hand; every figure computed beside the code.
#include <gtest/gtest.h>

#include "common/net/roce_telemetry.h"
#include "tests/unit/switch/switch_bench.h"

namespace outrider::path_telemetry_test {
using namespace sw;
namespace {

using namespace std::chrono_literals;
using roce::HopTimes;

constexpr Time kStart = Time{} + 1s;
constexpr std::uint32_t kPayload = 1000 - 14 - 28 - 12 - 44 - 4;  // frames of 1,000 bytes: 8 us

SwitchConfig config_with(HopRecordConfig hops) {
  SwitchConfig c = SwitchBench::config();
  c.hop_records = hops;
  for (auto& port : c.ports) port.regulation = {};
  return c;
}

/// Returns the frame of a SEND's middle packet.
std::vector<std::uint8_t> frame_of(bool telemetry, std::uint16_t source_port = 40'000) {
  std::array<std::uint8_t, roce::kMaxHeaderBytes + roce::kTelemetryBytes> head{};
  std::uint32_t bytes = roce::encode(
      {.opcode = roce::Opcode::kSendMiddle, .destination_qp = 7, .payload_bytes = kPayload},
      std::span(head).first<roce::kMaxHeaderBytes>());
  if (telemetry) bytes = roce::add_telemetry(head, bytes, roce::empty_telemetry());
  else bytes += roce::kTelemetryBytes;  // payload
  std::vector<std::uint8_t> f = bytes_of({.protocol = kIpProtocolUdp});
  f.resize(34 + 8);
  const auto udp_bytes = static_cast<std::uint16_t>(8 + bytes + kPayload + roce::kIcrcBytes);
  const auto put = [&f](std::size_t at, std::uint16_t value) {
    f[at] = static_cast<std::uint8_t>(value >> 8);
    f[at + 1] = static_cast<std::uint8_t>(value);
  };
  put(16, static_cast<std::uint16_t>(20 + udp_bytes));
  put(34, source_port);
  put(36, roce::kPort);
  put(38, udp_bytes);
  put(40, 0);
  f.insert(f.end(), head.begin(), head.begin() + bytes);
  f.resize(34 + udp_bytes);
  reseal_ipv4(f);
  return f;
}

void send(SwitchBench& b, const std::vector<std::uint8_t>& frame, Time now) {
  b.receive(SwitchBench::kWest, packet_of(b.pool.get(), frame), now);
}

roce::Telemetry read(const Arrival& arrival) {
  roce::TelemetrySection section{};
  std::copy_n(arrival.bytes.begin() + 34 + 8 + 12, section.size(), section.begin());
  return roce::read_telemetry(section);
}

/// Returns what the clock reads in a record.
Duration clock_of(Time t) { return Duration{t.time_since_epoch().count() & 0xFFFFFF}; }

TEST(PathTelemetry, TellsDepartureTimeOfSendingAndWhatIsLeft) {
  SwitchBench b(config_with({.roce = true}));
  for (int i = 0; i < 3; ++i) send(b, frame_of(true), kStart);
  send(b, frame_of(true), kStart + 100us);
  b.run();
  const auto& out = b.out[SwitchBench::kEast].arrivals;
  ASSERT_EQ(out.size(), 4U);
  const std::vector<HopTimes> expected{
      {clock_of(kStart), 0us, 0us},  // found the port free, and nothing behind it yet
      {clock_of(kStart + 8us), 8us, 8us},
      {clock_of(kStart + 16us), 16us, 0us},
      {clock_of(kStart + 100us), 24us, 0us}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const roce::Telemetry t = read(out[i]);
    EXPECT_EQ(t.hops, 1) << i;
    EXPECT_EQ(t.path, 1 + 0 * 64) << "switch 0, port 0";
    EXPECT_EQ(t.records[0], expected[i]) << i;
    EXPECT_TRUE(out[i].checksum_valid);
  }
  EXPECT_EQ(b.report({}).queues[SwitchBench::kEast].hop_records, 4U);
}

// The queue also has what is no RoCEv2.
TEST(PathTelemetry, CountsTheTimeOfOtherPackets) {
  SwitchBench b(config_with({.roce = true}));
  b.fill(10, kStart);
  send(b, frame_of(true), kStart);
  b.run();
  const auto& out = b.out[SwitchBench::kEast].arrivals;
  ASSERT_EQ(out.size(), 11U);
  EXPECT_EQ(read(out[10]).records[0], (HopTimes{clock_of(kStart + 80us), 80us, 0us}));
}

TEST(PathTelemetry, CountsHopsWithoutRoom) {
  SwitchBench b(config_with({.id = 3, .roce = true}));
  auto frame = frame_of(true);
  for (int i = 0; i < 5; ++i)
    ASSERT_EQ(roce::append_telemetry(frame, 14, 9, {}), hop_trace::Appended::kYes);
  send(b, frame, kStart);
  b.run();
  const auto& out = b.out[SwitchBench::kEast].arrivals;
  ASSERT_EQ(out.size(), 1U);
  EXPECT_EQ(read(out[0]).hops, 6);
  EXPECT_EQ(b.report({}).queues[SwitchBench::kEast].hop_records, 0U);
  EXPECT_EQ(b.report({}).queues[SwitchBench::kEast].hop_records_no_room, 1U);
}

// Packets of another class do not count: a class of precedence is told how much of the link it
// uses itself.
TEST(PathTelemetry, EachQueueTellsOfItsOwnPackets) {
  SwitchConfig c = config_with({.roce = true});
  for (auto& port : c.ports) {
    port.queues.assign(2, {port.queue, port.marker, port.regulation});
    port.scheduler = SchedulerKind::kStrict;
  }
  c.classes.background_queue = 1;
  c.rules = {{.protocol = kIpProtocolUdp,
              .destination_ports = PortRange{roce::kPort, roce::kPort},
              .traffic_class = RuleClass::kDdl}};
  SwitchBench b(c);
  b.fill(5, kStart);
  send(b, frame_of(true), kStart);
  send(b, frame_of(true), kStart + 100us);
  b.run();
  const auto& out = b.out[SwitchBench::kEast].arrivals;
  ASSERT_EQ(out.size(), 7U);
  EXPECT_EQ(read(out[1]).records[0], (HopTimes{clock_of(kStart + 8us), 0us, 0us}))
      << "before the four that wait in the other queue";
  EXPECT_EQ(read(out[6]).records[0], (HopTimes{clock_of(kStart + 100us), 8us, 0us}));
  const auto report = b.report({});
  std::uint64_t written = 0;
  for (const auto& queue : report.queues) written += queue.hop_records;
  EXPECT_EQ(written, 2U);
}

TEST(PathTelemetry, OthersPassUnchanged) {
  SwitchBench asked(config_with({.roce = true})), not_asked(config_with({.udp_port = 5001}));
  send(asked, frame_of(false), kStart);
  send(not_asked, frame_of(true), kStart);
  asked.run();
  not_asked.run();
  const auto same = [](const Arrival& arrival, const std::vector<std::uint8_t>& sent) {
    return std::equal(arrival.bytes.begin() + 34, arrival.bytes.end(), sent.begin() + 34);
  };
  ASSERT_EQ(asked.out[SwitchBench::kEast].arrivals.size(), 1U);
  EXPECT_TRUE(same(asked.out[SwitchBench::kEast].arrivals[0], frame_of(false)));
  ASSERT_EQ(not_asked.out[SwitchBench::kEast].arrivals.size(), 1U);
  EXPECT_TRUE(same(not_asked.out[SwitchBench::kEast].arrivals[0], frame_of(true)));
  EXPECT_EQ(asked.report({}).queues[SwitchBench::kEast].hop_records, 0U);
}

}  // namespace
}  // namespace outrider::path_telemetry_test
