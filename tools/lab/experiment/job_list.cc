#include "tools/lab/experiment/job_list.h"

#include <algorithm>
#include <set>
#include <utility>

#include "common/config/process_checks.h"
#include "common/config/text_file.h"
#include "tools/lab/experiment/program_settings.h"
#include "trafficgen/import/text_lines.h"

namespace outrider::lab {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::string_view kStart = "start_seconds", kEnd = "end_seconds", kName = "name";

/// Returns the value as TOML would have it; what is neither a number nor a truth value is a text.
ConfigValue field_value(std::string_view field) {
  if (field == "true" || field == "false") return ConfigValue(field == "true");
  if (const auto whole = tg::whole_number_of(field); whole && *whole <= kLargestTomlInteger)
    return ConfigValue(static_cast<std::int64_t>(*whole));
  if (const auto number = tg::number_of(field)) return ConfigValue(*number);
  return ConfigValue(std::string(field));
}

class JobListReader {
 public:
  void take(std::size_t line, const Words& fields) {
    line_ = line;
    if (faults_.has_more()) return;
    if (columns_.empty()) take_names(fields);
    else if (fields.size() != columns_.size())
      fault("must hold " + std::to_string(columns_.size()) + " fields");
    else take_job(fields);
  }

  ConfigResult<std::vector<ArrivingJob>> result() {
    if (faults_.empty() && jobs_.empty())
      faults_.push_back({"", columns_.empty() ? "is empty: its first line must name columns, "
                                                "of which start_seconds is required"
                                              : "names columns and has no jobs"});
    if (jobs_.size() > kMaxListedJobs)
      faults_.push_back({"", std::to_string(jobs_.size()) + " jobs: a case may have " +
                                 std::to_string(kMaxListedJobs)});
    if (!faults_.empty()) return {{}, std::move(faults_)};
    return {std::move(jobs_), {}};
  }

 private:
  void fault(const std::string& rule) { faults_.push_back(tg::line_issue(line_, rule)); }

  void take_names(const Words& names) {
    std::set<std::string_view> seen;
    for (const std::string_view name : names) {
      columns_.emplace_back(name);
      if (name.empty()) fault("has a column without a name");
      else if (!seen.insert(name).second)
        fault("names the column \"" + std::string(name) + "\" twice");
    }
    if (!seen.contains(kStart)) fault("has no column \"start_seconds\", which is required");
    ConfigTable tried;
    for (const std::string_view name : seen)
      if (name != kStart && name != kEnd && name != kName && !name.empty() &&
          !assign(tried, name, ConfigValue(true)))
        fault("has a column \"" + std::string(name) + "\", which cannot be set beside another one");
    for (const char* key : {"count", "start", "list", "stop_after"})
      if (seen.contains(key))
        fault("has a column \"" + std::string(key) +
              "\"; a line is one job, from start_seconds to end_seconds");
  }

  std::optional<double> time_of(std::string_view column, std::string_view field) {
    const auto time_s = tg::number_of(field);
    if (time_s && *time_s >= 0 && *time_s <= kLongest_seconds) return time_s;
    fault(std::string(column) + " \"" + std::string(field) +
          "\" must be a number of seconds from 0 to 1e7");
    return std::nullopt;
  }

  void take_name(std::string_view name, ArrivingJob& job) {
    constexpr std::string_view kLetters =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    if (name.find_first_not_of(kLetters) != name.npos)
      fault("name \"" + std::string(name) + "\" must be of letters, digits, _ and -");
    if (!names_.insert(std::string(name)).second)
      fault("name \"" + std::string(name) + "\" is that of a line before it");
    job.name = name;
  }

  void take_job(const Words& fields) {
    ArrivingJob job{.line = line_};
    std::optional<double> start_s, end_s;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      const std::string_view field = fields[i];
      if (columns_[i] == kStart) start_s = time_of(kStart, field);
      else if (field.empty()) continue;
      else if (columns_[i] == kEnd) end_s = time_of(kEnd, field);
      else if (columns_[i] == kName) take_name(field, job);
      else (void)assign(job.own, columns_[i], field_value(field));  // take_names() has tried it
    }
    if (start_s && end_s && *end_s <= *start_s)
      return fault("end_seconds must be later than start_seconds");
    job.start = from_seconds(start_s.value_or(0));
    if (start_s && end_s) job.stop_after = from_seconds(*end_s - *start_s);
    jobs_.push_back(std::move(job));
  }

  std::vector<std::string> columns_;
  std::set<std::string> names_;
  std::size_t line_ = 0;
  std::vector<ArrivingJob> jobs_;
  ConfigIssues faults_;
};

}  // namespace

ConfigResult<std::vector<ArrivingJob>> parse_job_list(std::string_view text) {
  JobListReader reader;
  tg::for_each_line(text, [&](std::size_t line, const Words& words) {
    reader.take(line, tg::comma_fields(words));
  });
  return reader.result();
}

ConfigResult<std::vector<ArrivingJob>> load_job_list(const std::string& path) {
  constexpr std::uint32_t kMaxMib = 1;
  const auto text = read_text_file(path, kMaxMib);
  if (!text) return {{}, text.issues};
  return parse_job_list(*text.config);
}

}  // namespace outrider::lab
