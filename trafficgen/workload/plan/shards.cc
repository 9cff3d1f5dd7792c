#include "trafficgen/workload/plan/shards.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace outrider::tg {

namespace {

/// Lays the tensors end to end in forward order and cuts them where a server's part ends.
std::vector<GradientPiece> cut_pieces(const ModelProfile& model, std::size_t servers) {
  const auto shards = even_shards(model.total_bytes, servers);
  std::vector<GradientPiece> pieces;
  std::uint64_t tensor_end = model.total_bytes;
  for (std::size_t t = model.tensors.size(); t-- > 0;) {
    const std::uint64_t tensor_begin = tensor_end - model.tensors[t].bytes;
    std::uint64_t shard_begin = 0;
    for (std::size_t s = 0; s < servers; ++s) {
      const std::uint64_t begin = std::max(tensor_begin, shard_begin);
      const std::uint64_t end = std::min(tensor_end, shard_begin + shards[s]);
      if (begin < end)
        pieces.push_back(
            {static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(s), end - begin});
      shard_begin += shards[s];
    }
    tensor_end = tensor_begin;
  }
  return pieces;
}

}  // namespace

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

std::vector<GradientPiece> pieces_of(const ModelProfile& model, std::size_t servers,
                                     ShardRule rule) {
  if (rule == ShardRule::kBytes) return cut_pieces(model, servers);
  const auto server_of = assign_tensors(model.tensors, servers, rule);
  std::vector<GradientPiece> pieces;
  for (std::size_t t = model.tensors.size(); t-- > 0;)
    pieces.push_back({static_cast<std::uint32_t>(t), server_of[t], model.tensors[t].bytes});
  return pieces;
}

std::vector<GradientPiece> cut_partitions(std::span<const GradientPiece> pieces,
                                          std::uint64_t partition_bytes) {
  assert(partition_bytes > 0);
  std::vector<GradientPiece> parts;
  for (GradientPiece piece : pieces) {
    for (std::uint64_t left = piece.bytes; left > 0; left -= piece.bytes) {
      piece.bytes = std::min(left, partition_bytes);
      parts.push_back(piece);
    }
  }
  return parts;
}

}  // namespace outrider::tg
