// Goal: RACK-TLP (RFC 8985) handles tails, lost retransmissions and reordering without
// time-outs. Method: each case is also run with RFC 6675, which needs time-outs.
#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/transport/connection/two_ends.h"

namespace outrider::connection_rack_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;
using two_ends::datacentre;
using two_ends::expect_done;
using two_ends::Impairment;
using two_ends::transfer;
using two_ends::TwoEnds;

constexpr std::uint32_t kMss = 1448;
constexpr std::uint32_t kFirst = 1001;  ///< sequence number of the client's first byte

TcpConfig config_of(LossDetection detection, TailProbe probe = TailProbe::kRfc8985) {
  TcpConfig c = datacentre(Controller::kReno);
  c.loss_detection = detection;
  c.tail_probe = probe;
  return c;
}

/// Drops the first `times` transmissions of segment `index`.
auto drops(std::uint32_t index, int times) {
  return [index, times](TcpSegment& s, std::uint64_t) mutable {
    return s.payload_bytes != 0 && s.sequence == kFirst + index * kMss && times-- > 0;
  };
}

struct Finish {
  Duration took{};  ///< from the first data until all was delivered
  TcpCounters sender;
  TcpEvents events;
};
/// Sends `segments` over one connection whose wire drops by `drop`.
Finish run(const TcpConfig& config, std::uint32_t segments,
           std::function<bool(TcpSegment&, std::uint64_t)> drop) {
  TwoEnds::Options o{.config = config};
  o.wires[0].drop = std::move(drop);
  TwoEnds t(std::move(o));
  t.client().open(t.now());
  t.run_for(1ms);
  const Time start = t.now();
  Time end = start;
  const std::uint64_t bytes = std::uint64_t{segments} * kMss;
  t.application(1).delivered_hook = [&](TcpConnection& c, Time now) {
    if (c.receiver().delivered_bytes() == bytes) end = now;
  };
  t.client().stream().write(bytes);
  t.run_for(1s);
  EXPECT_EQ(t.server().receiver().delivered_bytes(), bytes);
  return {end - start, t.client().counters(), t.memory(0).events};
}

Finish run(LossDetection detection, std::uint32_t segments,
           std::function<bool(TcpSegment&, std::uint64_t)> drop) {
  return run(config_of(detection), segments, std::move(drop));
}

// Segments 8 and 9 of ten are lost. The probe, 2 SRTT after the last ACK that advanced, causes
// a SACK of 9; a quarter of a round trip later 8 is sent. SRTT is 101 to 111 us.
TEST(RackTlp, AProbeRepairsATailInsteadOfATimeout) {
  const auto lose_tail = [a = drops(8, 1), b = drops(9, 1)](
                             TcpSegment& s, std::uint64_t n) mutable { return a(s, n) || b(s, n); };
  const Finish slow = run(LossDetection::kRfc6675, 10, lose_tail);
  EXPECT_EQ(slow.sender.rtos_data, 1U);
  EXPECT_GT(slow.took, 10ms) << "min_rto";
  const Finish fast = run(LossDetection::kRackTlp, 10, lose_tail);
  EXPECT_EQ(fast.sender.rtos_data, 0U);
  EXPECT_EQ(fast.events.tail_probes, 1U);
  EXPECT_EQ(fast.sender.retransmitted, 2U);
  EXPECT_EQ(fast.sender.fast_recoveries, 1U);
  EXPECT_GT(fast.took, (1 + 2 + 1) * 100us);
  EXPECT_LT(fast.took, 550us) << "flight, 2 SRTT, round trip, a quarter, half a round trip";
}

TEST(RackTlp, ALoneSegmentAllowsForADelayedAck) {
  const Finish f = run(LossDetection::kRackTlp, 1, drops(0, 1));
  EXPECT_EQ(f.sender.rtos_data, 0U);
  EXPECT_EQ(f.events.tail_probes, 1U);
  EXPECT_GT(f.took, 1ms + 2 * 100us) << "the delayed ACK's 1 ms and 2 SRTT";
  EXPECT_LT(f.took, 1ms + 3 * 111us);
}

// The ACK of what arrived leaves a lone segment. Its probe leaves at the RTO at the latest, in its
// place, as the kernel's timer is armed for either.
TEST(RackTlp, LinuxProbesTwoTicksLaterAndALoneSegmentWhenATimeoutIsDue) {
  const TcpConfig linux = config_of(LossDetection::kRackTlp, TailProbe::kLinux);
  const auto lose_tail = [a = drops(8, 1), b = drops(9, 1)](
                             TcpSegment& s, std::uint64_t n) mutable { return a(s, n) || b(s, n); };
  const Finish tail = run(linux, 10, lose_tail);
  EXPECT_EQ(tail.events.tail_probes, 1U);
  EXPECT_GT(tail.took, 8ms + 4 * 100us);
  EXPECT_LT(tail.took, 8ms + 550us);
  for (const std::uint32_t segments : {1U, 10U}) {
    const Finish lone = run(linux, segments, drops(segments - 1, 1));
    EXPECT_EQ(lone.events.tail_probes, 1U);
    EXPECT_GT(lone.took, 10ms) << "min_rto";
    EXPECT_LT(lone.took, 12ms) << "and the delay of an ACK";
  }
}

TEST(RackTlp, ALostRetransmissionIsResentWithoutATimeout) {
  const Finish slow = run(LossDetection::kRfc6675, 200, drops(40, 2));
  EXPECT_EQ(slow.sender.rtos_data, 1U);
  const Finish fast = run(LossDetection::kRackTlp, 200, drops(40, 2));
  EXPECT_EQ(fast.sender.rtos_data, 0U);
  EXPECT_EQ(fast.sender.retransmitted, 2U);
}

// Two segments overtake segment 20, so the sender learns that the path reorders. Then every
// 40th segment is 20 us late, within a quarter of the round trip, and 20 overtake it.
TEST(RackTlp, ReorderingWithinTheWindowIsNotLoss) {
  for (const auto detection : {LossDetection::kRfc6675, LossDetection::kRackTlp}) {
    TwoEnds::Options o{.config = config_of(detection)};
    o.wires[0].extra = [](const TcpSegment& s, std::uint64_t) -> Duration {
      const std::uint32_t index = (s.sequence - kFirst) / kMss;
      if (s.payload_bytes == 0) return 0us;
      return index == 20 ? 2500ns : index > 20 && index % 40 == 0 ? 20us : 0us;
    };
    TwoEnds t(std::move(o));
    transfer(t, 400 * kMss);
    expect_done(t, 400 * kMss);
    EXPECT_GT(t.server().counters().out_of_order_received, 40U);
    const bool rack = detection == LossDetection::kRackTlp;
    if (rack) {
      EXPECT_EQ(t.client().counters().retransmitted, 0U);
      EXPECT_EQ(t.client().counters().fast_recoveries, 0U);
    } else {
      EXPECT_GT(t.client().counters().retransmitted, 5U);
      EXPECT_GT(t.memory(0).events.duplicates_told, 5U) << "D-SACK tells that it was in vain";
    }
  }
}

/// A window and its slow start threshold.
struct Windows {
  std::uint32_t cwnd_bytes = 0, ssthresh_bytes = 0;
};

/// Returns the windows after a burst that needed a probe, and after one more segment.
std::pair<Windows, Windows> windows_before_and_after(
    std::function<bool(TcpSegment&, std::uint64_t)> from_client,
    std::function<bool(TcpSegment&, std::uint64_t)> from_server,
    SsthreshBase base = SsthreshBase::kFlight) {
  TwoEnds::Options o{.config = config_of(LossDetection::kRackTlp)};
  o.config.reuse = ConnectionReuse::kKeep;
  o.config.ssthresh_base = base;
  o.wires[0].drop = std::move(from_client);
  o.wires[1].drop = std::move(from_server);
  TwoEnds t(std::move(o));
  const auto windows = [&t] {
    const auto& window = t.client().sender().state().window;
    return Windows{window.bytes(), window.control().ssthresh_bytes()};
  };
  t.client().open(t.now());
  t.run_for(1ms);
  t.client().stream().write(10 * kMss);
  t.run_for(20ms);
  EXPECT_EQ(t.client().stream().acked_bytes(), 10 * kMss);
  EXPECT_EQ(t.memory(0).events.tail_probes, 1U);
  EXPECT_EQ(t.memory(0).flights.lent(), 0U) << "idle";
  const Windows before = windows();
  t.client().stream().write(kMss);
  t.run_for(5ms);
  return {before, windows()};
}

// RFC 8985, 7.4: the probe hid a loss from congestion control.
TEST(RackTlp, ALossThatAProbeRepairedReducesTheWindow) {
  const auto lost = windows_before_and_after(drops(9, 1), {});
  EXPECT_GE(lost.first.cwnd_bytes, 10 * kMss);
  EXPECT_EQ(lost.second.cwnd_bytes, 2 * kMss)
      << "half of what was in flight, at least two segments";
  // The last ACK is lost but not the data, so the peer reports a duplicate.
  const auto last_ack = [](TcpSegment& s, std::uint64_t) {
    return s.acknowledgment == kFirst + 10 * kMss && s.sack_blocks == 0;
  };
  const auto spared = windows_before_and_after({}, last_ack);
  EXPECT_EQ(spared.second.cwnd_bytes, spared.first.cwnd_bytes);
}

// RFC 8985, 7.1: what began after the probe has answered for its loss, so the next burst does not.
TEST(RackTlp, ARecoveryOrATimeoutAfterTheProbeReducesTheWindowOnce) {
  const auto two_lost = [a = drops(8, 1), b = drops(9, 1)](TcpSegment& s, std::uint64_t n) mutable {
    return a(s, n) || b(s, n);
  };
  for (const auto& [before, after] :
       {windows_before_and_after(two_lost, {}, SsthreshBase::kWindow),
        windows_before_and_after(drops(9, 2), {}, SsthreshBase::kWindow)}) {
    EXPECT_GT(before.ssthresh_bytes, 4 * kMss);
    EXPECT_EQ(after.ssthresh_bytes, before.ssthresh_bytes);
    EXPECT_GE(after.cwnd_bytes, before.cwnd_bytes);
  }
}

TEST(RackTlp, RandomLossAndReorderingDeliverEveryByteOnce) {
  std::uint64_t retransmitted = 0, probes = 0, told = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    RandomStream draw(seed, 1, RandomPurpose::kTest);
    TwoEnds::Options o{.config = datacentre(static_cast<Controller>(seed % 3)), .seed = seed};
    o.config.loss_detection = LossDetection::kRackTlp;
    o.config.timestamps = seed % 4 == 0;
    for (Impairment& wire : o.wires) {
      wire.loss = draw.uniform() * 0.1;
      wire.reorder = draw.uniform() * 0.05;
      wire.late = Duration{static_cast<std::int64_t>(draw.uniform() * 100'000)};
    }
    o.initial_sequence = {draw.next_u32(), draw.next_u32()};
    const std::uint64_t bytes = draw.next_u32() % 600'000;
    const std::uint64_t reply = draw.next_u32() % 100'000;
    TwoEnds t(std::move(o));
    transfer(t, bytes, reply);
    expect_done(t, bytes, reply);
    if (HasFailure()) FAIL() << "seed " << seed;
    EXPECT_EQ(t.memory(0).flights.lent() + t.memory(1).flights.lent(), 0U);
    retransmitted += t.client().counters().retransmitted;
    probes += t.memory(0).events.tail_probes;
    told += t.memory(0).events.duplicates_told;
  }
  EXPECT_GT(retransmitted, 1000U);
  EXPECT_GT(probes, 50U);
  EXPECT_GT(told, 50U);
}

}  // namespace
}  // namespace outrider::connection_rack_test
