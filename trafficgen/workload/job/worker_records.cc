// A worker's records of an iteration that do not come from the network's events.
#include "trafficgen/workload/job/worker.h"

namespace outrider::tg {

/// Notes the bytes of all traffic that the NIC sent and received since the last iteration ended.
void Worker::note_nic(IterationRecord& record) noexcept {
  const HostCounters& c = host_.counters();
  const std::uint64_t sent = c.sent_bytes + c.sent * kL1OverheadBytes;
  const std::uint64_t received = c.received_bytes + c.received * kL1OverheadBytes;
  const auto on_wire_ns = [this](std::uint64_t bytes) {
    return static_cast<std::int64_t>(static_cast<double>(bytes) * 8e9 /
                                     static_cast<double>(host_.setup().rate.bits_per_second));
  };
  record.nic_sending_ns = on_wire_ns(sent - nic_sent_bytes_);
  record.nic_receiving_ns = on_wire_ns(received - nic_received_bytes_);
  nic_sent_bytes_ = sent;
  nic_received_bytes_ = received;
}

}  // namespace outrider::tg
