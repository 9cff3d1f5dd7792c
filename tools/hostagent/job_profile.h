#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/core/clock.h"

namespace outrider::agent {

/// One complete burst of one flow.
struct RecordedBurst {
  std::size_t flow = 0;
  bool pull = false;  ///< comes from a server
  Time begun{};
  Time ended{};             ///< time of the last payload
  std::uint64_t bytes = 0;  ///< payload bytes
};

/// Derives from a worker's bursts what a job of outrider-trafficgen replays: the median push of
/// each flow, and the median time that the worker computes. That time is measured from the end
/// of a pull (of the worker's last flow) to the next push (of its first flow). All computing times
/// are kept in order, so that a replay varies as the recording did.
///
/// Only the last kKept bursts of each flow and the last kKept computing times count. The number
/// of flows is bounded by the caller. Bursts come in the order of their ends, per flow. Not
/// thread-safe.
class JobProfile {
 public:
  static constexpr std::size_t kKept = 4096;

  void add(const RecordedBurst& burst);
  /// Removes a flow from the result, until it comes back.
  void forget(std::size_t flow);

  struct Result {
    std::vector<std::uint64_t> push_bytes;  ///< [flows that push] median burst
    std::uint64_t pull_bytes = 0;           ///< sum of the median bursts of flows that pull
    Duration compute{};                     ///< median computing time
    std::vector<Duration> computes;         ///< computing times in order, at most kKept
  };
  /// Returns the result, or nothing before a push has followed a pull.
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
  std::optional<Time> pulled_at_{};  ///< end of the latest pull since the last push
};

/// Returns a model profile (see conf/models) for outrider-trafficgen, with a tensor for each
/// flow. As in the other profiles, forward and backward pass are assumed to take times of 1:2.
std::string profile_toml(const JobProfile::Result& result, const std::string& name);

}  // namespace outrider::agent
