#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <string>

#include "tools/hostagent/job_profile.h"

namespace outrider::agent {

/// bursts.csv of a recording: a row a burst, in the order of being handed over; times count
/// from the first burst's begin. Bounded in rows, and by its caller's flows. Throws AgentError if
/// the file cannot be written.
class BurstCsv {
 public:
  BurstCsv(const std::string& path, std::uint64_t max_rows);

  void add(const RecordedBurst& burst);
  /// The flow's next burst, if there is one, has no gap.
  void forget(std::size_t flow);
  /// Everything is on its way to the disk.
  void close();
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  /// Bursts beyond the bound.
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  std::string path_;
  std::ofstream out_;
  std::uint64_t max_rows_;
  std::uint64_t rows_ = 0;
  std::uint64_t left_out_ = 0;
  Time origin_{};
  std::map<std::size_t, Time> ended_;  ///< last burst of each flow
};

}  // namespace outrider::agent
