// A live connection against a peer that may say anything, at any time: forged
// segments beside a plausible peer's, in every state. Nothing may assert, and after
// each step what the connection says of itself must be consistent.
#include <algorithm>
#include <chrono>
#include <memory>
#include <vector>

#include "tests/fuzz/fuzz_main.h"
#include "trafficgen/transport/base/tcp_stack.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::fuzz {
using namespace tg;
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

class Application final : public ConnectionListener {
 public:
  int established = 0, closed = 0;
  std::uint64_t delivered = 0;
  void on_established(TcpConnection&, Time) noexcept override { ++established; }
  void on_delivered(TcpConnection& c, Time) noexcept override {
    FUZZ_REQUIRE(c.receiver().delivered_bytes() > delivered);
    delivered = c.receiver().delivered_bytes();
  }
  void on_closed(TcpConnection&, Time) noexcept override { ++closed; }
};

TcpConfig config_from(FuzzInput& in) {
  TcpConfig c;
  const std::uint8_t a = in.byte(), b = in.byte(), d = in.byte();
  c.control.controller = static_cast<Controller>(a % kControllerRows.size());
  if (c.control.controller == Controller::kUnresponsive) c.control.rate = BitRate{1'000'000'000};
  c.mss_bytes = 524 + (a >> 2) * 100;
  if ((b & 1) != 0 && c.control.controller != Controller::kUnresponsive)
    c.control.hystart = (b & 2) != 0 && c.control.controller == Controller::kCubic
                            ? HyStartKind::kLinux
                            : HyStartKind::kRfc9406;
  c.control.dctcp_min_window_segments = 1 + (b >> 1) % 4;
  c.control.initial_window_segments = 1 + (b >> 3);
  c.ecn = (d & 1) != 0 || row_of(c.control.controller).accurate_ecn_echo;
  c.obey_ece = (d & 2) != 0;
  c.reuse = static_cast<ConnectionReuse>((d >> 2) % 3);
  c.ack_every_segments = 1 + (d >> 4) % 4;
  if ((b & 128) != 0) use_stack(c, TcpStack::kLinux);
  c.receive_buffer_bytes = std::max(c.mss_bytes, 1U << (12 + (d >> 6) * 4));
  c.min_rto = milliseconds(2);
  c.initial_rto = milliseconds(10);
  c.max_rto = milliseconds(100);
  c.delayed_ack = milliseconds(1);
  const std::uint8_t e = in.byte();
  c.sack = (e & 1) == 0;
  if (!c.sack) c.loss_detection = LossDetection::kRfc6675;
  else if ((e & 2) != 0) c.loss_detection = LossDetection::kRackTlp;
  c.timestamps = (e & 4) != 0;
  c.pacing = (e & 8) != 0;
  constexpr std::uint64_t kReadRates[] = {0, 100'000, 50'000'000, 10'000'000'000};
  if ((e >> 4) % 4 != 0) c.read_rate = BitRate{kReadRates[(e >> 4) % 4]};
  if ((e & 128) != 0) c.reduction = WindowReduction::kPrr;
  c.time_wait = (e & 64) != 0 ? seconds(1) : seconds(0);
  return c;
}

struct Sent {
  std::uint32_t begin, end;
};

/// The connection under test, and what its peer has seen of it.
class Script {
 public:
  Script(FuzzInput& in, const TcpConfig& config, std::uint8_t choices)
      : in_(in),
        config_(config),
        client_((choices & 1) != 0),
        initial_(in.take<std::uint32_t>()),
        peer_next_(in.take<std::uint32_t>()),
        connection_(config_,
                    {.flow = {1, 2, 3, 4},
                     .role = client_ ? TcpConnection::Role::kClient : TcpConnection::Role::kServer,
                     .initial_sequence = initial_,
                     .option_bytes = (choices & 2) != 0 ? std::uint8_t{12} : std::uint8_t{0}},
                    memory_, app_) {
    if (client_) connection_.open(now_);
  }

  void run() {
    for (int steps = 0; steps < 400 && !in_.empty(); ++steps) {
      step(in_.byte());
      check();
    }
    settle();
  }

 private:
  void step(std::uint8_t op) {
    switch (op % 14) {
      case 0:
        return receive(forged());
      case 1:
        return receive(plausible(in_.byte()));
      case 2:
        return receive(handshake());
      case 3:
        return transmit(1);
      case 4:
        return transmit(1 + in_.byte());
      case 5:
        now_ += microseconds(in_.take<std::uint16_t>());
        return fire();
      case 6:
        if (connection_.next_timer() != kNever) now_ = std::max(now_, connection_.next_timer());
        return fire();
      case 7:
        return write(in_.take<std::uint16_t>());
      case 8:
        return write(in_.take<std::uint32_t>() & 0xFF'FFFF);
      case 9:
        closing_ = true;
        return connection_.stream().finish();
      case 10:
        return receive(data(in_.byte()));
      case 12:
        window_ = static_cast<std::uint16_t>(in_.byte() % 4 == 0 ? 0xFFFF : in_.byte() * 8);
        return;
      case 13:
        return receive(reset(in_.byte()));
      default:
        return receive(selective_ack(in_.byte()));
    }
  }

  void write(std::uint64_t bytes) {
    if (!closing_ && written_ < (1ULL << 30)) {
      written_ += bytes;
      connection_.stream().write(bytes);
    }
  }

  void fire() {
    if (now_ < connection_.next_timer()) return;
    connection_.on_timer(now_);
    FUZZ_REQUIRE(connection_.next_timer() > now_);
  }

  void receive(const TcpSegment& s) {
    const std::uint64_t acked = connection_.stream().acked_bytes();
    const std::uint64_t delivered = connection_.receiver().delivered_bytes();
    connection_.on_segment(s, now_);
    FUZZ_REQUIRE(connection_.stream().acked_bytes() >= acked);
    FUZZ_REQUIRE(connection_.receiver().delivered_bytes() >= delivered);
    FUZZ_REQUIRE(connection_.receiver().delivered_bytes() - delivered <= (1U << 30));
  }

  void transmit(int segments) {
    for (int i = 0; i < segments && connection_.has_segment(now_); ++i) {
      const TcpSegment s = next_segment(connection_, now_);
      FUZZ_REQUIRE(s.payload_bytes <= config_.mss_bytes);
      FUZZ_REQUIRE(s.sack_blocks <= s.sack.size());
      for (std::size_t k = 0; k < s.sack_blocks; ++k)
        FUZZ_REQUIRE(s.sack[k].begin != s.sack[k].end);
      const std::uint32_t length =
          s.payload_bytes + (s.has(kTcpFin) ? 1U : 0U) + (s.has(kTcpSyn) ? 1U : 0U);
      if (length != 0) {
        sent_.push_back({s.sequence, s.sequence + length});
        if (sent_.size() > 4096) sent_.erase(sent_.begin(), sent_.begin() + 2048);
      }
    }
  }

  /// Fields of the fuzzer's choice around what the connection expects.
  TcpSegment forged() {
    TcpSegment s;
    const std::uint8_t form = in_.byte();
    s.flags = in_.byte();
    s.sequence = (form & 1) != 0
                     ? in_.take<std::uint32_t>()
                     : peer_next_ + static_cast<std::uint32_t>(in_.take<std::int16_t>());
    s.acknowledgment = (form & 2) != 0 ? in_.take<std::uint32_t>()
                                       : connection_.stream().next_sequence() +
                                             static_cast<std::uint32_t>(in_.take<std::int16_t>());
    s.window = in_.take<std::uint16_t>();
    s.payload_bytes = in_.take<std::uint16_t>();
    s.ecn = static_cast<Ecn>(form >> 2 & 3);
    if ((form & 16) != 0) s.mss = in_.take<std::uint16_t>();
    if ((form & 32) != 0) s.window_scale = static_cast<std::int8_t>(in_.byte() % 15);
    s.sack_permitted = (form & 64) != 0;
    if ((form & 128) != 0) add_sack(s);
    if (config_.timestamps) {
      const std::uint8_t how = in_.byte();
      s.has_timestamps = (how & 1) != 0;
      s.ts_value = (how & 2) != 0 ? in_.take<std::uint32_t>() : tick() + (how >> 2);
      s.ts_echo = (how & 128) != 0 ? in_.take<std::uint32_t>() : tick();
    }
    return s;
  }

  void add_sack(TcpSegment& s) {
    s.sack_blocks = static_cast<std::uint8_t>(1 + in_.byte() % 4);
    for (std::size_t i = 0; i < s.sack_blocks; ++i) {
      const std::uint32_t end = connection_.stream().next_sequence() +
                                static_cast<std::uint32_t>(in_.take<std::int16_t>());
      s.sack[i] = {end - in_.take<std::uint16_t>(), end};
    }
  }

  [[nodiscard]] std::uint32_t tick() const { return TimestampClock::at(now_); }
  /// The option as a sound peer writes it; the echo is late by up to 3 ms.
  void stamp(TcpSegment& s, std::uint8_t late) const {
    s.has_timestamps = config_.timestamps;
    s.ts_value = tick();
    s.ts_echo = tick() - late % 4;
  }

  /// An acknowledgment of something that was sent.
  TcpSegment plausible(std::uint8_t which) {
    TcpSegment s;
    s.flags = kTcpAck;
    if ((which & 1) != 0) s.flags |= kTcpEce;
    s.sequence = peer_next_;
    s.acknowledgment = sent_.empty() ? connection_.stream().next_sequence()
                                     : sent_[which / 2 * sent_.size() / 128].end;
    s.window = window_;
    stamp(s, which);
    return s;
  }

  TcpSegment selective_ack(std::uint8_t which) {
    TcpSegment s = plausible(0);
    s.acknowledgment =
        initial_ + 1 + static_cast<std::uint32_t>(connection_.stream().acked_bytes());
    if (sent_.empty()) return s;
    const std::size_t first = which * sent_.size() / 256;
    const std::size_t last = std::min(sent_.size() - 1, first + in_.byte() % 8);
    s.sack_blocks = 1;
    s.sack[0] = {sent_[first].begin, sent_[last].end};
    return s;
  }

  TcpSegment handshake() {
    TcpSegment s;
    const std::uint8_t form = in_.byte();
    if (client_ || connection_.state() == ConnectionState::kEstablished) {
      s.flags = kTcpSyn | kTcpAck;
      s.acknowledgment = initial_ + 1;
      if ((form & 1) != 0) s.flags |= kTcpEce;
    } else if (!shown_syn_) {
      s.flags = kTcpSyn;
      if ((form & 1) != 0) s.flags |= kTcpEce | kTcpCwr;
    } else {
      s.flags = kTcpAck;
      s.acknowledgment = initial_ + 1;
    }
    s.sequence = peer_next_;
    if (s.has(kTcpSyn)) {
      if (shown_syn_) --s.sequence;
      else ++peer_next_;
      shown_syn_ = true;
      s.sack_permitted = (form & 2) == 0;
      if ((form & 4) == 0) s.window_scale = static_cast<std::int8_t>(form >> 4);
      if ((form & 8) != 0) s.mss = in_.take<std::uint16_t>();
      s.window_scale = std::min<std::int8_t>(s.window_scale, 14);
    }
    stamp(s, 0);
    s.window = 0xFFFF;
    return s;
  }

  /// The peer's next bytes, or ones after a hole, which may be filled later.
  TcpSegment data(std::uint8_t form) {
    TcpSegment s = plausible(255);
    s.payload_bytes = static_cast<std::uint16_t>(in_.take<std::uint16_t>() % 1449);
    if ((form & 3) == 0) s.flags |= kTcpFin;
    if ((form & 4) != 0) s.flags |= kTcpCwr;
    s.ecn = (form & 8) != 0 ? Ecn::kCe : Ecn::kEct0;
    s.sequence = peer_next_ + (form >> 4) * 1448U;
    if ((form >> 4) == 0) peer_next_ += s.payload_bytes;
    return s;
  }

  /// Exact, nearby or far; or the SYN that a peer without memory would send.
  TcpSegment reset(std::uint8_t form) {
    TcpSegment s = plausible(form);
    s.flags = (form & 1) != 0 ? kTcpSyn : kTcpRst | kTcpAck;
    if ((form & 2) != 0) s.sequence += in_.take<std::uint16_t>();
    if ((form & 4) != 0) s.sequence = in_.take<std::uint32_t>();
    return s;
  }

  void check() {
    const TcpCounters& n = connection_.counters();
    FUZZ_REQUIRE(app_.established <= 1 && app_.closed <= 1);
    FUZZ_REQUIRE((app_.closed == 1) == is_over(connection_.state()));
    FUZZ_REQUIRE(connection_.state() != ConnectionState::kEstablished || app_.established == 1);
    FUZZ_REQUIRE(connection_.stream().acked_bytes() <= connection_.stream().written_bytes());
    FUZZ_REQUIRE(connection_.stream().written_bytes() == written_);
    FUZZ_REQUIRE(n.retransmitted <= n.segments_sent);
    FUZZ_REQUIRE(n.duplicates_received + n.out_of_order_received <= n.segments_received);
    FUZZ_REQUIRE(!connection_.time_wait() || (connection_.state() == ConnectionState::kClosed &&
                                              config_.time_wait != seconds(0)));
    FUZZ_REQUIRE(connection_.sender().state().window.bytes() > 0 &&
                 connection_.sender().state().window.bytes() <= kMaxCongestionWindow);
    if (app_.established == 0) return;
    // What is in flight lies between what is acknowledged and what was sent.
    const std::uint32_t sent = connection_.stream().next_sequence() - (initial_ + 1);
    FUZZ_REQUIRE(sent <= written_ + 1);
    FUZZ_REQUIRE(connection_.stream().acked_bytes() <= sent);
    FUZZ_REQUIRE(connection_.sender().state().scoreboard.pipe_bytes() <=
                 sent - connection_.stream().acked_bytes());
    if (connection_.state() != ConnectionState::kEstablished) return;
    const bool outstanding = sent > connection_.stream().acked_bytes() + (closing_ ? 1 : 0);
    if (outstanding) FUZZ_REQUIRE(connection_.next_timer() != kNever);
  }

  /// Left alone, a connection comes to rest: it gives up or waits for its peer.
  void settle() {
    const bool paced = config_.pacing || config_.control.controller == Controller::kUnresponsive;
    const int most = paced ? 1'000'000 : 400;  // paced, each segment takes a timer
    for (int i = 0; i < most && !is_over(connection_.state()); ++i) {
      transmit(1000);
      check();
      const Time next = connection_.next_timer();
      if (next == kNever) break;
      now_ = std::max(now_, next);
      fire();
    }
    transmit(1000);
    const bool rests = is_over(connection_.state()) || connection_.next_timer() == kNever;
    FUZZ_REQUIRE(rests);
  }

  FuzzInput& in_;
  TcpConfig config_;
  bool client_;
  std::uint32_t initial_;
  std::uint32_t peer_next_;  ///< sequence number of the plausible peer's next byte
  Application app_;
  Time now_{};
  TransportMemory memory_{{.flights = 1, .segments = 1U << 14, .disorders = 1}};
  TcpConnection connection_;
  std::vector<Sent> sent_;
  std::uint64_t written_ = 0;
  bool closing_ = false;
  bool shown_syn_ = false;
  std::uint16_t window_ = 0xFFFF;  ///< of the plausible peer, which may take it back
};

}  // namespace

void run(FuzzInput in) {
  const std::uint8_t choices = in.byte();
  const TcpConfig config = config_from(in);
  Script(in, config, choices).run();
}

}  // namespace outrider::fuzz
