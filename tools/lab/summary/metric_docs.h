#pragma once

#include <string>

namespace outrider::lab {

// Documentation made from metrics(). The command `outrider-lab metrics --renew` renews it.

/// Returns all metrics for a terminal: name, unit and help.
std::string metrics_text();

/// Returns docs/measurement.md with a new table of metrics between the page's two markers.
/// @throws std::runtime_error if the page has no markers
std::string renewed_page(const std::string& page);

/// Returns docs/summary.schema.json with a new schema of a case's metrics.
/// @throws nlohmann::json::exception if `schema` is no such schema
std::string renewed_schema(const std::string& schema);

}  // namespace outrider::lab
