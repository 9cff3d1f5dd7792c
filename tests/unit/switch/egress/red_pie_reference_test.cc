// Goal: our RED and PIE agree with DPDK's where these can serve as a reference.
// Method: averages, mark fractions and delays are compared, but not single draws, because
// DPDK's come from process-wide state.
#include <gtest/gtest.h>
#include <rte_pie.h>
#include <rte_red.h>

#include <deque>

#include "common/core/random.h"
#include "switch/aqm/pie_marker.h"
#include "switch/aqm/red_marker.h"
#include "tests/unit/aqm/overload.h"

namespace outrider::red_pie_reference_test {
namespace {

using namespace std::chrono_literals;

struct DpdkRed {
  DpdkRed(std::uint16_t weight_log2, std::uint16_t kmin, std::uint16_t kmax, std::uint16_t pmax_inv)
      : average_shift(RTE_RED_SCALING + weight_log2) {
    EXPECT_EQ(rte_red_config_init(&config, weight_log2, kmin, kmax, pmax_inv), 0);
    EXPECT_EQ(rte_red_rt_data_init(&state), 0);
  }
  bool marks(std::uint32_t occupancy, std::uint64_t now) {
    return rte_red_enqueue(&config, &state, occupancy, now) != 0;
  }
  [[nodiscard]] double average() const {
    return static_cast<double>(state.avg) / (1U << average_shift);
  }

  rte_red_config config{};
  rte_red state{};
  unsigned average_shift;
};

TEST(RedReference, AveragesAgreeWithRteRed) {
  for (const std::uint16_t weight_log2 : {std::uint16_t{1}, std::uint16_t{4}, std::uint16_t{9}}) {
    DpdkRed reference(weight_log2, 500, 1000, 10);
    RedMarker red({.kmin = 500,
                   .kmax = 1000,
                   .pmax = 0.05,
                   .weight = 1.0 / (1 << weight_log2),
                   .packet_time = 1us});
    RandomStream random(1, weight_log2, RandomPurpose::kTest);
    for (int i = 0; i < 20'000; ++i) {
      const std::uint32_t occupancy =
          1 + (i / 3000 % 2 == 0 ? 100U : 10U) + random.next_u32() % 200;
      (void)reference.marks(occupancy, 0);
      (void)red.on_enqueue(occupancy, ~0U, Time{});
      ASSERT_NEAR(red.average(), reference.average(), 0.002 * red.average() + 0.002);
    }
  }
}

// rte_red's time has 2^22 units per packet. Our RED also counts the arrival as a sample.
TEST(RedReference, IdleTimeAgreesWithRteRed) {
  for (const std::uint16_t weight_log2 : {std::uint16_t{4}, std::uint16_t{9}})
    for (const int packets : {1, 8, 64}) {
      DpdkRed reference(weight_log2, 500, 1000, 10);
      RedMarker red({.kmin = 500,
                     .kmax = 1000,
                     .pmax = 0.05,
                     .weight = 1.0 / (1 << weight_log2),
                     .packet_time = 1us});
      for (int i = 0; i < 20'000; ++i) {
        (void)reference.marks(200, 0);
        (void)red.on_enqueue(200, ~0U, Time{});
      }
      rte_red_mark_queue_empty(&reference.state, 0);
      red.on_dequeue(0, Time{});
      (void)reference.marks(0, static_cast<std::uint64_t>(packets) * RTE_RED_S);
      (void)red.on_enqueue(0, ~0U, Time{(packets - 1) * 1us});
      EXPECT_NEAR(red.average(), reference.average(), 0.03 * 200) << weight_log2 << ' ' << packets;
    }
}

// rte_red divides by 2 - count p where the paper has 1 - count p, which equals half of our
// Pmax. It takes one draw for a whole gap, modulo a divisor that shrinks, which skews its gaps
// by some percent. tests/unit/core/red_marker_test.cc compares with theory more closely.
TEST(RedReference, MarkFractionsAgreeWithRteRed) {
  constexpr int kPackets = 400'000;
  for (const std::uint32_t occupancy : {30U, 40U, 50U, 59U}) {
    DpdkRed reference(1, 20, 60, 10);
    RedMarker red({.kmin = 20, .kmax = 60, .pmax = 0.05});
    RandomStream draws(3, occupancy, RandomPurpose::kTest);
    int ours = 0, theirs = 0;
    for (int i = 0; i < kPackets; ++i) {
      theirs += reference.marks(occupancy, 0);
      ours += red.on_enqueue(occupancy, draws.next_u32(), Time{}) == MarkVerdict::kMark;
    }
    ASSERT_GT(ours, 0);
    EXPECT_NEAR(static_cast<double>(theirs) / ours, 1, 0.12) << occupancy;
  }
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"  // all of rte_pie is experimental
/// Drives rte_pie from the hooks of an overloaded queue and counts the queue's packets itself.
class DpdkPie {
 public:
  DpdkPie(std::uint16_t target_ms, std::uint16_t limit_packets) {
    EXPECT_EQ(rte_pie_config_init(&config_, target_ms, 15, 150, limit_packets), 0);
    EXPECT_EQ(rte_pie_rt_data_init(&state_), 0);
    cycles_per_ns_ = static_cast<double>(config_.qdelay_ref) / (target_ms * 1e6);
  }
  void attach(Overload& overload) {
    overload.judge_arrival = [this](std::uint64_t bytes, std::uint32_t, Time now) {
      const auto packets = static_cast<unsigned>(bytes / Overload::kBytes);
      return rte_pie_enqueue(&config_, &state_, packets, Overload::kBytes, cycles(now)) == 0
                 ? MarkVerdict::kPass
                 : MarkVerdict::kMark;
    };
    overload.judge_departure = [this](Duration, std::uint64_t, Time now) {
      rte_pie_dequeue(&state_, Overload::kBytes, cycles(now));
      --state_.qlen;
      state_.qlen_bytes -= Overload::kBytes;
      return MarkVerdict::kPass;
    };
  }

 private:
  [[nodiscard]] std::uint64_t cycles(Time t) const {
    return static_cast<std::uint64_t>(static_cast<double>(t.time_since_epoch().count()) *
                                      cycles_per_ns_);
  }
  rte_pie_config config_{};
  rte_pie state_{};
  double cycles_per_ns_ = 0;
};
#pragma GCC diagnostic pop

Duration median_sojourn(const Overload& overload) {
  const auto sojourns = overload.sojourns_from(Time{10s});
  return sojourns[sojourns.size() / 2];
}

// DPDK 22.11's rte_pie is no reference for the delay: it subtracts from its burst allowance in
// unsigned arithmetic that never reaches zero, so it only drops at the tail. Both must agree on
// the number of packets that do not fit the link.
TEST(PieReference, DropsAsMuchAsRtePieAndHoldsNoLongerADelay) {
  for (const double load : {1.1, 2.0}) {
    Overload with_reference, with_ours;
    DpdkPie reference(15, 1000);
    reference.attach(with_reference);
    PieMarker pie({.target = 15ms,
                   .t_update = 15ms,
                   .alpha = 0.125,
                   .beta = 1.25,
                   .burst_allowance = 150ms,
                   .spared_bytes = 2000});
    with_ours.judge_arrival = [&](std::uint64_t bytes, std::uint32_t draw, Time now) {
      return pie.on_enqueue(bytes, draw, now);
    };
    with_ours.judge_departure = [&](Duration sojourn, std::uint64_t left, Time now) {
      pie.on_dequeue(sojourn, left, now);
      return MarkVerdict::kPass;
    };
    for (Overload* overload : {&with_reference, &with_ours})
      overload->run({.packet_time = 100us, .load = load}, 20s);
    EXPECT_NEAR(with_ours.dropped_share(), with_reference.dropped_share(), 0.005) << load;
    EXPECT_LE(median_sojourn(with_ours), median_sojourn(with_reference)) << load;
  }
}

}  // namespace
}  // namespace outrider::red_pie_reference_test
