#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"

namespace outrider::agent {

/// One burst of one flow, whole.
struct RecordedBurst {
  std::size_t flow = 0;
  bool pull = false;  ///< from a server
  Time begun{};
  Time ended{};             ///< last payload
  std::uint64_t bytes = 0;  ///< payload
};

/// Makes of a worker's bursts what a job of outrider-trafficgen replays: the median push of
/// each flow, and the median time from a pull's end (of the worker's last flow) to the next
/// push (of its first), which is when the worker computes.
///
/// Bounded by its caller's flows: of each, and of the computing times, the last kKept count.
/// Bursts come in the order of their ends, per flow. Not thread-safe.
class JobProfile {
 public:
  static constexpr std::size_t kKept = 4096;

  void add(const RecordedBurst& burst);
  /// The flow is no part of the result, unless it comes back.
  void forget(std::size_t flow);

  struct Result {
    std::vector<std::uint64_t> push_bytes;  ///< [flows that push], medians
    std::uint64_t pull_bytes = 0;           ///< of all flows together, medians
    Duration compute{};                     ///< median
    std::size_t iterations = 0;  ///< times from pull to push that were seen, at most kKept
  };
  /// Nothing before a push has followed a pull.
  [[nodiscard]] std::optional<Result> result() const;

 private:
  struct Bytes {
    bool pull = false;
    std::vector<std::uint64_t> values{};  ///< up to kKept, a ring
    std::size_t next = 0;
  };

  std::map<std::size_t, Bytes> flows_;
  std::vector<std::int64_t> computes_ns_;  ///< up to kKept, a ring
  std::size_t next_compute_ = 0;
  std::optional<Time> pulled_at_{};  ///< since the last push
};

/// A model profile (conf/models) that outrider-trafficgen reads: a tensor for each flow.
/// Forward to backward pass 1:2 is an assumption, as in the other profiles.
std::string profile_toml(const JobProfile::Result& result, const std::string& name);

}  // namespace outrider::agent
