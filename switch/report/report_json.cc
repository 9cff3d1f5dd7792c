#include "switch/report/report_json.h"

#include "common/telemetry/json_fields.h"
#include "switch/report/report_fields.h"

namespace outrider::sw {

namespace {

constexpr const char* kKind = "switch_report";
constexpr int kSchemaVersion = 3;

}  // namespace

std::string to_json(const SwitchReport& report) {
  return write_report(report, kKind, kSchemaVersion);
}

SwitchReport switch_report_from_json(const std::string& text) {
  return read_report<SwitchReport>(text, kKind, kSchemaVersion);
}

}  // namespace outrider::sw
