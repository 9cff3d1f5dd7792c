#include "tools/lab/ranks/run_ranks.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/lab/plan/plan_jobs.h"
#include "tools/lab/ranks/rank_simulation.h"
#include "tools/lab/ranks/rank_steps.h"
#include "tools/lab/simulation/drive.h"

namespace outrider::lab {
namespace {

/// All ranks in this process, in turn.
class TurnRanks {
 public:
  explicit TurnRanks(std::vector<std::unique_ptr<RankSimulation>>& simulations)
      : simulations_(simulations) {}

  Time step(Time end) {
    Time next = kNever;
    for (auto& simulation : simulations_) simulation->run_window(end);
    for (std::uint32_t from = 0; from < simulations_.size(); ++from) {
      next = std::min(next, simulations_[from]->next());
      for (std::uint32_t to = 0; to < simulations_.size(); ++to)
        simulations_[to]->receive(from, simulations_[from]->batches()[to]);
    }
    return next;
  }
  void advance(Time end) noexcept {
    for (auto& simulation : simulations_) simulation->advance(end);
  }
  void end_slice() {
    for (auto& simulation : simulations_) simulation->end_slice();
  }
  void change_to(const sw::SwitchProcessConfig& switches) {
    for (auto& simulation : simulations_) simulation->change_to(switches);
  }
  [[nodiscard]] bool finished() const {
    return std::ranges::all_of(simulations_,
                               [](const auto& simulation) { return simulation->finished(); });
  }

 private:
  std::vector<std::unique_ptr<RankSimulation>>& simulations_;
};

}  // namespace

RunResult run_in_turns(const Case& c, const Partition& partition, std::span<const Mempool> pools,
                       const StopCheck& stop) {
  std::vector<unsigned> in_use_before;
  for (const Mempool& pool : pools) in_use_before.push_back(rte_mempool_in_use_count(pool.get()));
  const auto keys = virtual_signal_keys(c.traffic);
  std::vector<RankResult> parts;
  bool whole = false;
  {
    std::vector<std::unique_ptr<RankSimulation>> simulations;
    for (std::uint32_t rank = 0; rank < partition.ranks; ++rank)
      simulations.push_back(std::make_unique<RankSimulation>(with_keys(c.switches, keys), c.traffic,
                                                             partition, rank, *pools[rank], keys));
    if (c.link_series)
      for (auto& simulation : simulations) simulation->sample_links(c.switches, span_of(c).slice);
    TurnRanks ranks(simulations);
    RankedRun run(ranks, partition.lookahead);
    whole = drive(c, run, stop);
    for (auto& simulation : simulations)
      parts.push_back(rank_result_from(serialize(simulation->result())));
  }
  RunResult result = join_parts(c, partition, std::move(parts));
  result.interrupted = !whole;
  result.mbufs_leaked = 0;
  for (std::size_t rank = 0; rank < pools.size(); ++rank)
    result.mbufs_leaked += leaked_since(*pools[rank], in_use_before[rank]);
  return result;
}

RankResult run_rank(const Case& c, const Partition& partition, Peers& peers, rte_mempool& pool,
                    const StopCheck& stop) {
  const auto in_use_before = rte_mempool_in_use_count(&pool);
  const auto keys = virtual_signal_keys(c.traffic);
  RankResult part;
  {
    RankSimulation simulation(with_keys(c.switches, keys), c.traffic, partition, peers.rank(), pool,
                              keys);
    if (c.link_series) simulation.sample_links(c.switches, span_of(c).slice);
    PeerRanks ranks(simulation, peers);
    RankedRun run(ranks, partition.lookahead);
    // One rank that is to stop stops all: they must take the same number of steps.
    const bool whole = drive(c, run, [&] { return peers.least(stop && stop() ? 0 : 1) == 0; });
    part = simulation.result();
    part.result.interrupted = !whole;
  }
  part.result.mbufs_leaked = leaked_since(pool, in_use_before);
  return part;
}

}  // namespace outrider::lab
