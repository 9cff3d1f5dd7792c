#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "trafficgen/background/flow_arrivals.h"
#include "trafficgen/background/flow_report.h"

namespace outrider::tg {

/// A flow that has ended. Instants that never came are -1.
struct EndedFlow {
  FlowArrival arrival;
  std::int64_t established_ns = -1;
  std::int64_t delivered_ns = -1;
  std::uint64_t slowdown_milli = 0;
  std::uint64_t retransmitted = 0;
  std::uint64_t rtos = 0;
};

/// Counts what becomes of a group's flows and keeps the records of some, whatever carries them.
/// Nothing allocates after construction. Not thread-safe.
class FlowTally {
 public:
  /// @param offered  payload rate. @param records  number of flows whose records are kept
  FlowTally(std::string name, BitRate offered, std::uint32_t records);

  void arrive(const FlowArrival& a) noexcept {
    ++report_.arrivals;
    report_.arrived_bytes += a.bytes;
  }
  /// Why a flow was not offered.
  enum class Refusal : std::uint8_t {
    kNoPlace,  ///< as many flows are open, or queue pairs in use, as may be
    kNoPort,   ///< every port to the receiver is in use or in TIME-WAIT
  };
  void refuse(const FlowArrival& a, Refusal why) noexcept {
    if (report_.refused++ == 0) report_.first_refused_ns = a.at.time_since_epoch().count();
    report_.refused_no_port += why == Refusal::kNoPort;
  }
  void begin() noexcept { ++in_progress_; }
  void deliver(std::uint64_t bytes) noexcept { report_.delivered_bytes += bytes; }
  void complete(const FlowArrival& a, std::int64_t took_ns) noexcept;
  /// Notes the slowdown of a completed flow, once it is known.
  void slow_down(const FlowArrival& a, std::uint64_t slowdown_milli) noexcept;
  void fail() noexcept {
    ++report_.failed;
    --in_progress_;
  }
  void add_repairs(std::uint64_t retransmitted, std::uint64_t rtos_data,
                   std::uint64_t rtos_handshake) noexcept {
    report_.retransmitted += retransmitted;
    report_.rtos_data += rtos_data;
    report_.rtos_handshake += rtos_handshake;
  }
  /// Keeps the record of a flow if there is room.
  void keep(const EndedFlow& flow) noexcept;

  [[nodiscard]] const std::string& name() const noexcept { return report_.name; }
  [[nodiscard]] FlowGroupCounts counts() const noexcept {
    FlowGroupCounts counts = report_;
    counts.open = in_progress_;
    return counts;
  }
  /// Returns how many flows have begun and are neither delivered nor given up.
  [[nodiscard]] std::uint64_t open() const noexcept { return in_progress_; }
  /// @param from,to  names of the hosts that arrivals number
  [[nodiscard]] FlowGroupReport report(const std::vector<std::string>& from,
                                       const std::vector<std::string>& to) const;

 private:
  struct Ends {
    std::uint32_t from, to;
  };
  [[nodiscard]] FlowClassReport& class_of(const FlowArrival& a) noexcept;

  std::uint32_t most_records_;
  FlowGroupReport report_;
  std::vector<Ends> ends_;         ///< [report_.records]
  std::uint64_t in_progress_ = 0;  ///< flows neither completed nor failed
};

}  // namespace outrider::tg
