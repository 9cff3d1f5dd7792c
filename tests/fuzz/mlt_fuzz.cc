// Datagrams as anybody could send them to either end of a bounded-loss flow: decode() must
// refuse or understand whatever they are, what is understood must survive being written
// again, and neither end may lose count, however wild the order.
#include <array>
#include <chrono>
#include <vector>

#include "common/net/mlt_message.h"
#include "tests/fuzz/fuzz_main.h"
#include "trafficgen/mlt/mlt_receiver.h"
#include "trafficgen/mlt/mlt_sender.h"

namespace outrider::fuzz {
using namespace tg;
namespace {

constexpr BurstIdentity kBurst{1, 2, 3, BurstDirection::kPush};
constexpr std::uint32_t kPacketBytes = 100;

std::vector<MltTensor> tensors() {
  return {{.bytes = 30'000, .tolerance = 0.1},
          {.bytes = 8, .tolerance = 0.1},
          {.bytes = 1204, .tolerance = 0.1}};
}

void decode_anything(FuzzInput& in) {
  std::vector<std::uint8_t> data(in.data(), in.data() + std::min<std::size_t>(in.left(), 60));
  mlt::Message m;
  const auto size = static_cast<std::uint32_t>(data.size());
  for (const std::uint32_t absent : {0U, 4U, 1432U}) {
    if (mlt::decode(data, size + absent, m)) continue;
    std::array<std::uint8_t, mlt::kMaxMessageBytes> out{};
    const std::uint32_t bytes = mlt::encode(m, out);
    mlt::Message again;
    FUZZ_REQUIRE(!mlt::decode(std::span(out).first(bytes), bytes + m.length_bytes, again));
    FUZZ_REQUIRE(again == m);
  }
}

/// Mostly of the burst, so that it gets far.
mlt::Message wild(FuzzInput& in) {
  mlt::Message m;
  m.kind = static_cast<mlt::Kind>(1 + in.byte() % 5);
  m.identity = kBurst;
  const std::uint8_t odd = in.byte();
  if ((odd & 0x0F) == 0) m.identity.iteration += static_cast<std::uint32_t>(in.byte() % 5) - 2;
  m.tensor = odd >> 6;
  m.asks = (odd & 16) != 0;
  m.stopped = (odd & 32) != 0;
  m.offset_values = in.byte() % 31U * (kPacketBytes / 4) * (1 + in.byte() % 10U);
  m.length_bytes = (odd & 1) != 0 ? kPacketBytes : static_cast<std::uint16_t>(4 + in.byte() * 4U);
  m.transmitted_bytes = in.take<std::uint16_t>();
  m.seen_bytes = in.take<std::uint16_t>();
  m.received_bytes = in.take<std::uint16_t>();
  m.marked_bytes = in.byte();
  m.probe = 1 + in.byte() % 8U;
  m.first_packet = in.byte() * 8U;
  for (auto& b : m.bits) b = in.byte();
  return m;
}

void check(const MltReceiver& r) {
  std::uint64_t delivered = 0;
  const auto all = tensors();
  for (std::uint32_t t = 0; t < all.size(); ++t) {
    std::uint64_t missing = 0;
    r.for_each_missing(t, [&missing](std::uint64_t, std::uint64_t bytes) { missing += bytes; });
    FUZZ_REQUIRE(missing + r.delivered_bytes(t) == all[t].bytes);
    delivered += r.delivered_bytes(t);
  }
  FUZZ_REQUIRE(delivered == r.delivered_bytes());
}

}  // namespace

void run(FuzzInput in) {
  if (in.byte() % 4 == 0) return decode_anything(in);
  MltConfig config;
  ControllerConfig control;
  control.controller = Controller::kDctcp;
  MltSender sender(config, control, {.tensors = tensors(), .packet_bytes = kPacketBytes});
  MltReceiver receiver({.tensors = tensors(), .packet_bytes = kPacketBytes});
  Time now = Time{} + std::chrono::seconds(1);
  receiver.begin(kBurst);
  sender.begin(kBurst, now);
  for (std::uint32_t t = 0; t < 3; ++t) sender.hand_over(t, now);
  while (!in.empty()) {
    now += std::chrono::microseconds(in.byte());
    const std::uint8_t what = in.byte() % 4;
    if (what == 0 && sender.has_message()) (void)sender.next_message(now);
    if (what == 1 && receiver.has_answer()) (void)receiver.next_answer();
    if (what == 2 && sender.next_timer() != kNever) {
      now = std::max(now, sender.next_timer());
      sender.on_timer(now);
    }
    if (what != 3) continue;
    const mlt::Message m = wild(in);
    const bool to_receiver = m.kind == mlt::Kind::kData || m.kind == mlt::Kind::kProbe;
    if (to_receiver) (void)receiver.on_message(m, in.byte() % 2 == 0);
    else (void)sender.on_message(m, now);
    check(receiver);
  }
}

}  // namespace outrider::fuzz
