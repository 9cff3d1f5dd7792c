#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/clock.h"
#include "tools/lab/ranks/peers.h"
#include "tools/lab/ranks/rank_simulation.h"

namespace outrider::lab {

/// All ranks of a case as drive() sees a simulation. @tparam Ranks  see step()
template <class Ranks>
class RankedRun {
 public:
  RankedRun(Ranks& ranks, Duration lookahead) : ranks_(ranks), lookahead_(lookahead) {}

  [[nodiscard]] Time now() const noexcept { return now_; }
  [[nodiscard]] Time next() const noexcept { return next_; }
  [[nodiscard]] bool finished() { return ranks_.finished(); }
  /// A window begins at the next event of all ranks, so idle time costs nothing.
  void run_until(Time end) {
    while (next_ <= end) {
      const Time after = end + Duration{1};
      next_ = ranks_.step(after - next_ < lookahead_ ? after : next_ + lookahead_);
    }
    now_ = std::max(now_, end);
    ranks_.advance(end);
  }
  void end_slice() { ranks_.end_slice(); }
  void change_to(const sw::SwitchProcessConfig& switches) { ranks_.change_to(switches); }

 private:
  Ranks& ranks_;
  Duration lookahead_;
  Time now_{};
  Time next_{};  ///< of all ranks
};

/// One rank of this process, with others in other processes.
class PeerRanks {
 public:
  PeerRanks(RankSimulation& simulation, Peers& peers) : simulation_(simulation), peers_(peers) {}

  Time step(Time end) {
    simulation_.run_window(end);
    const Time next =
        time_of(peers_.exchange(simulation_.batches(), simulation_.neighbours(),
                                simulation_.next().time_since_epoch().count(), received_));
    for (std::uint32_t from = 0; from < received_.size(); ++from)
      simulation_.receive(from, received_[from]);
    return next;
  }
  void advance(Time end) noexcept { simulation_.advance(end); }
  void end_slice() { simulation_.end_slice(); }
  void change_to(const sw::SwitchProcessConfig& switches) { simulation_.change_to(switches); }
  [[nodiscard]] bool finished() { return peers_.least(simulation_.finished() ? 1 : 0) == 1; }

 private:
  static Time time_of(std::int64_t ns) { return Time{Duration{ns}}; }

  RankSimulation& simulation_;
  Peers& peers_;
  std::vector<std::string> received_;
};

}  // namespace outrider::lab
