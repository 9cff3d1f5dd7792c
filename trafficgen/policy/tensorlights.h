#pragma once

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace outrider::tg {

/// Assigns the bands of TensorLights to jobs whose servers share a NIC. Band 0 is served first.
///
/// The job at position i of J gets band floor(i / ceil(J / bands)). Jobs of smaller models come
/// first, jobs of equally large models in the order in which they are given. A rotation moves every
/// job by one position among the jobs of its model. Allocates at construction only.
///
/// Source: Huang, Chen and Ng, "TensorLights: End-Host Traffic Scheduling for Distributed
/// Deep Learning", HPBDC 2019, and the authors' agent. Deviation: models share the bands by
/// their jobs' positions, so that a band can hold jobs of two models.
class TensorLightsBands {
 public:
  /// @param model_bytes [jobs]  @param bands >= 1
  TensorLightsBands(std::span<const std::uint64_t> model_bytes, std::uint32_t bands)
      : jobs_per_band_((model_bytes.size() + bands - 1) / bands), order_(model_bytes.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::ranges::stable_sort(order_, {}, [&](std::size_t job) { return model_bytes[job]; });
    for (const std::size_t job : order_) {
      if (groups_.empty() || model_bytes[job] != model_bytes[order_[first_of_last_]]) {
        first_of_last_ = groups_.empty() ? 0 : first_of_last_ + groups_.back();
        groups_.push_back(0);
      }
      ++groups_.back();
    }
  }

  /// @param rotation number of rotations so far  @param out [jobs]
  void assign(std::uint64_t rotation, std::span<std::uint8_t> out) const noexcept {
    assert(out.size() == order_.size());
    std::size_t first = 0;
    for (const std::size_t jobs : groups_) {
      for (std::size_t i = 0; i < jobs; ++i) {
        const std::size_t position = first + (i + rotation) % jobs;
        out[order_[first + i]] = static_cast<std::uint8_t>(position / jobs_per_band_);
      }
      first += jobs;
    }
  }

 private:
  std::size_t jobs_per_band_;
  std::vector<std::size_t> order_;   ///< jobs by position before the first rotation
  std::vector<std::size_t> groups_;  ///< how many jobs each model has, smallest model first
  std::size_t first_of_last_ = 0;    ///< position at which the last group begins
};

}  // namespace outrider::tg
