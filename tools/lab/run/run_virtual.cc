#include "tools/lab/run/run_virtual.h"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "switch/config/config_toml.h"
#include "tools/lab/plan/plan_jobs.h"
#include "tools/lab/run/rank_world.h"
#include "tools/lab/run/virtual_world.h"
#include "trafficgen/config/config_toml.h"

namespace outrider::lab {
namespace {

constexpr int kSlice_rtts = 10;
constexpr int kDrain_rtts = 20;

Time earliest_end(const Case& c) {
  Time end{};
  for (const auto& job : c.traffic.jobs)
    if (job.schedule == tg::Schedule::kFixed)
      end = std::max(end, Time{job.start + job.first_due + job.iterations * job.period});
  return end;
}

Time latest_end(const Case& c) {
  const auto limit =
      std::ranges::find(c.parameters, "limit_seconds", &Parameters::value_type::first);
  if (limit == c.parameters.end()) return kNever;
  return Time{from_seconds(std::get<double>(limit->second))};
}

/// Runs the world to its end. Slices begin at multiples of their length, so that the end
/// of a run does not depend on `stop`. @return false if `stop` ended the run
template <class World>
bool drive(const Case& c, World& world, const StopCheck& stop) {
  const Duration slice = kSlice_rtts * std::max(c.base_rtt, Duration{std::chrono::microseconds(1)});
  const Time earliest = earliest_end(c), limit = latest_end(c);
  Time last = kNever;  ///< end of the run, set when the jobs are done
  while (world.now() < std::min(last, limit)) {
    if (stop && stop()) return false;
    world.run_until(std::min({world.now() + slice, last, limit}));
    if (last == kNever && world.finished())
      last = std::max(world.now() + kDrain_rtts * c.base_rtt, earliest);
    if (world.next() == kNever && !world.finished()) break;  // no event is left
  }
  return true;
}

/// Gives the switches the keys of the jobs that sign, which are in no files.
sw::SwitchProcessConfig with_keys(sw::SwitchProcessConfig switches,
                                  const std::map<std::string, SignalKey>& keys) {
  for (auto& each : switches.switches)
    for (auto& signer : each.signals.signers) {
      signer.read_keys.clear();
      for (const auto& file : signer.keys) signer.read_keys.push_back({.key = keys.at(file)});
    }
  return switches;
}

/// All ranks of a case as drive() sees a world. @tparam Ranks  see step()
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

 private:
  Ranks& ranks_;
  Duration lookahead_;
  Time now_{};
  Time next_{};  ///< of all ranks
};

/// One rank of this process, with others in other processes.
class PeerRanks {
 public:
  PeerRanks(RankWorld& world, Peers& peers) : world_(world), peers_(peers) {}

  Time step(Time end) {
    world_.run_window(end);
    const Time next = time_of(peers_.exchange(world_.batches(), world_.neighbours(),
                                              world_.next().time_since_epoch().count(), received_));
    for (std::uint32_t from = 0; from < received_.size(); ++from)
      world_.receive(from, received_[from]);
    return next;
  }
  void advance(Time end) noexcept { world_.advance(end); }
  [[nodiscard]] bool finished() { return peers_.least(world_.finished() ? 1 : 0) == 1; }

 private:
  static Time time_of(std::int64_t ns) { return Time{Duration{ns}}; }

  RankWorld& world_;
  Peers& peers_;
  std::vector<std::string> received_;
};

/// All ranks in this process, in turn.
class TurnRanks {
 public:
  explicit TurnRanks(std::vector<std::unique_ptr<RankWorld>>& worlds) : worlds_(worlds) {}

  Time step(Time end) {
    Time next = kNever;
    for (auto& world : worlds_) world->run_window(end);
    for (std::uint32_t from = 0; from < worlds_.size(); ++from) {
      next = std::min(next, worlds_[from]->next());
      for (std::uint32_t to = 0; to < worlds_.size(); ++to)
        worlds_[to]->receive(from, worlds_[from]->batches()[to]);
    }
    return next;
  }
  void advance(Time end) noexcept {
    for (auto& world : worlds_) world->advance(end);
  }
  [[nodiscard]] bool finished() const {
    return std::ranges::all_of(worlds_, [](const auto& world) { return world->finished(); });
  }

 private:
  std::vector<std::unique_ptr<RankWorld>>& worlds_;
};

std::uint32_t leaked_since(rte_mempool& pool, unsigned in_use_before) {
  const auto in_use = rte_mempool_in_use_count(&pool);
  return in_use > in_use_before ? in_use - in_use_before : 0;
}

}  // namespace

std::uint32_t buffers_needed(const Case& c) {
  const std::uint64_t sum = std::uint64_t{required_mbufs(c.switches)} + required_mbufs(c.traffic);
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(sum, std::numeric_limits<std::uint32_t>::max()));
}

RunResult run_virtual(const Case& c, rte_mempool& pool, const StopCheck& stop) {
  const auto in_use_before = rte_mempool_in_use_count(&pool);
  RunResult result;
  {
    const auto keys = virtual_signal_keys(c.traffic);
    VirtualWorld world(with_keys(c.switches, keys), c.traffic, pool, keys);
    const bool whole = drive(c, world, stop);
    result = world.result();
    result.interrupted = !whole;
    world.flush();
  }
  result.mbufs_leaked = leaked_since(pool, in_use_before);
  return result;
}

RunResult run_in_turns(const Case& c, const Partition& partition, rte_mempool& pool,
                       const StopCheck& stop) {
  const auto in_use_before = rte_mempool_in_use_count(&pool);
  const auto keys = virtual_signal_keys(c.traffic);
  std::vector<RankResult> parts;
  bool whole = false;
  {
    std::vector<std::unique_ptr<RankWorld>> worlds;
    for (std::uint32_t rank = 0; rank < partition.ranks; ++rank)
      worlds.push_back(std::make_unique<RankWorld>(with_keys(c.switches, keys), c.traffic,
                                                   partition, rank, pool, keys));
    TurnRanks ranks(worlds);
    RankedRun run(ranks, partition.lookahead);
    whole = drive(c, run, stop);
    for (auto& world : worlds) parts.push_back(rank_result_from(serialize(world->result())));
  }
  RunResult result = join_parts(c, partition, std::move(parts));
  result.interrupted = !whole;
  result.mbufs_leaked = leaked_since(pool, in_use_before);
  return result;
}

RankResult run_rank(const Case& c, const Partition& partition, Peers& peers, rte_mempool& pool,
                    const StopCheck& stop) {
  const auto in_use_before = rte_mempool_in_use_count(&pool);
  const auto keys = virtual_signal_keys(c.traffic);
  RankResult part;
  {
    RankWorld world(with_keys(c.switches, keys), c.traffic, partition, peers.rank(), pool, keys);
    PeerRanks ranks(world, peers);
    RankedRun run(ranks, partition.lookahead);
    // One rank that is to stop stops all: they must take the same number of steps.
    const bool whole = drive(c, run, [&] { return peers.least(stop && stop() ? 0 : 1) == 0; });
    part = world.result();
    part.result.interrupted = !whole;
  }
  part.result.mbufs_leaked = leaked_since(pool, in_use_before);
  return part;
}

}  // namespace outrider::lab
