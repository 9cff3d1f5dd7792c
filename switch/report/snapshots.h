#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/core/snapshot_cell.h"
#include "common/core/units.h"
#include "switch/config/config.h"
#include "switch/report/counts.h"
#include "switch/report/report.h"

namespace outrider {
class PollDevices;
}

namespace outrider::sw {

/// The state that the loop of one lcore reports about itself.
struct LoopSnapshot {
  std::int64_t at_ns = 0;       ///< time since the run began
  std::uint64_t malformed = 0;  ///< received in more than one segment, and dropped
  std::uint64_t on_links = 0;   ///< packets on emulated links
  std::uint64_t between = 0;    ///< packets on the way to other lcores
  std::uint64_t links_up = 0;   ///< bit d: device d's link is up; only the first loop sets it
  std::int64_t longest_poll_gap_ns = 0;
  std::int64_t busy_ns = 0;  ///< in polls that found packets
};

struct PortSnapshot {
  std::int64_t at_ns = 0;
  std::uint64_t in_service = 0;  ///< packets being sent, not handed to the device yet
  std::uint64_t signals_waiting = 0;
  BitRate drain_rate{};
  std::uint64_t overhead_bytes = 0;  ///< that the rate counts with each frame
};

/// The rate at which a port sends now.
struct PortRate {
  std::string switch_name{};
  std::string port_name{};
  BitRate rate{};
  std::uint64_t overhead_bytes = 0;  ///< that the rate counts with each frame
};

struct DeviceSnapshot {
  PerClass<std::uint64_t> tx_dropped{};
};

/// The cells that the owner of an egress port writes.
struct PortCells {
  explicit PortCells(std::size_t n) : queues(n) {}
  SnapshotCell<PortSnapshot> port;
  std::vector<SnapshotCell<QueueCounts>> queues;
};

/// The cells of one switch. Each cell has one writer.
struct SwitchCells {
  explicit SwitchCells(std::size_t n) : lanes(n) {}
  std::vector<SnapshotCell<LaneCounts>> lanes;
  std::deque<PortCells> ports;
};

/// Holds the counters that the lcores of a process publish while they forward. Each owner
/// writes its own cells ten times a second and at the end. Any thread can read them as a
/// report. Live view, DPDK telemetry and Prometheus show only these counters.
///
/// Cells are written one after the other. All numbers of one queue, lane or device are from the
/// same instant; those of different ones may be up to a tenth of a second apart.
class SwitchSnapshots {
 public:
  /// @param loops  number of lcores that forward; each has a lane in every switch
  /// @param devices  of the configuration, read for their losses; nullptr: none. They must
  /// outlive this object
  explicit SwitchSnapshots(const SwitchProcessConfig& config, std::size_t loops = 1,
                           const PollDevices* devices = nullptr);

  // For the owners. Writing a cell never waits.
  [[nodiscard]] SnapshotCell<LoopSnapshot>& loop(std::size_t index) noexcept {
    return loops_[index];
  }
  [[nodiscard]] SnapshotCell<DeviceSnapshot>& device(std::size_t index) noexcept {
    return devices_[index];
  }
  [[nodiscard]] SwitchCells& cells(std::size_t sw) noexcept { return switches_[sw]; }

  /// Returns the report as of now, without records, time series and histograms, which only the
  /// final report has. `ledger_balanced` says whether each queue accounts for its packets. Any
  /// thread.
  [[nodiscard]] SwitchReport read() const;

  /// Returns the rates of all ports. Any thread.
  [[nodiscard]] std::vector<PortRate> read_rates() const;

  /// The name of a device, its drops and whether its link is up.
  struct Device {
    std::string name;
    DeviceSnapshot state;
    bool up = false;
  };
  /// Returns the state of all devices. Any thread.
  [[nodiscard]] std::vector<Device> read_devices() const;

 private:
  struct Names {
    std::string name;
    std::vector<std::string> ports;
  };

  void add_switch(SwitchReport& report, std::size_t index) const;

  const PollDevices* polled_;
  std::vector<std::string> device_names_;
  std::vector<Names> names_;  ///< [switches]
  std::vector<SnapshotCell<LoopSnapshot>> loops_;
  std::vector<SnapshotCell<DeviceSnapshot>> devices_;
  std::deque<SwitchCells> switches_;
};

/// Adds the counters of a lane to the report.
void add_lane(SwitchReport& report, const LaneCounts& lane);
/// Adds the counters of a queue to the totals. @return false if the queue's identity fails
[[nodiscard]] bool add_queue(SwitchReport& report, const QueueCounts& queue);

}  // namespace outrider::sw
