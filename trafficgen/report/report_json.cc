#include "trafficgen/report/report_json.h"

#include "common/telemetry/json_fields.h"
#include "trafficgen/report/generator_fields.h"

namespace outrider::tg {

namespace {

constexpr const char* kKind = "generator_report";
constexpr int kGeneratorSchema = 1;

}  // namespace

std::string to_json(const GeneratorReport& report) {
  return write_report(report, kKind, kGeneratorSchema);
}

GeneratorReport generator_report_from_json(const std::string& text) {
  return read_report<GeneratorReport>(text, kKind, kGeneratorSchema);
}

}  // namespace outrider::tg
