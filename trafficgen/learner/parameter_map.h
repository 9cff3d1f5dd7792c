#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "trafficgen/core/byte_range.h"

namespace outrider::tg {

/// Maps the bytes of a job's model to the parameters of a learner.
///
/// The learner is far smaller than the model whose bytes travel. Its P parameters are therefore
/// spread evenly over the model's B bytes, the servers' shards one after the other: parameter p is
/// at byte floor(p B / P). A range of bytes stands for the parameters whose bytes it contains. On
/// average, the share of parameters that a loss affects is the share of bytes, however large
/// packets and parameters are. The layers of a model profile are not considered.
class ParameterMap {
 public:
  /// The parameters [begin, end); may be empty.
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
  /// Returns the parameters that the server holds.
  [[nodiscard]] Range shard(std::uint32_t server) const noexcept {
    return {index_of(shards_[server].begin), index_of(shards_[server].end)};
  }
  /// Returns the parameters in a range of a shard's bytes. @pre the shard has these bytes
  [[nodiscard]] Range parameters(std::uint32_t server, const ByteRange& bytes) const noexcept {
    const std::uint64_t first = shards_[server].begin;
    assert(bytes.begin < bytes.end && first + bytes.end <= shards_[server].end);
    return {index_of(first + bytes.begin), index_of(first + bytes.end)};
  }

 private:
  /// Returns the index of the first parameter at or after a byte of the model.
  [[nodiscard]] std::size_t index_of(std::uint64_t byte) const noexcept {
    return static_cast<std::size_t>(std::ranges::lower_bound(bytes_, byte) - bytes_.begin());
  }

  std::vector<std::uint64_t> bytes_;  ///< [parameters], increasing
  std::vector<ByteRange> shards_;     ///< [servers], of the model
  std::uint64_t total_bytes_ = 0;
};

}  // namespace outrider::tg
