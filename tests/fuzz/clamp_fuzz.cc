// Segments as anybody could send them through a queue whose windows are clamped: honest ones of
// four connections, and any others. Whatever comes, an answer leaves with no more than the
// receiver offers, the edge that was told never moves left, and a window that the clamp wrote
// holds the least number of segments.
#include <algorithm>
#include <array>
#include <chrono>
#include <numeric>

#include "common/core/sequence.h"
#include "switch/regulation/windows/window_clamp.h"
#include "tests/fuzz/fuzz_input.h"

namespace outrider::fuzz {
namespace {

constexpr std::uint32_t kConnections = 4;
constexpr std::uint32_t kSegment = 1460;

WindowPolicy policy_from(FuzzInput& in) {
  WindowPolicy p;
  const std::uint8_t bits = in.byte();
  p.rule = (bits & 1) != 0 ? WindowRule::kStrict : WindowRule::kComplement;
  p.spare_marks = (bits & 2) != 0;
  p.floor = in.byte() / 256.0;
  p.least_segments = (bits & 12) != 0 ? (bits >> 2) % 4U : 1 + in.byte() % 64U;
  p.gain = (1 + in.byte()) / 16.0;
  p.standing_clamp = 1 + in.byte() / 32.0;
  if ((bits & 16) != 0) p.base_rtt = std::chrono::microseconds(1 + in.take<std::uint16_t>());
  p.max_flows = 1 + (bits >> 5) % 6U;
  return p;
}

/// A connection as its two ends know it.
struct Connection {
  std::uint32_t first = 0;  ///< sequence number of its first byte
  std::uint32_t sent = 0, acknowledged = 0;
};

class ClampRun {
 public:
  explicit ClampRun(FuzzInput& in)
      : in_(in), policy_(policy_from(in)), clamp_(policy_, BitRate{200'000'000}, 24, 4) {
    for (auto& c : connections_) c.first = in.take<std::uint32_t>();
  }

  void run() {
    while (!in_.empty()) {
      now_ += Duration{std::int64_t{in_.byte()} * in_.byte() * 1000};
      step(in_.byte());
      check();
    }
  }

 private:
  static FlowKey key(std::uint32_t c) {
    return {0x0A000201U + c, 0x0A000401, static_cast<std::uint16_t>(30'000 + c), 20'000};
  }
  static FlowKey worker(std::uint8_t which) {
    return {0x0A000101U + which % 3U, 0x0A000301, 40'000, 5000};
  }

  void step(std::uint8_t what) {
    const std::uint8_t which = in_.byte();
    switch (what % 16) {
      case 0:
        queue_.threshold = 1 + which % 80;
        return clamp_.on_start(worker(which), in_.take<std::uint32_t>(), in_.take<std::uint32_t>(),
                               now_);
      case 1:
        return queue_.threshold.reset();
      case 2:
        queue_.threshold = 1 + which % 80;
        return clamp_.on_prediction(worker(which).destination_address, in_.take<std::uint32_t>(),
                                    now_);
      case 3:
        return clamp_.on_burst_payload(worker(which), in_.take<std::uint32_t>(),
                                       1 + in_.take<std::uint16_t>() % 9000U, queue_, now_);
      case 4:
        return clamp_.on_burst_ack(worker(which), in_.take<std::uint32_t>());
      case 5:
        queue_.waiting_bytes = in_.take<std::uint32_t>() % (1U << (which % 32));
        return clamp_.on_announced(now_);
      case 6:
        now_ += std::chrono::milliseconds(std::int64_t{1} << which % 30);
        return;
      case 7:
        return open(which % kConnections);
      case 8:
      case 9:
        return wild(which, what % 2 == 0);
      case 10:
      case 11:
      case 12:
        return send(which % kConnections, 1 + which / kConnections % 16U);
      default:
        return acknowledge(which % kConnections);
    }
  }

  void open(std::uint32_t c) {
    Connection& x = connections_[c];
    x.sent = x.acknowledged = 0;
    TcpView syn{.flow = key(c),
                .sequence = x.first - 1,
                .frame_bytes = 66,
                .syn = true,
                .window_scale = static_cast<std::int8_t>(in_.byte() % 16 - 1)};
    hear_data(syn);
    now_ += std::chrono::microseconds(1 + in_.byte());
    hear_answer({.flow = key(c).reversed(),
                 .acknowledgment = x.first,
                 .window = 65'535,
                 .frame_bytes = 66,
                 .syn = true,
                 .ack = true,
                 .window_scale = static_cast<std::int8_t>(in_.byte() % 16 - 1)});
    now_ += std::chrono::microseconds(1 + in_.byte());
    hear_data({.flow = key(c), .sequence = x.first, .frame_bytes = 66, .ack = true});
  }

  void send(std::uint32_t c, std::uint32_t segments) {
    Connection& x = connections_[c];
    for (; segments > 0; --segments, x.sent += kSegment)
      hear_data({.flow = key(c),
                 .sequence = x.first + x.sent,
                 .payload_bytes = kSegment,
                 .frame_bytes = kSegment + 54,
                 .ack = true});
  }

  void acknowledge(std::uint32_t c) {
    Connection& x = connections_[c];
    const std::uint8_t how = in_.byte();
    const std::uint32_t waiting = (x.sent - x.acknowledged) / kSegment;
    x.acknowledged += std::min<std::uint32_t>(waiting, how % 8) * kSegment;
    const auto window = static_cast<std::uint16_t>((how & 8) != 0 ? in_.take<std::uint16_t>()
                                                                  : 32'768 - (how >> 6));
    hear_answer({.flow = key(c).reversed(),
                 .acknowledgment = x.first + x.acknowledged,
                 .window = window,
                 .frame_bytes = 66,
                 .ack = true,
                 .sack_blocks = (how & 16) != 0});
  }

  /// Any header; its numbers count from the connection's, so that some of them are accepted.
  void wild(std::uint8_t which, bool data_direction) {
    const std::uint32_t c = which % kConnections;
    const Connection& x = connections_[c];
    const std::uint8_t flags = in_.byte();
    const auto near = [this](std::uint32_t base) {
      const auto by = in_.take<std::int16_t>();
      const int shift = in_.byte() % 17;
      return base + (static_cast<std::uint32_t>(by) << shift);
    };
    TcpView s{.flow = data_direction ? key(c) : key(c).reversed(),
              .sequence = near(x.first + x.sent),
              .acknowledgment = near(x.first + x.acknowledged),
              .window = in_.take<std::uint16_t>(),
              .payload_bytes = static_cast<std::uint16_t>(in_.take<std::uint16_t>() % 9000),
              .syn = (flags & 1) != 0,
              .ack = (flags & 2) != 0,
              .fin = (flags & 4) != 0,
              .rst = (flags & 8) != 0,
              .sack_blocks = (flags & 16) != 0,
              .authenticated = (flags & 0xE0) == 0xE0,
              .timestamps = (flags & 0x60) == 0x40,
              .ts_value = in_.byte(),
              .ts_echo = in_.byte(),
              .window_scale = static_cast<std::int8_t>(in_.byte() % 16 - 1)};
    s.frame_bytes = 54U + s.payload_bytes;
    if (data_direction) hear_data(s);
    else hear_answer(s);
  }

  void hear_data(const TcpView& s) {
    const WindowTreatment treatment = clamp_.on_data(s, queue_, now_);
    if (treatment == WindowTreatment::kFallback) return;
    const WindowFlow* f = clamp_.flow(s.flow);
    FUZZ_REQUIRE(f != nullptr && f->known());
  }

  void hear_answer(const TcpView& s) {
    const WindowFlow* f = clamp_.flow(s.flow.reversed());
    const bool had_edge = f != nullptr && f->has_edge;
    const std::uint32_t edge = had_edge ? f->edge : 0;
    const bool old = f != nullptr && sequence_distance(s.acknowledgment, f->acknowledged) < 0;
    const auto told = clamp_.on_answer(s, queue_, now_);
    ++answers_;
    if (!told) return;
    f = clamp_.flow(s.flow.reversed());
    FUZZ_REQUIRE(f != nullptr && f->known() && (!f->closing || old) && s.ack && !s.syn && !s.rst);
    FUZZ_REQUIRE(*told < s.window);
    const std::uint32_t bytes = std::uint32_t{*told} << f->scale();
    if (had_edge) FUZZ_REQUIRE(sequence_distance(s.acknowledgment + bytes, edge) >= 0);
    const std::uint32_t unit = 1U << f->scale();
    if (old) FUZZ_REQUIRE(s.acknowledgment + bytes - edge < unit);
    // A repeated answer gets the field of the first, which was written for smaller segments, and so
    // was the edge of an old one.
    if (!f->duplicate && !old) FUZZ_REQUIRE(bytes >= policy_.least_segments * f->segment_bytes);
  }

  void check() const {
    const WindowCounters& c = clamp_.counters();
    const auto sum = [&c](std::size_t from) {
      return std::accumulate(c.answers.begin() + static_cast<std::ptrdiff_t>(from), c.answers.end(),
                             std::uint64_t{0});
    };
    FUZZ_REQUIRE(sum(0) == answers_);
    FUZZ_REQUIRE(c.rewritten <= sum(static_cast<std::size_t>(WindowReason::kRecovery)));
    FUZZ_REQUIRE(clamp_.flows() <= policy_.max_flows);
    FUZZ_REQUIRE(c.flows_added == c.flows_evicted + clamp_.flows());
  }

  FuzzInput& in_;
  WindowPolicy policy_;
  WindowClamp clamp_;
  WindowClamp::Queue queue_{};
  std::array<Connection, kConnections> connections_{};
  std::uint64_t answers_ = 0;
  Time now_ = Time{} + std::chrono::seconds(1);
};

}  // namespace
}  // namespace outrider::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  outrider::fuzz::FuzzInput in(data, size);
  outrider::fuzz::ClampRun(in).run();
  return 0;
}
