#pragma once

#include <cstdint>
#include <vector>

#include "common/core/drop_reason.h"
#include "common/core/per_reason.h"
#include "common/telemetry/run_report.h"
#include "trafficgen/background/capture_report.h"
#include "trafficgen/background/flow_report.h"
#include "trafficgen/background/request_report.h"
#include "trafficgen/background/transfer_report.h"
#include "trafficgen/hosts/neighbour_report.h"
#include "trafficgen/hosts/payload_report.h"
#include "trafficgen/hosts/signal_messages.h"
#include "trafficgen/measure/connection_sample.h"
#include "trafficgen/measure/goodput.h"
#include "trafficgen/measure/roce_counters.h"
#include "trafficgen/measure/stream_report.h"
#include "trafficgen/transport/base/tcp_counters.h"
#include "trafficgen/workload/job/jobs_report.h"

namespace outrider::tg {

/// Identity: sent + received_from_devices == see Generator; per host
/// received == delivered to a connection + answered signals + sum(dropped).
struct GeneratorReport : RunReport, JobsReport, SignalMessages {
  std::uint64_t sent = 0;      ///< packets that left hosts' NICs
  std::uint64_t received = 0;  ///< packets handed to hosts
  std::uint64_t consumed = 0;  ///< of these, taken by a connection or as a signal
  PerReason<DropReason> drops{};
  std::uint64_t pauses_taken = 0;  ///< of those consumed: pause frames (PFC)
  /// Time in which they stopped a host's priority, summed over hosts and priorities.
  std::uint64_t paused_ns = 0;
  std::uint64_t mbuf_exhausted = 0;     ///< how often a NIC had to wait for a buffer
  std::uint64_t device_full_waits = 0;  ///< how often a NIC had to wait for its device
  /// How often a pool of [transport_memory] was empty: senders waited, or data out of order was
  /// refused.
  std::uint64_t flights_exhausted = 0;
  std::uint64_t segments_exhausted = 0;
  std::uint64_t disorders_exhausted = 0;
  TcpEvents tcp_events;
  bool jobs_finished = false;
  std::vector<RequestReport> requests;
  std::vector<GoodputBin> bins;
  std::vector<FlowGroupReport> flow_groups;
  RoceCounters background_roce;  ///< of all queue pairs of long flows and groups
  std::vector<CaptureReport> captures;
  NeighbourhoodReport neighbourhood;
  StreamsReport streams;
  std::vector<TransferReport> transfers;
  std::vector<ConnectionSample> connections;  ///< by host, then in the order of time
  PayloadReport payload;
};

}  // namespace outrider::tg
