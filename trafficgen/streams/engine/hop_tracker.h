#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/net/hop_trace.h"
#include "trafficgen/measure/stream_report.h"

namespace outrider::tg {

/// Summarises the traces of one stream. Memory is allocated at construction. Not thread-safe.
class HopTracker {
 public:
  /// @param samples  largest number of probes kept in full
  explicit HopTracker(std::uint32_t samples) : max_samples_(samples) {
    report_.hops.reserve(kMaxHopReports);
    samples_.reserve(samples);
  }

  void on_probe(std::uint32_t flow, std::uint32_t sequence, std::uint64_t latency_ns,
                const hop_trace::Trace& trace) noexcept;

  [[nodiscard]] const HopsReport& report() const noexcept { return report_; }
  /// Returns the kept probes as lines, one per hop: "NAME,flow,sequence,latency_ns,hop,switch,port,
  /// queue,sojourn_ns,left_packets,left_bytes".
  [[nodiscard]] std::string csv_lines(const std::string& name) const;

 private:
  struct Sample {
    std::uint32_t flow;
    std::uint32_t sequence;
    std::uint64_t latency_ns;
    hop_trace::Trace trace;
  };
  [[nodiscard]] HopReport* at(const hop_trace::Record& record) noexcept;

  HopsReport report_;
  std::uint32_t max_samples_;
  std::vector<Sample> samples_{};
};

}  // namespace outrider::tg
