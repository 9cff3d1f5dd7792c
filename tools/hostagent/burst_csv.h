#pragma once

#include <cstdint>
#include <fstream>
#include <map>
#include <string>

#include "common/telemetry/sole_writer.h"
#include "tools/hostagent/job_profile.h"

namespace outrider::agent {

/// Writes bursts.csv of a recording, one row per burst, in the order of add(). Times count from
/// the begin of the first burst. The number of rows is bounded, and memory is bounded by the
/// caller's number of flows. Until close() the file is called PATH.partial, and it stays there if
/// it cannot be written whole. Throws AgentError if it cannot be written.
class BurstCsv {
 public:
  BurstCsv(const std::string& path, std::uint64_t max_rows);

  void add(const RecordedBurst& burst);
  /// Forgets a flow. If it has another burst, that row has no gap to the one before.
  void forget(std::size_t flow);
  /// Flushes the file and gives it its name.
  void close();
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  /// Returns the number of bursts that were beyond the bound.
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  std::string path_;
  std::string partial_;
  SoleWriter claim_;  ///< of partial_
  std::ofstream out_;
  int error_ = 0;  ///< errno of the first write that failed
  std::uint64_t max_rows_;
  std::uint64_t rows_ = 0;
  std::uint64_t left_out_ = 0;
  Time origin_{};
  std::map<std::size_t, Time> ended_;  ///< end of each flow's last burst
};

}  // namespace outrider::agent
