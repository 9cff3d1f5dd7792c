#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

#include "common/core/random.h"
#include "trafficgen/transport/connection/connection.h"

namespace outrider::two_ends {

/// The union of the bytes that reached one end, which is what TCP must deliver, computed by
/// the simplest means.
class ArrivedBytes {
 public:
  void add(std::uint64_t begin, std::uint64_t end) {
    if (begin >= end) return;
    auto it = ranges_.lower_bound(begin);
    if (it != ranges_.begin() && std::prev(it)->second >= begin) --it;
    while (it != ranges_.end() && it->first <= end) {
      begin = std::min(begin, it->first);
      end = std::max(end, it->second);
      it = ranges_.erase(it);
    }
    ranges_[begin] = end;
  }
  [[nodiscard]] std::uint64_t prefix() const {
    return ranges_.empty() || ranges_.begin()->first != 0 ? 0 : ranges_.begin()->second;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;
};

/// The behaviour of a wire in one direction.
struct Impairment {
  Duration delay = std::chrono::microseconds(50);
  Duration spacing = std::chrono::microseconds(1);  ///< between two departures of an end
  double loss = 0;
  double reorder = 0;  ///< share of segments that take `late` longer
  Duration late = std::chrono::microseconds(20);
  /// Is called for every departing segment with its number in this direction; true drops it.
  std::function<bool(TcpSegment&, std::uint64_t)> drop{};
  /// Returns the additional delay of a segment, by the same number.
  std::function<Duration(const TcpSegment&, std::uint64_t)> extra{};
};

class Application final : public tg::ConnectionListener {
 public:
  std::function<void(tg::TcpConnection&, Time)> delivered_hook{};
  bool established = false;
  int closed = 0;
  std::uint64_t delivered = 0;

  void on_established(tg::TcpConnection&, Time) noexcept override {
    EXPECT_FALSE(established);
    established = true;
  }
  void on_delivered(tg::TcpConnection& c, Time now) noexcept override {
    EXPECT_GT(c.receiver().delivered_bytes(), delivered) << "each byte once";
    delivered = c.receiver().delivered_bytes();
    if (delivered_hook) delivered_hook(c, now);
  }
  void on_closed(tg::TcpConnection&, Time) noexcept override { ++closed; }
};

/// Opens a client whose initial sequence number is 1000 and answers for a server with initial
/// sequence number 2000 and window scale 2. The connection is established at 1 ms.
inline void establish(tg::TcpConnection& client, std::uint16_t window = 65535, bool sack = true) {
  client.open(Time{});
  (void)next_segment(client, Time{});
  client.on_segment({.sequence = 2000,
                     .acknowledgment = 1001,
                     .flags = kTcpSyn | kTcpAck,
                     .window = window,
                     .window_scale = 2,
                     .sack_permitted = sack},
                    Time{std::chrono::milliseconds(1)});
}

/// A client (0) and a server (1) with a wire in between. Time is a variable.
class TwoEnds {
 public:
  struct Options {
    tg::TcpConfig config{};
    tg::TransportMemory::Setup memory{};  ///< of each end
    std::array<Impairment, 2> wires{};    ///< by sending end
    std::uint64_t seed = 1;
    std::array<std::uint32_t, 2> initial_sequence{1000, 2000};
    Time start{};
  };

  explicit TwoEnds(Options options)
      : options_(std::move(options)),
        random_(options_.seed, 0, RandomPurpose::kImpairment),
        now_(options_.start),
        ends_{End(options_, 0), End(options_, 1)} {}

  tg::TcpConnection& client() { return ends_[0].connection; }
  tg::TcpConnection& server() { return ends_[1].connection; }
  tg::TransportMemory& memory(std::size_t i) { return ends_[i].memory; }
  Application& application(std::size_t i) { return ends_[i].application; }
  [[nodiscard]] Time now() const { return now_; }
  /// Returns the departures of one end so far, including dropped segments.
  [[nodiscard]] std::uint64_t departed(std::size_t i) const { return ends_[i].departed; }

  /// Runs until nothing is left to do or `until` is reached.
  void run(Time until = kNever) {
    for (std::uint64_t steps = 0; steps < 5'000'000; ++steps) {
      const Time next = next_event();
      if (next == kNever || next > until) {
        if (until != kNever) now_ = std::max(now_, until);
        return;
      }
      now_ = std::max(now_, next);
      step();
    }
    FAIL() << "does not come to rest, seed " << options_.seed;
  }
  void run_for(Duration d) { run(now_ + d); }

 private:
  struct End {
    End(const Options& o, std::size_t i)
        : memory(o.memory),
          connection(
              o.config,
              {.flow = {.source_address = static_cast<std::uint32_t>(i)},
               .role = i == 0 ? tg::TcpConnection::Role::kClient : tg::TcpConnection::Role::kServer,
               .initial_sequence = o.initial_sequence[i],
               .option_bytes = 12},
              memory, application),
          peer_first(o.initial_sequence[1 - i] + 1),
          free_at(o.start) {}
    Application application;
    tg::TransportMemory memory;
    tg::TcpConnection connection;
    ArrivedBytes arrived;
    std::uint32_t peer_first;  ///< sequence number of the peer's first byte
    std::uint64_t departed = 0;
    Time free_at;
  };
  struct Flight {
    Time at;
    std::uint64_t order;
    std::size_t to;
    TcpSegment segment;
    bool operator>(const Flight& o) const { return std::tie(at, order) > std::tie(o.at, o.order); }
  };

  [[nodiscard]] Time next_event() {
    Time next = wire_.empty() ? kNever : wire_.top().at;
    for (End& e : ends_) {
      if (e.connection.has_segment(now_)) next = std::min(next, std::max(now_, e.free_at));
      next = std::min(next, e.connection.next_timer());
    }
    return next;
  }

  void step() {
    while (!wire_.empty() && wire_.top().at <= now_) {
      const Flight f = wire_.top();
      wire_.pop();
      arrive(ends_[f.to], f.segment);
    }
    for (std::size_t i = 0; i < ends_.size(); ++i) {
      End& e = ends_[i];
      if (e.connection.next_timer() <= now_) e.connection.on_timer(now_);
      if (e.free_at <= now_ && e.connection.has_segment(now_)) depart(e, i);
    }
  }

  void arrive(End& e, const TcpSegment& s) {
    const bool counts = e.memory.events.reassembly_refused == 0 && !s.has(kTcpSyn);
    const std::uint64_t refused = e.memory.events.reassembly_refused;
    e.connection.on_segment(s, now_);
    if (s.payload_bytes != 0 && counts && e.memory.events.reassembly_refused == refused) {
      const std::uint64_t near = e.arrived.prefix();
      const auto distance =
          static_cast<std::int32_t>(s.sequence - (e.peer_first + static_cast<std::uint32_t>(near)));
      const auto begin = near + static_cast<std::uint64_t>(std::int64_t{distance});
      e.arrived.add(begin, begin + s.payload_bytes);
      if (e.connection.state() == tg::ConnectionState::kEstablished) {
        ASSERT_EQ(e.connection.receiver().delivered_bytes(), e.arrived.prefix())
            << "seed " << options_.seed;
      }
    }
  }

  void depart(End& e, std::size_t i) {
    TcpSegment s = next_segment(e.connection, now_);
    const Impairment& wire = options_.wires[i];
    e.free_at = now_ + wire.spacing;
    const bool dropped = wire.drop && wire.drop(s, e.departed);
    const Duration extra = wire.extra ? wire.extra(s, e.departed) : Duration{};
    ++e.departed;
    const double fate = random_.uniform();
    const bool late = random_.uniform() < wire.reorder;
    if (dropped || fate < wire.loss) return;
    wire_.push({now_ + wire.delay + extra + (late ? wire.late : Duration{}), order_++, 1 - i, s});
  }

  Options options_;
  RandomStream random_;
  Time now_;
  std::array<End, 2> ends_;
  std::uint64_t order_ = 0;
  std::priority_queue<Flight, std::vector<Flight>, std::greater<>> wire_;
};

/// Returns settings with time-outs and delays for a network with round trips of 100 us.
inline tg::TcpConfig datacentre(tg::Controller controller = tg::Controller::kCubic) {
  tg::TcpConfig c;
  c.control.controller = controller;
  c.min_rto = std::chrono::milliseconds(10);
  c.initial_rto = std::chrono::milliseconds(100);
  c.delayed_ack = std::chrono::milliseconds(1);
  return c;
}

/// Sends `bytes` from the client, closes both ends and runs until nothing is left to do.
inline void transfer(TwoEnds& t, std::uint64_t bytes, std::uint64_t reply = 0) {
  t.client().open(t.now());
  t.client().stream().write(bytes);
  t.client().stream().finish();
  t.server().stream().write(reply);
  t.server().stream().finish();
  t.run();
}

inline void expect_done(TwoEnds& t, std::uint64_t bytes, std::uint64_t reply = 0) {
  EXPECT_EQ(t.server().receiver().delivered_bytes(), bytes);
  EXPECT_EQ(t.client().receiver().delivered_bytes(), reply);
  EXPECT_EQ(t.client().stream().acked_bytes(), bytes);
  EXPECT_EQ(t.client().sender().state().scoreboard.pipe_bytes(), 0U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_TRUE(t.application(i).established);
    EXPECT_EQ(t.application(i).closed, 1);
  }
  EXPECT_EQ(t.client().state(), tg::ConnectionState::kClosed);
  EXPECT_EQ(t.server().state(), tg::ConnectionState::kClosed);
}

}  // namespace outrider::two_ends
