// Packets as anybody could send them to a queue pair or through a switch: decode() must refuse or
// understand whatever they are, what is understood must survive being written again, a queue pair
// must not lose count, however wild the order, and a switch must write telemetry where it belongs.
#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "common/net/headers.h"
#include "common/net/roce.h"
#include "common/net/roce_telemetry.h"
#include "tests/fuzz/fuzz_main.h"
#include "trafficgen/roce/queue_pair.h"

namespace outrider::fuzz {
using namespace tg;
namespace {

constexpr std::uint16_t kOwn = 7, kPeer = 8;
constexpr std::uint32_t kFirstPsn = roce::kPsnMask - 3;  // wraps early
constexpr std::uint32_t kIpBytes = sizeof(Ipv4Header) + sizeof(UdpHeader);

struct Ignored final : QueuePairListener {
  void on_received(QueuePair&, Time) noexcept override {}
  void on_acknowledged(QueuePair&, Time) noexcept override {}
  void on_gave_up(QueuePair&, Time) noexcept override {}
};

void decode_anything(FuzzInput& in) {
  const std::vector<std::uint8_t> data(in.data(), in.data() + std::min<std::size_t>(in.left(), 60));
  roce::Message m;
  const auto size = static_cast<std::uint32_t>(data.size());
  for (const std::uint32_t absent : {0U, 4U, 1024U}) {
    if (roce::decode(data, size + absent, m)) continue;
    std::array<std::uint8_t, roce::kMaxHeaderBytes> out{};
    const std::uint32_t bytes = roce::encode(m, out);
    roce::Message again;
    const std::uint32_t whole =
        bytes + m.payload_bytes + roce::pad_of(m.payload_bytes) + roce::kIcrcBytes;
    FUZZ_REQUIRE(whole == size + absent);
    FUZZ_REQUIRE(roce::pad_of(m.payload_bytes) == (data[1] >> 4 & 3U));
    FUZZ_REQUIRE(!roce::decode(std::span(out).first(bytes), whole, again));
    FUZZ_REQUIRE(again == m);
  }
}

void decode_anything_with_telemetry(FuzzInput& in) {
  std::vector<std::uint8_t> data(in.data(), in.data() + std::min<std::size_t>(in.left(), 90));
  if (!data.empty()) data[0] = static_cast<std::uint8_t>(data[0] % 32U | roce::kTelemetryOpcode);
  roce::Message m;
  roce::TelemetrySection section;
  const auto size = static_cast<std::uint32_t>(data.size());
  for (const std::uint32_t absent : {0U, 4U, 1024U}) {
    if (roce::decode_with_telemetry(data, size + absent, m, section)) continue;
    std::array<std::uint8_t, roce::kMaxHeaderBytes + roce::kTelemetryBytes> out{};
    const std::uint32_t headers = roce::encode(m, std::span(out).first<roce::kMaxHeaderBytes>());
    const std::uint32_t bytes = roce::add_telemetry(out, headers, section);
    const std::uint32_t whole =
        bytes + m.payload_bytes + roce::pad_of(m.payload_bytes) + roce::kIcrcBytes;
    FUZZ_REQUIRE(whole == size + absent);
    roce::Message again;
    roce::TelemetrySection same;
    FUZZ_REQUIRE(!roce::decode_with_telemetry(std::span(out).first(bytes), whole, again, same));
    FUZZ_REQUIRE(again == m && same == section);
    const roce::Telemetry read = roce::read_telemetry(section);
    FUZZ_REQUIRE(read.records_kept <= roce::kTelemetryHops && read.records_kept <= read.hops);
  }
}

/// A switch takes any frame for one with telemetry. It may change 43 bytes and no others.
void append_to_anything(FuzzInput& in) {
  const std::size_t ip_offset = in.byte() % 32U;
  const bool likely = in.byte() % 2 != 0;
  std::vector<std::uint8_t> frame(in.data(), in.data() + std::min<std::size_t>(in.left(), 256));
  if (likely && frame.size() >= ip_offset + kIpBytes + 1) {  // as far as the opcode
    std::uint8_t* ip = frame.data() + ip_offset;
    ip[0] = 0x45;
    ip[6] = ip[7] = 0;
    ip[9] = kIpProtocolUdp;
    ip[22] = roce::kPort >> 8;
    ip[23] = roce::kPort & 0xFF;
    ip[24] = 1;
    ip[26] = ip[27] = 0;
    const std::uint32_t headers = roce::header_bytes(ip[28] % 32U);
    ip[28] = static_cast<std::uint8_t>(ip[28] % 32U | roce::kTelemetryOpcode);
    if (frame.size() > ip_offset + kIpBytes + headers)
      ip[kIpBytes + headers] = roce::empty_telemetry()[0];
  }
  const std::vector<std::uint8_t> before = frame;
  const auto outcome = roce::append_telemetry(
      frame, ip_offset, 0x55AA, {.at = Duration{0x123456}, .busy = Duration{7}, .queue = {}});
  if (outcome == hop_trace::Appended::kNotAProbe) FUZZ_REQUIRE(frame == before);
  const auto [first, unused] = std::ranges::mismatch(frame, before);
  const auto last = std::mismatch(frame.rbegin(), frame.rend(), before.rbegin()).first.base();
  FUZZ_REQUIRE(first >= last || last - first < static_cast<std::ptrdiff_t>(roce::kTelemetryBytes));
}

/// Mostly near what the queue pair expects, so that it gets far.
roce::Message wild(FuzzInput& in) {
  constexpr std::array kOpcodes{roce::Opcode::kWriteFirst,  roce::Opcode::kWriteMiddle,
                                roce::Opcode::kWriteLast,   roce::Opcode::kWriteLastImmediate,
                                roce::Opcode::kWriteOnly,   roce::Opcode::kWriteOnlyImmediate,
                                roce::Opcode::kAcknowledge, roce::Opcode::kCnp,
                                roce::Opcode::kSendFirst,   roce::Opcode::kSendMiddle,
                                roce::Opcode::kSendLast,    roce::Opcode::kSendLastImmediate,
                                roce::Opcode::kSendOnly,    roce::Opcode::kSendOnlyImmediate,
                                roce::Opcode::kAcknowledge, roce::Opcode::kAcknowledge};
  roce::Message m{.opcode = kOpcodes[in.byte() % kOpcodes.size()]};
  const std::uint8_t odd = in.byte();
  m.destination_qp = kOwn;
  m.psn = (kFirstPsn + in.byte() - ((odd & 3) == 0 ? 9U : 0U)) & roce::kPsnMask;
  m.asks = (odd & 4) != 0;
  if (roce::has_reth(m.opcode)) {
    m.key = (odd & 0xF8) == 0 ? kPeer : kOwn;
    m.length_bytes = in.take<std::uint16_t>();
  }
  if (roce::is_data(m.opcode)) m.payload_bytes = (odd & 16) != 0 ? std::uint16_t{1024} : in.byte();
  if (m.opcode == roce::Opcode::kAcknowledge) {
    m.syndrome = (odd & 128) != 0  ? roce::kNakSelectiveSyndrome
                 : (odd & 32) != 0 ? roce::kNakSequenceSyndrome
                 : (odd & 64) != 0
                     ? in.byte()  // of any kind: RNR NAKs, and those that end the connection
                     : roce::kAckSyndrome;
    m.message_number = (kFirstPsn + in.byte()) & roce::kPsnMask;
  }
  return m;
}

void hand_in(QueuePair& pair, const roce::Message& m, FuzzInput& in, Time now) {
  std::array<std::uint8_t, kIpBytes + roce::kMaxHeaderBytes + roce::kTelemetryBytes> bytes{};
  std::uint32_t head = roce::encode(m, std::span(bytes).subspan<kIpBytes, roce::kMaxHeaderBytes>());
  const std::uint8_t odd = in.byte();
  const bool told = (odd & 32) != 0 && m.opcode != roce::Opcode::kCnp;
  if (told) {
    roce::TelemetrySection section = roce::empty_telemetry();
    if (!roce::is_data(m.opcode))
      for (auto& byte : std::span(section).subspan(1)) byte = in.byte();
    head = roce::add_telemetry(std::span(bytes).subspan(kIpBytes), head, section);
  }
  const std::uint32_t payload =
      head + m.payload_bytes + roce::pad_of(m.payload_bytes) + roce::kIcrcBytes;
  ReceivedDatagram datagram;
  datagram.flow = pair.flow().reversed();
  datagram.ip = std::span(bytes).first(kIpBytes + head);
  datagram.present = std::span(bytes).subspan(kIpBytes, head);
  datagram.payload_bytes = payload;
  datagram.trailer = roce::icrc(datagram.ip, kIpBytes + payload - roce::kIcrcBytes);
  if (told && roce::is_data(m.opcode)) bytes[kIpBytes + head - 1U - in.byte() % 43U] ^= in.byte();
  if ((odd & 0x0F) == 0) ++datagram.trailer;
  datagram.ecn = (odd & 16) != 0 ? Ecn::kCe : Ecn::kEct0;
  (void)pair.on_datagram(datagram, now);
}

}  // namespace

void run(FuzzInput in) {
  const std::uint8_t what = in.byte();
  if (what % 4 == 0) {
    if (what % 16 == 8) return decode_anything_with_telemetry(in);
    if (what % 16 == 12) return append_to_anything(in);
    return decode_anything(in);
  }
  RoceConfig config;
  config.window_packets = 1 + in.byte();
  const std::uint8_t settings = in.byte();
  if ((settings & 1) != 0) config.operation = roce::Operation::kSend;
  if ((settings & 2) != 0) config.repair = RoceRepair::kSelective;
  if ((settings & 4) != 0) config.controller = RoceController::kHpcc;
  Ignored listener;
  QueuePair pair(config,
                 {.own_queue_pair = kOwn,
                  .peer_queue_pair = kPeer,
                  .first_psn = kFirstPsn,
                  .peer_first_psn = kFirstPsn,
                  .line = BitRate{10'000'000'000}},
                 listener);
  Time now = Time{} + std::chrono::seconds(1);
  while (!in.empty()) {
    now += std::chrono::microseconds(in.byte());
    const std::uint64_t acknowledged = pair.requester().requests().acknowledged_bytes();
    const std::uint64_t delivered = pair.responder().delivered_bytes();
    switch (in.byte() % 4) {
      case 0:
        pair.requester().append(1 + in.take<std::uint16_t>(), in.byte(), now);
        break;
      case 1:
        if (OutgoingDatagram out; pair.has_datagram(now)) pair.next_datagram(out, now);
        break;
      case 2:
        if (const Time timer = pair.next_timer(); timer != kNever) {
          now = std::max(now, timer);
          pair.on_timer(now);
        }
        break;
      default:
        hand_in(pair, wild(in), in, now);
    }
    FUZZ_REQUIRE(pair.counters().balanced());
    FUZZ_REQUIRE(pair.requester().requests().acknowledged_bytes() >= acknowledged);
    FUZZ_REQUIRE(pair.requester().requests().acknowledged_bytes() <=
                 pair.requester().requests().appended_bytes());
    FUZZ_REQUIRE(pair.responder().delivered_bytes() >= delivered);
    FUZZ_REQUIRE(pair.counters().kept + pair.counters().in_order <= pair.counters().arrived);
    FUZZ_REQUIRE(pair.counters().contradicted <= pair.counters().kept);
    const double rate = pair.requester().control().rate_bps(now);
    FUZZ_REQUIRE(rate > 0 && rate <= 1.001e10);
  }
}

}  // namespace outrider::fuzz
