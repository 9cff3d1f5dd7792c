#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "common/core/snapshot_cell.h"
#include "switch/config/config.h"
#include "switch/report/counts.h"
#include "switch/report/report.h"

namespace outrider {
class PollDevices;
}

namespace outrider::sw {

/// What the loop of one lcore says of itself.
struct LoopSnapshot {
  std::int64_t at_ns = 0;       ///< since the run began
  std::uint64_t malformed = 0;  ///< received in more than one segment; dropped
  std::uint64_t on_links = 0;   ///< packets on emulated wires
  std::uint64_t between = 0;    ///< packets on the way to other lcores
  std::uint64_t links_up = 0;   ///< bit d: that of device d; the first loop says
  std::int64_t longest_poll_gap_ns = 0;
  std::int64_t busy_ns = 0;  ///< in polls that found packets
};

struct PortSnapshot {
  std::int64_t at_ns = 0;
  std::uint64_t in_service = 0;  ///< begun to send and not handed to the device
  std::uint64_t signals_waiting = 0;
};

struct DeviceSnapshot {
  PerClass<std::uint64_t> tx_dropped{};
};

/// What the owner of an egress port writes.
struct PortCells {
  explicit PortCells(std::size_t n) : queues(n) {}
  SnapshotCell<PortSnapshot> port;
  std::vector<SnapshotCell<QueueCounts>> queues;
};

/// Cells of one switch: each has one writer.
struct SwitchCells {
  explicit SwitchCells(std::size_t n) : lanes(n) {}
  std::vector<SnapshotCell<LaneCounts>> lanes;
  std::deque<PortCells> ports;
};

/// What the lcores of a process hand out while they forward. Each owner writes its own
/// cells, ten times a second and at the end; anyone reads them, as a report. Live view,
/// DPDK telemetry and Prometheus show nothing else.
///
/// Cells are written one after the other: within a queue, a lane, a device all numbers are
/// of the same instant, between them up to a tenth of a second lies.
class SwitchSnapshots {
 public:
  /// @param loops  lcores that forward: each has a lane of every switch
  /// @param devices of the configuration, for what they lost; nullptr: none. Must outlive
  explicit SwitchSnapshots(const SwitchProcessConfig& config, std::size_t loops = 1,
                           const PollDevices* devices = nullptr);

  // For the owners; none waits.
  [[nodiscard]] SnapshotCell<LoopSnapshot>& loop(std::size_t index) noexcept {
    return loops_[index];
  }
  [[nodiscard]] SnapshotCell<DeviceSnapshot>& device(std::size_t index) noexcept {
    return devices_[index];
  }
  [[nodiscard]] SwitchCells& cells(std::size_t sw) noexcept { return switches_[sw]; }

  /// The report as of now, without what only the end knows: records, series, histograms.
  /// `ledger_balanced` says whether each queue accounts for its packets. Any thread.
  [[nodiscard]] SwitchReport read() const;

  /// Name of each device, what it dropped and whether its link is up. Any thread.
  struct Device {
    std::string name;
    DeviceSnapshot state;
    bool up = false;
  };
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

/// Adds what a lane has counted before a port to the report.
void add_lane(SwitchReport& report, const LaneCounts& lane);
/// Adds what a queue has counted to the totals. @return false if the queue's identity fails
[[nodiscard]] bool add_queue(SwitchReport& report, const QueueCounts& queue);

}  // namespace outrider::sw
