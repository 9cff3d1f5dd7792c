#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/core/random.h"
#include "switch/aqm/mark_verdict.h"

namespace outrider {

/// A queue in front of a link, fed by Poisson arrivals that heed nothing: what a
/// marker meets under a constant overload. Every verdict but kPass drops the packet.
/// Time stands still between arrivals and departures; no limit but the marker's.
class Overload {
 public:
  static constexpr std::uint32_t kBytes = 1000;

  struct Load {
    Duration packet_time{};  ///< of one packet on the link
    double load = 1;         ///< offered, as a multiple of the link
    std::uint64_t seed = 1;
  };
  /// (occupancy in bytes, draw, now) of an arrival
  std::function<MarkVerdict(std::uint64_t, std::uint32_t, Time)> judge_arrival;
  /// (sojourn, bytes left behind, now) of a head
  std::function<MarkVerdict(Duration, std::uint64_t, Time)> judge_departure;

  std::uint64_t offered = 0, dropped = 0;
  struct Departure {
    Time at;
    Duration sojourn;
  };
  std::vector<Departure> departures;

  void run(const Load& load, Duration length) {
    RandomStream gaps(load.seed, 0, RandomPurpose::kTest);
    RandomStream draws(load.seed, 1, RandomPurpose::kTest);
    const double mean_gap = seconds(load.packet_time) / load.load;
    Time arrival = now_ + from_seconds(gaps.exponential(mean_gap));
    for (const Time end = now_ + length; arrival < end;) {
      serve_until(arrival, load.packet_time);
      ++offered;
      const std::uint32_t draw = draws.next_u32();
      if (judge_arrival &&
          judge_arrival(waiting_.size() * kBytes, draw, arrival) != MarkVerdict::kPass)
        ++dropped;
      else waiting_.push_back(arrival);
      arrival += from_seconds(gaps.exponential(mean_gap));
    }
    now_ = std::max(now_, free_at_);
  }

  [[nodiscard]] double dropped_share() const {
    return static_cast<double>(dropped) / static_cast<double>(offered);
  }
  /// Sojourns of what left from `from` on, in ascending order.
  [[nodiscard]] std::vector<Duration> sojourns_from(Time from) const {
    std::vector<Duration> s;
    for (const Departure& d : departures)
      if (d.at >= from) s.push_back(d.sojourn);
    std::sort(s.begin(), s.end());
    return s;
  }

 private:
  void serve_until(Time now, Duration packet_time) {
    while (!waiting_.empty()) {
      const Time start = std::max(free_at_, waiting_.front());
      if (start > now) break;
      const Duration sojourn = start - waiting_.front();
      waiting_.pop_front();
      if (judge_departure &&
          judge_departure(sojourn, waiting_.size() * kBytes, start) != MarkVerdict::kPass) {
        ++dropped;
        continue;
      }
      departures.push_back({start, sojourn});
      free_at_ = start + packet_time;
    }
    now_ = now;
  }

  std::deque<Time> waiting_;
  Time now_{}, free_at_{};
};

/// A queue in front of a link, fed by greedy flows that react as Reno does (one packet
/// more a round trip, half after a mark, once a round trip): an overload that heeds
/// marks. Any verdict but kPass marks.
class GreedyFlows {
 public:
  static constexpr std::uint32_t kBytes = 1000;

  std::function<MarkVerdict(Duration, std::uint64_t, Time)> judge_departure;
  std::uint64_t marked = 0;
  std::vector<Duration> lowest_sojourn;  ///< of each `period`

  GreedyFlows(std::uint32_t flows, Duration packet_time, Duration rtt)
      : packet_time_(packet_time), rtt_(rtt), flows_(flows) {}

  void run(Duration length, Duration period) {
    // host delays are spread, lest all flows move in step
    for (std::uint32_t f = 0; f < flows_.size(); ++f) send(f, Time{f * packet_time_});
    Time period_end = Time{period};
    Duration lowest = Duration::max();
    while (!waiting_.empty()) {
      const auto [arrived, f] = waiting_.front();
      const Time start = std::max(free_at_, arrived);
      if (start >= Time{length}) break;
      while (!acks_.empty() && acks_.front().at <= start) on_ack();
      for (; start >= period_end; period_end += period) {
        if (lowest != Duration::max()) lowest_sojourn.push_back(lowest);
        lowest = Duration::max();
      }
      waiting_.pop_front();
      lowest = std::min(lowest, start - arrived);
      const bool mark =
          judge_departure(start - arrived, waiting_.size() * kBytes, start) != MarkVerdict::kPass;
      marked += mark;
      free_at_ = start + packet_time_;
      acks_.push_back({free_at_ + rtt_, f, mark});
      while (waiting_.empty() && !acks_.empty()) on_ack();
    }
  }

 private:
  struct Flow {
    double window = 2;
    double in_flight = 0;
    Time deaf_until{};
  };
  struct Ack {
    Time at;
    std::uint32_t flow;
    bool marked;
  };

  void on_ack() {
    const Ack ack = acks_.front();
    acks_.pop_front();
    Flow& f = flows_[ack.flow];
    f.in_flight -= 1;
    if (!ack.marked) {
      f.window += 1 / f.window;
    } else if (ack.at >= f.deaf_until) {
      f.window = std::max(f.window / 2, 1.0);
      f.deaf_until = ack.at + rtt_;
    }
    send(ack.flow, ack.at);
  }
  void send(std::uint32_t flow, Time now) {
    for (Flow& f = flows_[flow]; f.in_flight + 1 <= f.window; f.in_flight += 1)
      waiting_.push_back({now, flow});
  }

  Duration packet_time_, rtt_;
  std::vector<Flow> flows_;
  std::deque<std::pair<Time, std::uint32_t>> waiting_;
  std::deque<Ack> acks_;
  Time free_at_{};
};

}  // namespace outrider
