// Goal: over any ten round trips held flows keep their floor of the bytes that leave the queue,
// while this queue fills and drains, and they do not keep much more. Method: a model of senders
// that use their edge at once and of receivers that acknowledge every second segment, on the path
// of window_scene.h. The other packets in the queue are a random saw-tooth of up to 60 packets.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/unit/regulation/window_scene.h"

namespace outrider::window_floor_test {
namespace {

constexpr Duration kUp = 1ms, kDown = 2ms, kRtt = kUp + kDown;
constexpr double kBytesPerNs = 200e6 / 8e9;
constexpr std::uint32_t kWire = kFrame + 24;
constexpr std::uint32_t kFlows = 3;

class HeldFlows {
 public:
  HeldFlows(const WindowPolicy& policy, unsigned seed) : scene_(policy), random_(seed) {
    for (std::uint32_t f = 0; f < kFlows; ++f) scene_.open(f);
    for (int i = 0; i < 12; ++i) round();
    for (std::uint32_t f = 0; f < kFlows; ++f) scene_.send(f, kFlight);
    began_ = scene_.now;
    scene_.now += kRtt;
    // The burst is much longer than this test and all in flight, so it leaves no room over.
    scene_.start(1U << 30);
    scene_.clamp.on_burst_payload(kWorker, 1000, 1U << 28, scene_.queue, scene_.now);
    for (std::uint32_t f = 0; f < kFlows; ++f)
      for (std::uint32_t i = 0; i < kFlight; i += 2)
        at(scene_.now + std::chrono::microseconds(f * 100 + i), [this, f] { acknowledge(f); });
  }
  void run_for(Duration time) {
    const Time end = scene_.now + time;
    while (!events_.empty() && events_.top().at <= end) {
      const Event next = events_.top();
      events_.pop();
      scene_.now = next.at;
      next.act();
    }
  }
  /// Returns the share of the link in the span of ten round trips where it is least, and over all
  /// spans.
  [[nodiscard]] std::pair<double, double> least_and_mean(Duration from) const {
    const Duration span = 10 * kRtt;
    double least = 1, sum = 0;
    int spans = 0;
    std::vector<Time> left = departures_;
    std::ranges::sort(left);
    for (Time t = began_ + from; t + span <= left.back(); t += 100us, ++spans) {
      const auto n = std::ranges::lower_bound(left, t + span) - std::ranges::lower_bound(left, t);
      const double share =
          static_cast<double>(n) * kWire / (kBytesPerNs * static_cast<double>(span.count()));
      least = std::min(least, share);
      sum += share;
    }
    return {least, sum / spans};
  }

 private:
  static constexpr std::uint32_t kFlight = 30;
  struct Event {
    Time at;
    std::uint64_t order;
    std::function<void()> act;
    bool operator<(const Event& other) const {
      return std::tie(other.at, other.order) < std::tie(at, order);
    }
  };

  void at(Time when, std::function<void()> act) { events_.push({when, order_++, std::move(act)}); }
  void round() {
    for (std::uint32_t f = 0; f < kFlows; ++f) scene_.send(f, kFlight);
    scene_.now += kDown;
    for (std::uint32_t f = 0; f < kFlows; ++f) scene_.answer(f, kFlight);
    scene_.now += kUp;
  }
  /// Moves the queue along a saw-tooth that falls no faster than a link drains.
  void move_queue() {
    while (scene_.now >= turn_at_) {
      from_bytes_ = to_bytes_;
      turned_at_ = turn_at_;
      to_bytes_ = std::uniform_real_distribution<>(0, 60.0 * kWire)(random_);
      const double least_ns = std::abs(to_bytes_ - from_bytes_) / kBytesPerNs;
      turn_at_ += Duration{static_cast<std::int64_t>(
          least_ns * std::uniform_real_distribution<>(1.2, 4)(random_) + 1)};
    }
    const auto part = static_cast<double>((scene_.now - turned_at_).count()) /
                      static_cast<double>((turn_at_ - turned_at_).count());
    scene_.queue.waiting_bytes =
        static_cast<std::uint64_t>(from_bytes_ + (to_bytes_ - from_bytes_) * part);
  }
  void acknowledge(std::uint32_t f) {
    move_queue();
    const std::uint32_t told = scene_.answer(f, 2);
    const std::uint32_t edge = scene_.acked[f] + told;
    for (; granted_[f] + kSegment <= edge; granted_[f] += kSegment)
      if (granted_[f] >= scene_.sent[f]) at(scene_.now + kUp, [this, f] { arrive(f); });
  }
  void arrive(std::uint32_t f) {
    move_queue();
    scene_.send(f);
    const Time departs =
        scene_.now + Duration{static_cast<std::int64_t>(
                         static_cast<double>(scene_.queue.waiting_bytes) / kBytesPerNs)};
    departures_.push_back(departs);
    if (++unacknowledged_[f] % 2 == 0) at(departs + kDown, [this, f] { acknowledge(f); });
  }

  Scene scene_;
  std::mt19937 random_;
  std::priority_queue<Event> events_;
  std::uint64_t order_ = 0;
  std::map<std::uint32_t, std::uint32_t> granted_, unacknowledged_;
  std::vector<Time> departures_;
  double from_bytes_ = 0, to_bytes_ = 0;
  Time turned_at_{}, turn_at_{1s};
  Time began_{};
};

/// The required share of the floor. The model is harsher than a link, whose senders' trains are no
/// points and whose queue does not change as fast. When windows were sized only by the queue of
/// the last round trip, without a line, they kept 0.55 of the floor here.
constexpr double kLeastShare = 0.9;

TEST(WindowFloor, HoldsOverAnyTenRoundTripsWhateverTheQueueDoes) {
  for (const auto rule : {WindowRule::kStrict, WindowRule::kComplement})
    for (const double floor : {0.05, 0.1, 0.21, 0.4})
      for (unsigned seed = 1; seed <= 10; ++seed) {
        HeldFlows flows({.rule = rule, .floor = floor}, seed);
        flows.run_for(1s);
        const auto [least, mean] = flows.least_and_mean(20ms);
        EXPECT_GE(least, kLeastShare * floor) << "floor " << floor << ", seed " << seed;
        // Allow for trains and whole segments. Each flow always keeps two segments.
        const double least_windows = 2.0 * kFlows * kWire / (kBytesPerNs * 3e6);
        EXPECT_LE(mean, std::max(1.4 * floor, least_windows)) << "floor " << floor;
      }
}

// At START a standing window is in flight, which is more than any floor.
TEST(WindowFloor, NothingIsOwedWhenHoldingBegins) {
  Scene s({.rule = WindowRule::kStrict, .floor = 0.4});
  s.open(0);
  s.cruise(0, 40);
  std::uint32_t told = s.answer(0, 1);
  const std::uint32_t edge = s.acked[0] + told;
  s.start();
  told = s.answer(0, 1);
  EXPECT_EQ(s.reason(WindowReason::kHeld), 1U);
  EXPECT_LE(s.acked[0] + told, edge + (1U << kScale)) << "stands, but for the unit of the scale";
}

}  // namespace
}  // namespace outrider::window_floor_test
