#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/lab/report/report_bursts.h"
#include "tools/lab/summary/results.h"

namespace outrider::lab {

using ReportJson = nlohmann::ordered_json;

inline constexpr int kReportSchemaVersion = 1;

/// What `outrider-lab advise` puts beside the results of which its advice is made.
inline constexpr const char* kAdviceFile = "advice.txt";

/// Returns the data of the page, made from results.sqlite and environment.json of a bundle. Times
/// are seconds unless a name says otherwise. A value that is not defined is null.
///
///   schema_version, experiment, question, runtime, interrupted, cases, planned_cases, seeds
///   queue          switch, port, queue, drain_bits_per_second of the measured queue
///   base_rtt_seconds
///   advice         the text of kAdviceFile, which the page shows first, or null
///   paper          figures of the PCN paper if this is its experiment, else null
///   warnings       sentences, as answer_of_result() has them
///   points[]       name, answer[] of {kind, text}, cost {basis, lead_seconds, window_seconds},
///                  views {start, due}: {from_ms, step_ms, cells}
///   sweep[]        sentences over all points, if there are several
///   arms[]         label, name (unique at its point), point, off, seeds[], iterations,
///                  metrics {name: [value, low, high, change, its low, its high]},
///                  against (label of its baseline, empty: off), beside[],
///                  against_off: those of metrics that are otherwise against off
///                  times_ms (sorted communication times, 200 quantiles if there are more),
///                  alone_ms (median communication time of its point's off arm without background),
///                  attribution {part: mean ms} or null, marks[] and drops[] of
///                  {class, reason, measured, all} per run,
///                  views {start, due}: {queue: {mean, low, high}, threshold, background, ddl},
///                  bursts[] of [seed, job, iteration, worker, due, START, ACK, first sent,
///                  first at the queue, delivered, RTOs], instants in ms from the iteration's due,
///                  collectives[]: see CollectiveSummary, or null,
///                  jobs[]: see jobs_json(), hosts: see HostLines::json(), links, jobs_over_time:
///                  see add_fabric()
///   metrics[]      {name, unit and scale of the display, help, over (how seeds are aggregated),
///                  change (whether the ratio to off is meaningful)}
///   settings       varying {name: [value of each arm]}, common {name: value}
///   environment    environment.json
///
/// Only reads: the same files give the same value.
/// @throws std::runtime_error naming the file and what is wrong with it
ReportJson report_data(const std::filesystem::path& directory);

/// Returns a value rounded to five significant digits, which exceeds the precision of every
/// figure here; null if it is not finite.
ReportJson short_number(double value);

}  // namespace outrider::lab
