#pragma once

#include <vector>

#include "common/telemetry/run_report.h"
#include "trafficgen/background/capture_report.h"
#include "trafficgen/background/flow_report.h"
#include "trafficgen/background/request_report.h"
#include "trafficgen/background/transfer_report.h"
#include "trafficgen/hosts/connection_sample.h"
#include "trafficgen/measure/generator_counts.h"
#include "trafficgen/measure/goodput.h"
#include "trafficgen/measure/roce_counters.h"
#include "trafficgen/measure/stream_report.h"
#include "trafficgen/neighbours/neighbour_report.h"
#include "trafficgen/workload/job/jobs_report.h"

namespace outrider::tg {

/// Identity: sent + received_from_devices == see Generator; per host
/// received == delivered to a connection + answered signals + sum(dropped).
struct GeneratorReport : RunReport, JobsReport, GeneratorCounts {
  bool jobs_finished = false;
  std::vector<RequestReport> requests;
  std::vector<GoodputBin> bins;
  std::vector<FlowGroupReport> flow_groups;
  RoceCounters background_roce;  ///< of all queue pairs of background and transfers
  std::vector<CaptureReport> captures;
  NeighbourhoodReport neighbourhood;
  StreamsReport streams;
  std::vector<TransferReport> transfers;
  std::vector<ConnectionSample> connections;  ///< by host, then in the order of time
};

}  // namespace outrider::tg
