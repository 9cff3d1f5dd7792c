#include "tools/lab/ranks/run_ranks.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tools/lab/plan/plan_jobs.h"
#include "tools/lab/ranks/rank_steps.h"
#include "tools/lab/ranks/rank_world.h"
#include "tools/lab/world/drive.h"

namespace outrider::lab {
namespace {

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
  void end_slice() {
    for (auto& world : worlds_) world->end_slice();
  }
  void change_to(const sw::SwitchProcessConfig& switches) {
    for (auto& world : worlds_) world->change_to(switches);
  }
  [[nodiscard]] bool finished() const {
    return std::ranges::all_of(worlds_, [](const auto& world) { return world->finished(); });
  }

 private:
  std::vector<std::unique_ptr<RankWorld>>& worlds_;
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
    std::vector<std::unique_ptr<RankWorld>> worlds;
    for (std::uint32_t rank = 0; rank < partition.ranks; ++rank)
      worlds.push_back(std::make_unique<RankWorld>(with_keys(c.switches, keys), c.traffic,
                                                   partition, rank, *pools[rank], keys));
    if (c.link_series)
      for (auto& world : worlds) world->sample_links(c.switches, span_of(c).slice);
    TurnRanks ranks(worlds);
    RankedRun run(ranks, partition.lookahead);
    whole = drive(c, run, stop);
    for (auto& world : worlds) parts.push_back(rank_result_from(serialize(world->result())));
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
    RankWorld world(with_keys(c.switches, keys), c.traffic, partition, peers.rank(), pool, keys);
    if (c.link_series) world.sample_links(c.switches, span_of(c).slice);
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
