#pragma once

#include <string>

namespace outrider::lab {

// What documentation says of metrics(). The command that renews it: `outrider-lab metrics --renew`.

/// All metrics for a terminal: name, unit and what it is.
std::string metrics_text();

/// docs/measurement.md with its table of metrics made anew, between two markers.
/// @throws std::runtime_error if the page has no markers
std::string renewed_page(const std::string& page);

/// docs/summary.schema.json with what a case's metrics are made anew.
/// @throws nlohmann::json::exception if it is no such schema
std::string renewed_schema(const std::string& schema);

}  // namespace outrider::lab
