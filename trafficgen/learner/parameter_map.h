#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "common/core/byte_range.h"

namespace outrider::tg {

/// Which bytes of a job's model stand for which of a learner's parameters.
///
/// The learner is far smaller than the model whose bytes travel, so its P parameters are
/// spread evenly over the model's B bytes, the servers' shards one after the other:
/// parameter p is the byte floor(p B / P). A range of bytes stands for the parameters
/// whose byte it contains, so that the share of parameters that a loss hits is, on
/// average, its share of the bytes, however large packets and parameters are. Layers of
/// a model profile are not followed.
class ParameterMap {
 public:
  /// Parameters [begin, end); may be empty.
  struct Range {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool operator==(const Range&) const = default;
    [[nodiscard]] std::size_t size() const noexcept { return end - begin; }
  };

  /// @pre 0 < parameters <= sum of shard_bytes
  ParameterMap(std::uint64_t parameters, std::span<const std::uint64_t> shard_bytes) {
    for (const std::uint64_t bytes : shard_bytes) {
      shards_.push_back({total_bytes_, total_bytes_ + bytes});
      total_bytes_ += bytes;
    }
    assert(parameters > 0 && parameters <= total_bytes_);
    const std::uint64_t whole = total_bytes_ / parameters, rest = total_bytes_ % parameters;
    bytes_.reserve(parameters);
    for (std::uint64_t p = 0; p < parameters; ++p)
      bytes_.push_back(p * whole + p * rest / parameters);
  }

  [[nodiscard]] std::size_t parameters() const noexcept { return bytes_.size(); }
  /// Those that the server holds.
  [[nodiscard]] Range shard(std::uint32_t server) const noexcept {
    return {index_of(shards_[server].begin), index_of(shards_[server].end)};
  }
  /// Those of a range of a shard's bytes. @pre the shard has these bytes
  [[nodiscard]] Range parameters(std::uint32_t server, const ByteRange& bytes) const noexcept {
    const std::uint64_t first = shards_[server].begin;
    assert(bytes.begin < bytes.end && first + bytes.end <= shards_[server].end);
    return {index_of(first + bytes.begin), index_of(first + bytes.end)};
  }

 private:
  /// Of the first parameter at or behind a byte of the model.
  [[nodiscard]] std::size_t index_of(std::uint64_t byte) const noexcept {
    return static_cast<std::size_t>(std::ranges::lower_bound(bytes_, byte) - bytes_.begin());
  }

  std::vector<std::uint64_t> bytes_;  ///< [parameters], increasing
  std::vector<ByteRange> shards_;     ///< [servers], of the model
  std::uint64_t total_bytes_ = 0;
};

}  // namespace outrider::tg
