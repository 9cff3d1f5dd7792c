#pragma once

#include <string>

#include "switch/report/report.h"

namespace outrider::sw {

/// Text form of a report, schema version inside; from_json(to_json(r)) equals r
/// (histograms as their non-empty buckets).
std::string to_json(const SwitchReport& report);

/// @throws std::runtime_error naming what is missing or of the wrong type
SwitchReport switch_report_from_json(const std::string& text);

}  // namespace outrider::sw
