#pragma once

#include <string>

#include "switch/report/report.h"

namespace outrider::sw {

/// Returns the report as JSON text, with the schema version. switch_report_from_json(to_json(r))
/// equals r; histograms keep their non-empty buckets.
std::string to_json(const SwitchReport& report);

/// Reads what to_json() has written.
/// @throws std::runtime_error naming what is missing or of the wrong type
SwitchReport switch_report_from_json(const std::string& text);

}  // namespace outrider::sw
