#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "common/core/histogram.h"
#include "common/net/hop_trace.h"

namespace outrider::tg {

/// What probes met at one queue of one switch.
struct HopReport {
  std::uint32_t switch_id = 0;
  std::uint32_t port = 0;
  std::uint32_t queue = 0;
  std::uint64_t probes = 0;            ///< that recorded this hop
  std::uint32_t max_left_packets = 0;  ///< that a probe left behind in the queue
  std::uint32_t max_left_bytes = 0;
  Histogram sojourn_ns;  ///< up to 4.29 s, see hop_trace.h
};

/// What a stream's probes recorded on their way. Identity: probes == rest_ns.count() +
/// incomplete.
struct HopsReport {
  std::uint64_t probes = 0;      ///< packets that came with a trace
  std::uint64_t incomplete = 0;  ///< of them: some hop found no room
  std::uint64_t elsewhere = 0;   ///< records of queues beyond the first kMaxHopReports
  std::vector<HopReport> hops;   ///< in the order in which they were first met
  /// Latency of a probe less its sojourns: serialisation and propagation, which are the
  /// same for all probes of a size and a path, and what the machines added.
  Histogram rest_ns;
};

inline constexpr std::size_t kMaxHopReports = 16;  ///< queues, over all paths of a stream

/// Sums up the traces of one stream. Memory is taken at construction. Not thread-safe.
class HopTracker {
 public:
  /// @param samples  probes kept as they are
  explicit HopTracker(std::uint32_t samples) : max_samples_(samples) {
    report_.hops.reserve(kMaxHopReports);
    samples_.reserve(samples);
  }

  void on_probe(std::uint32_t flow, std::uint32_t sequence, std::uint64_t latency_ns,
                const hop_trace::Trace& trace) noexcept;

  [[nodiscard]] const HopsReport& report() const noexcept { return report_; }
  /// Lines of the kept probes, a hop each: "NAME,flow,sequence,latency_ns,hop,switch,port,
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
