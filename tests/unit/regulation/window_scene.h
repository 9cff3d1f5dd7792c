#pragma once

#include <gtest/gtest.h>

#include <map>

#include "switch/regulation/windows/window_clamp.h"

namespace outrider {

using namespace std::chrono_literals;

inline constexpr std::uint32_t kSegment = 1460;
inline constexpr std::uint32_t kFrame = 1514;
inline constexpr std::uint8_t kScale = 7;
inline constexpr std::uint16_t kTrueWindow = 32768;  // 4 MB
inline constexpr double kPipe = 200e6 / 8 * 3e-3 * kSegment / (kFrame + 24);
inline constexpr FlowKey kWorker{0x0A000101, 0x0A000301, 40'000, 5000};

inline FlowKey flow(std::uint32_t f) {
  return {0x0A000201U + f, 0x0A000401, static_cast<std::uint16_t>(30'000 + f), 20'000};
}

/// A clamp and flows whose sequence numbers begin just before they wrap.
class Scene {
 public:
  explicit Scene(const WindowPolicy& policy,
                 WindowClamp::Bottleneck bottleneck = WindowClamp::Bottleneck::kLocal)
      : clamp(policy, BitRate{200'000'000}, 24, 8, bottleneck) {}

  TcpView segment(std::uint32_t f, bool data_direction) const {
    return {.flow = data_direction ? flow(f) : flow(f).reversed(), .frame_bytes = 66, .ack = true};
  }
  void open(std::uint32_t f, std::int8_t data_scale = 2, std::int8_t answer_scale = kScale,
            Duration down = 2ms) {
    TcpView syn = segment(f, true);
    syn.ack = false;
    syn.syn = true;
    syn.sequence = kFirst - 1;
    syn.window_scale = data_scale;
    clamp.on_data(syn, queue, now);
    now += down;
    TcpView syn_ack = segment(f, false);
    syn_ack.syn = true;
    syn_ack.acknowledgment = kFirst;
    syn_ack.window = 65535;
    syn_ack.window_scale = answer_scale;
    EXPECT_EQ(clamp.on_answer(syn_ack, queue, now), std::nullopt) << "a SYN's window stays";
    now += 1ms;
    TcpView ack = segment(f, true);
    ack.sequence = kFirst;
    clamp.on_data(ack, queue, now);
    sent[f] = acked[f] = 0;
  }
  WindowTreatment send(std::uint32_t f, std::uint32_t segments = 1) {
    WindowTreatment last{};
    for (std::uint32_t i = 0; i < segments; ++i) {
      TcpView data = segment(f, true);
      data.sequence = kFirst + sent[f];
      data.payload_bytes = kSegment;
      data.frame_bytes = kFrame;
      last = clamp.on_data(data, queue, now);
      sent[f] += kSegment;
    }
    return last;
  }
  /// Plays an answer. @return its window when it leaves [bytes]
  std::uint32_t answer(std::uint32_t f, std::uint32_t segments, std::uint16_t window = kTrueWindow,
                       bool sack = false) {
    acked[f] += segments * kSegment;
    TcpView ack = segment(f, false);
    ack.acknowledgment = kFirst + acked[f];
    ack.window = window;
    ack.sack_blocks = sack;
    const auto field = clamp.on_answer(ack, queue, now);
    last_field = field.value_or(window);
    return std::uint32_t{last_field} << kScale;
  }
  /// Plays a flow that has `segments` in flight for some round trips and much more data to send.
  /// The window of a SYN-ACK is not scaled, so the first flight is small.
  void cruise(std::uint32_t f, std::uint32_t segments, int rounds = 12) {
    if (constexpr std::uint32_t kFirstFlight = 40; segments > kFirstFlight) {
      send(f, kFirstFlight);
      now += 2ms;
      answer(f, kFirstFlight);
      now += 1ms;
    }
    send(f, segments);
    now += 2ms;
    for (int i = 0; i < rounds; ++i) {
      answer(f, segments);
      now += 1ms;
      send(f, segments);
      now += 2ms;
    }
  }
  void start(std::uint64_t bytes = 0, std::uint32_t sequence = 1000) {
    queue.threshold = 10;
    clamp.on_start(kWorker, sequence, bytes, now);
  }
  std::uint64_t reason(WindowReason r) const {
    return clamp.counters().answers[static_cast<std::size_t>(r)];
  }

  static constexpr std::uint32_t kFirst = 0xFFFF'0000;
  Time now{1s};
  WindowClamp clamp;
  WindowClamp::Queue queue{};
  std::map<std::uint32_t, std::uint32_t> sent, acked;
  std::uint16_t last_field = 0;
};

inline constexpr WindowPolicy kComplement{.floor = 0.05, .gain = 2};
inline constexpr WindowPolicy kStrict{.rule = WindowRule::kStrict, .floor = 0.05};

inline double segments(double bytes) { return bytes / kSegment; }

}  // namespace outrider
