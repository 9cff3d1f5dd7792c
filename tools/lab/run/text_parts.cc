#include "tools/lab/run/text_parts.h"

#include <stdexcept>

#include "common/telemetry/json_fields.h"
#include "switch/report/report_json.h"
#include "trafficgen/report/report_json.h"

namespace outrider::lab {
namespace {

constexpr const char* kLinksKind = "links";
constexpr const char* kSlicesKind = "link_slices";
constexpr int kSchemaVersion = 1;

}  // namespace

void append_part(std::string& out, const std::string& part) {
  out += std::to_string(part.size()) + '\n' + part;
}

void append_result(std::string& out, const RunResult& result) {
  append_part(out, to_json(result.switches));
  append_part(out, to_json(result.traffic));
  append_part(out, std::to_string(result.mbufs_leaked));
  append_part(out, write_report(result.slices, kSlicesKind, kSchemaVersion));
  append_part(out, result.links ? write_report(*result.links, kLinksKind, kSchemaVersion) : "");
}

std::string PartReader::next() {
  const auto end = text_.find('\n', at_);
  if (end == text_.npos) throw std::runtime_error("a worker's result is cut short");
  const std::size_t size = std::stoull(text_.substr(at_, end - at_));
  at_ = end + 1 + size;
  if (at_ > text_.size()) throw std::runtime_error("a worker's result is cut short");
  return text_.substr(end + 1, size);
}

RunResult PartReader::next_result() {
  RunResult result;
  result.switches = sw::switch_report_from_json(next());
  result.traffic = tg::generator_report_from_json(next());
  result.mbufs_leaked = std::stoull(next());
  result.slices = read_report<LinkSlices>(next(), kSlicesKind, kSchemaVersion);
  if (const std::string links = next(); !links.empty())
    result.links = read_report<LinkResults>(links, kLinksKind, kSchemaVersion);
  return result;
}

}  // namespace outrider::lab
