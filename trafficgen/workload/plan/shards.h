#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trafficgen/policy/send_policy.h"
#include "trafficgen/workload/config/job_config.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::tg {

/// Bytes that each of `servers` holds if tensors may be cut anywhere: equal, the
/// first ones take what is left over. @pre servers > 0
std::vector<std::uint64_t> even_shards(std::uint64_t bytes, std::size_t servers);

/// Server of each tensor. kRoundRobin: tensor i to server i mod servers.
/// kBalanced: the largest tensor first (of equal ones the earlier), each to the
/// server that holds least (of equal ones the first). @pre rule is not kBytes
std::vector<std::uint32_t> assign_tensors(std::span<const Tensor> tensors, std::size_t servers,
                                          ShardRule rule);

/// Bytes that each server holds under any rule.
std::vector<std::uint64_t> shard_bytes_of(const ModelProfile& model, std::size_t servers,
                                          ShardRule rule);

/// Every part of a tensor that one server holds, in the order in which the backward
/// pass makes them: tensors from the last to the first, parts by server.
std::vector<GradientPiece> pieces_of(const ModelProfile& model, std::size_t servers,
                                     ShardRule rule);

/// Every piece cut into parts of `partition_bytes`, the last of it what is left, in their
/// order. @pre partition_bytes > 0
std::vector<GradientPiece> cut_partitions(std::span<const GradientPiece> pieces,
                                          std::uint64_t partition_bytes);

}  // namespace outrider::tg
