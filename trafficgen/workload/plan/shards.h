#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trafficgen/policy/send_policy.h"
#include "trafficgen/workload/config/job_config.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::tg {

/// Returns the bytes that each of `servers` holds if tensors may be cut anywhere. The parts are
/// equal; the first ones take the remainder. @pre servers > 0
std::vector<std::uint64_t> even_shards(std::uint64_t bytes, std::size_t servers);

/// Returns the server of each tensor. kRoundRobin: tensor i goes to server i mod servers.
/// kBalanced: tensors in decreasing size (the earlier of equal ones first), each to the server that
/// holds least (the first of equal ones). @pre rule is not kBytes
std::vector<std::uint32_t> assign_tensors(std::span<const Tensor> tensors, std::size_t servers,
                                          ShardRule rule);

/// Returns the bytes that each server holds, under any rule.
std::vector<std::uint64_t> shard_bytes_of(const ModelProfile& model, std::size_t servers,
                                          ShardRule rule);

/// Returns the pieces of the model: each is the part of one tensor that one server holds. They are
/// in the order in which the backward pass makes them: tensors from last to first, parts by server.
std::vector<GradientPiece> pieces_of(const ModelProfile& model, std::size_t servers,
                                     ShardRule rule);

/// Cuts every piece into parts of `partition_bytes`, whose last one takes the remainder. Keeps the
/// order of the pieces. @pre partition_bytes > 0
std::vector<GradientPiece> cut_partitions(std::span<const GradientPiece> pieces,
                                          std::uint64_t partition_bytes);

}  // namespace outrider::tg
