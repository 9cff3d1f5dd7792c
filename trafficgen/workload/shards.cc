#include "trafficgen/workload/shards.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace outrider {

std::vector<std::uint64_t> even_shards(std::uint64_t bytes, std::size_t servers) {
  std::vector<std::uint64_t> shards(servers, bytes / servers);
  for (std::size_t s = 0; s < bytes % servers; ++s) ++shards[s];
  return shards;
}

std::vector<std::uint32_t> assign_tensors(std::span<const Tensor> tensors, std::size_t servers,
                                          ShardRule rule) {
  assert(rule != ShardRule::kBytes);
  std::vector<std::uint32_t> server_of(tensors.size());
  if (rule == ShardRule::kRoundRobin) {
    for (std::size_t i = 0; i < tensors.size(); ++i)
      server_of[i] = static_cast<std::uint32_t>(i % servers);
    return server_of;
  }
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return tensors[a].bytes > tensors[b].bytes; });
  std::vector<std::uint64_t> held(servers, 0);
  for (const std::size_t i : order) {
    const auto least = std::ranges::min_element(held) - held.begin();
    held[static_cast<std::size_t>(least)] += tensors[i].bytes;
    server_of[i] = static_cast<std::uint32_t>(least);
  }
  return server_of;
}

std::vector<std::uint64_t> shard_bytes_of(const ModelProfile& model, std::size_t servers,
                                          ShardRule rule) {
  if (rule == ShardRule::kBytes) return even_shards(model.total_bytes, servers);
  const auto server_of = assign_tensors(model.tensors, servers, rule);
  std::vector<std::uint64_t> shards(servers, 0);
  for (std::size_t i = 0; i < server_of.size(); ++i) shards[server_of[i]] += model.tensors[i].bytes;
  return shards;
}

}  // namespace outrider
