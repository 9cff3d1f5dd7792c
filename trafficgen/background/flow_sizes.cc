#include "trafficgen/background/flow_sizes.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "common/config/text_file.h"
#include "trafficgen/import/text_lines.h"

namespace outrider::tg {
namespace {

constexpr double kMaxFlowBytes = 1e15;

/// Returns the fault of the point that follows `before`; empty if there is none.
std::string fault_of(const FlowSizes::Point& p, const std::vector<FlowSizes::Point>& before) {
  if (!(p.bytes >= 0 && p.bytes <= kMaxFlowBytes)) return "the size must be from 0 to 1e15 bytes";
  if (!(p.share >= 0)) return "the share must not be negative";
  if (!(p.share <= 1)) return "the share must be at most 1 (is it in per cent?)";
  if (before.empty()) return {};
  if (p.bytes <= before.back().bytes) return "sizes must rise from line to line";
  if (p.share < before.back().share) return "shares must not fall from line to line";
  return {};
}

}  // namespace

std::uint64_t FlowSizes::at(double uniform) const noexcept {
  const auto above = std::ranges::upper_bound(points_, uniform, {}, &Point::share);
  double bytes = points_.front().bytes;
  if (above == points_.end()) {
    bytes = points_.back().bytes;
  } else if (above != points_.begin()) {
    const Point& low = *std::prev(above);
    const double part = (uniform - low.share) / (above->share - low.share);
    bytes = low.bytes + part * (above->bytes - low.bytes);
  }
  return std::max<std::uint64_t>(1, static_cast<std::uint64_t>(std::llround(bytes)));
}

double FlowSizes::mean_bytes() const noexcept {
  double mean = points_.front().bytes * points_.front().share;
  for (std::size_t i = 1; i < points_.size(); ++i)
    mean +=
        (points_[i].share - points_[i - 1].share) * (points_[i].bytes + points_[i - 1].bytes) / 2;
  return mean;
}

ConfigResult<FlowSizes> parse_flow_sizes(std::string_view text) {
  std::vector<FlowSizes::Point> points;
  ConfigIssues issues;
  std::size_t last_line = 0;
  for_each_line(text, [&](std::size_t line, const std::vector<std::string_view>& words) {
    last_line = line;
    if (issues.has_more()) return;
    const auto fault = [&](const std::string& rule) { issues.push_back(line_issue(line, rule)); };
    if (words.size() != 2) return fault("must hold two numbers, bytes and share");
    const auto bytes = number_of(words[0]), share = number_of(words[1]);
    if (!bytes || !share) return fault("must hold two numbers, bytes and share");
    const FlowSizes::Point point{*bytes, *share};
    if (const std::string rule = fault_of(point, points); !rule.empty()) fault(rule);
    else points.push_back(point);
  });
  if (points.empty() && issues.empty()) issues.push_back({"", "holds no point"});
  if (issues.empty() && points.back().share != 1)
    issues.push_back(line_issue(last_line, "the last share must be 1"));
  if (issues.empty() && points.back().bytes < 1)
    issues.push_back(line_issue(last_line, "the largest size must be at least 1 byte"));
  if (!issues.empty()) return {{}, std::move(issues)};
  return {FlowSizes(std::move(points)), {}};
}

ConfigResult<FlowSizes> load_flow_sizes(const std::string& path) {
  auto text = read_text_file(path, kMaxImportMib);
  if (!text) return {{}, std::move(text.issues)};
  return parse_flow_sizes(*text.config);
}

}  // namespace outrider::tg
