#pragma once

#include <nlohmann/json.hpp>

#include "tools/lab/summary/summary.h"

// Fields of a case whose values are objects or arrays of their own: value and schema of each.

namespace outrider::lab::case_field_rows {

nlohmann::ordered_json signals_of(const CaseSummary& c);
nlohmann::ordered_json signals_schema();

nlohmann::ordered_json roce_of(const CaseSummary& c);
nlohmann::ordered_json roce_schema();

nlohmann::ordered_json completions_of(const CaseSummary& c);

nlohmann::ordered_json each_job(const CaseSummary& c);
nlohmann::ordered_json each_job_schema();
nlohmann::ordered_json groups_of(const CaseSummary& c);
nlohmann::ordered_json groups_schema();

nlohmann::ordered_json tiers_of_links(const CaseSummary& c);
nlohmann::ordered_json tiers_of_links_schema();

nlohmann::ordered_json mean_times(const CaseSummary& c);
nlohmann::ordered_json mean_times_schema();

}  // namespace outrider::lab::case_field_rows
