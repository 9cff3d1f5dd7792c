// CPU time that a whole frame of RoCEv2 takes on a device, ICRC included: written by a host,
// read with zeros as payload, and read with the payload of a foreign sender.
// tools/check-instructions counts the first.
#include <benchmark/benchmark.h>

#include <array>
#include <random>

#include "common/net/roce.h"
#include "tests/support/pool.h"
#include "tests/support/test_eal.h"
#include "trafficgen/frames/datagram_frame.h"
#include "trafficgen/frames/stale_trailer.h"

namespace outrider {
namespace {

constexpr std::size_t kFrames = 32;
constexpr int kRounds = 100;
constexpr FlowKey kFlow{0x0A000101, 0x0A000201, 40'000, roce::kPort};

TestPool* pool = nullptr;  // owned by main(): it must not outlive the EAL

using Frames = std::array<Packet*, kFrames>;

tg::OutgoingDatagram middle_of_a_write(std::uint32_t psn) {
  const roce::Message m{.opcode = roce::Opcode::kWriteMiddle,
                        .destination_qp = 0x8001,
                        .psn = psn,
                        .payload_bytes = 1024};
  tg::OutgoingDatagram out;
  out.head_bytes = roce::encode(m, std::span(out.head).first<roce::kMaxHeaderBytes>());
  out.value_bytes = m.payload_bytes;
  out.icrc = true;
  return out;
}

/// Not inlined: callgrind finds a function by its name.
[[gnu::noinline]] void counted_write(Packet& packet, const tg::OutgoingDatagram& datagram) {
  tg::clear_trailer(packet);
  tg::write_datagram_frame(packet, kFlow, datagram, true);
}

bool has_right_icrc(Packet& packet) {
  tg::ReceivedDatagram d;
  if (tg::read_datagram_frame(packet, d)) return false;
  return roce::icrc(d.ip, static_cast<std::uint32_t>(d.ip.size()) - roce::kIcrcBytes) == d.trailer;
}

Frames allocated() {
  Frames frames{};
  for (Packet*& packet : frames) packet = rte_pktmbuf_alloc(&pool->get());
  return frames;
}

void released(benchmark::State& state, const Frames& frames) {
  for (Packet* packet : frames) release(packet);
  state.counters["packets"] = static_cast<double>(kFrames * kRounds);
}

void sent(benchmark::State& state) {
  const Frames frames = allocated();
  const auto datagram = middle_of_a_write(7);
  for (auto _ : state)
    for (Packet* packet : frames) counted_write(*packet, datagram);
  released(state, frames);
}
BENCHMARK(sent)->Iterations(kRounds);

/// Puts bytes that are no zeros where the payload is, and the ICRC that they have.
void fill(Packet& packet) {
  std::mt19937 random(1);
  const auto bytes = buffer(packet);
  constexpr std::size_t kPayloadAt = 42 + roce::kBthBytes, kIpAt = 14;
  const auto ip = bytes.subspan(kIpAt);
  for (std::size_t i = kPayloadAt; i < bytes.size() - roce::kIcrcBytes; ++i)
    bytes[i] = static_cast<std::uint8_t>(random() | 1);
  const auto covered = static_cast<std::uint32_t>(ip.size()) - roce::kIcrcBytes;
  const std::uint32_t icrc = roce::icrc(ip, covered);
  std::memcpy(ip.data() + covered, &icrc, sizeof icrc);
}

void received(benchmark::State& state, bool foreign) {
  const Frames frames = allocated();
  for (Packet* packet : frames) {
    tg::write_datagram_frame(*packet, kFlow, middle_of_a_write(7), true);
    if (foreign) fill(*packet);
  }
  bool right = true;
  for (auto _ : state)
    for (Packet* packet : frames) right = has_right_icrc(*packet) && right;
  if (!right) state.SkipWithError("a wrong ICRC");
  for (Packet* packet : frames) std::memset(buffer(*packet).data(), 0, 2048);
  released(state, frames);
}
BENCHMARK_CAPTURE(received, zeros, false)->Iterations(kRounds);
BENCHMARK_CAPTURE(received, foreign, true)->Iterations(kRounds);

}  // namespace
}  // namespace outrider

int main(int argc, char** argv) {
  using namespace outrider;
  benchmark::Initialize(&argc, argv);
  const TestEal eal;
  TestPool own(1023, 2048);
  pool = &own;
  benchmark::RunSpecifiedBenchmarks();
}
