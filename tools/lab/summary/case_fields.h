#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// One field of a case's `metrics` in summary.json, or an object that holds such fields.
struct CaseField {
  std::string_view place;  ///< JSON pointer
  std::string_view help;   ///< for the schema; may be empty if the name says enough
  nlohmann::ordered_json (*schema)();
  nlohmann::ordered_json (*value)(const CaseSummary&);  ///< nullptr: an object for the next rows
  bool (*there)(const CaseMetrics&) = nullptr;  ///< whether a case has this object; may be nullptr
};

/// Returns all fields in the order of summary.json. The fields of an object follow its own row, if
/// it has one.
std::span<const CaseField> case_fields();

/// Returns `metrics` of a case: the fields, then the metrics that have no other place in it.
nlohmann::ordered_json case_metrics_json(const CaseSummary& c);

/// Returns the schema of case_metrics_json().
nlohmann::ordered_json case_metrics_schema();

}  // namespace outrider::lab
