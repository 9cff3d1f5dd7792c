#pragma once

#include <string>
#include <vector>

#include "trafficgen/report/report.h"

namespace outrider::tg {

struct CsvFile {
  std::string name;  ///< e.g. "bursts.csv"
  std::string text;
};

/// Returns a report as tables: bursts, iterations, jobs, flows, goodput, flow-groups, flow-classes,
/// flow-records, requests, request-samples, transfers, connections, streams. Tables without rows
/// are left out. The first line names the columns with their units; the names are those of the JSON
/// report.
std::vector<CsvFile> csv_files(const GeneratorReport& report);

}  // namespace outrider::tg
