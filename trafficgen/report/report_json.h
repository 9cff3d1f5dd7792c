#pragma once

#include <string>

#include "trafficgen/report/report.h"

namespace outrider::tg {

/// Returns the text form of a report, with its schema version; from_json(to_json(r)) equals r.
std::string to_json(const GeneratorReport& report);

/// @throws std::runtime_error naming the field that is missing or of the wrong type
GeneratorReport generator_report_from_json(const std::string& text);

}  // namespace outrider::tg
