#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "tools/lab/summary/summary.h"

namespace outrider::lab {

/// One field of a case's `metrics` in summary.json, or an object that holds such fields.
struct CaseField {
  std::string_view place;  ///< JSON pointer
  std::string_view help;   ///< for the schema; may be empty where the name says all
  nlohmann::ordered_json (*schema)();
  nlohmann::ordered_json (*value)(const CaseSummary&);  ///< nullptr: an object for what follows
  bool (*there)(const CaseMetrics&) = nullptr;  ///< of an object: whether a case has it, or nullptr
};

/// In the order of summary.json. The fields of an object come after its own row, if it has one.
std::span<const CaseField> case_fields();

/// `metrics` of a case: the fields, then the metrics that have no other place there.
nlohmann::ordered_json case_metrics_json(const CaseSummary& c);

/// The schema of that.
nlohmann::ordered_json case_metrics_schema();

}  // namespace outrider::lab
