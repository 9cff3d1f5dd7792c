#include "tools/lab/suite/suite_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <utility>
#include <vector>

#include "common/telemetry/markup_text.h"
#include "tools/lab/summary/metric.h"
#include "tools/lab/summary/table_text.h"
#include "tools/lab/tables/table_lines.h"

namespace outrider::lab {

// Colours of the report's arms (report/plot.js), which differ for the colour-blind, too.
const char* const kPictureStyle =
    ":root{--grid:#dfe3e7;--axis:#5c6670;--l0:#0072b2;--l1:#d55e00;--l2:#009e73;--l3:#cc79a7;"
    "--l4:#e69f00;--l5:#56b4e9;--l6:#882255}"
    "@media(prefers-color-scheme:dark){:root{--grid:#2d343c;--axis:#9aa5b0;--l0:#4ba3e3;"
    "--l1:#f5793a;--l2:#2fc59b;--l3:#e29bc4;--l4:#f2b544;--l5:#9ad8f7;--l6:#d9d04a}}"
    ".pictures{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0;max-width:100%}"
    "figure svg{width:27.5rem;max-width:100%;height:auto;display:block}"
    "figcaption{font-size:.85rem;color:var(--axis);max-width:27.5rem}"
    "figure text{font-size:13px;fill:var(--axis)}.grid{stroke:var(--grid)}.axis{stroke:var(--axis)}"
    ".legend{list-style:none;padding:0;margin:.3rem 0;font-size:.85rem;max-width:27.5rem}"
    ".legend svg{width:1.6rem;height:.9rem;display:inline-block;vertical-align:middle;"
    "margin-right:.4rem}.line{fill:none;stroke-width:2}";

namespace {

constexpr double kWidth = 440, kHeight = 270;                       // of the picture [px]
constexpr double kLeft = 62, kRight = 14, kTop = 26, kBottom = 44;  // around the plot
constexpr double kPlotWidth = kWidth - kLeft - kRight, kPlotHeight = kHeight - kTop - kBottom;
constexpr std::size_t kMostLines = 7;  ///< that a reader can tell apart
constexpr std::size_t kMostNamed = 8;  ///< values on an axis that has all of them as ticks
constexpr double kDecade = 10;  ///< values that are further apart stand on a logarithmic axis

struct PicturePoint {
  double x = 0;
  Estimate y{};
};
using PictureLines = std::vector<std::pair<std::string, std::vector<PicturePoint>>>;

/// The setting along the axis, with its values in their order.
struct Swept {
  std::string name{};
  std::vector<std::string> values{};
  bool numbers = true;  ///< else categories, at 0, 1, ...

  [[nodiscard]] double place_of(const std::string& value) const {
    if (numbers) return std::strtod(value.c_str(), nullptr);
    return static_cast<double>(std::ranges::find(values, value) - values.begin());
  }
};

bool is_number(const std::string& text) {
  char* end = nullptr;
  (void)std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

/// Returns the setting that has most values; nothing if none varies.
std::optional<Swept> swept_setting(const std::vector<TableLine>& lines) {
  std::vector<Swept> all;
  for (const TableLine& line : lines)
    for (const auto& [name, value] : line.settings) {
      auto it = std::ranges::find(all, name, &Swept::name);
      if (it == all.end()) it = all.insert(all.end(), {.name = name});
      if (std::ranges::find(it->values, value) == it->values.end()) it->values.push_back(value);
      it->numbers = it->numbers && is_number(value);
    }
  const auto most = std::ranges::max_element(
      all, {}, [](const Swept& s) { return std::pair(s.numbers, s.values.size()); });
  if (most == all.end()) return std::nullopt;
  return *most;
}

/// Returns 12000000 as "12M".
std::string tick_text(double value) {
  constexpr std::array<std::pair<double, const char*>, 3> kSteps{
      {{1e9, "G"}, {1e6, "M"}, {1e4, "k"}}};
  for (const auto& [step, letter] : kSteps)
    if (std::abs(value) >= step)
      return formatted("%.4g%s", value / (step == 1e4 ? 1e3 : step), letter);
  return formatted("%.4g", value);
}

struct Axis {
  double low = 0, high = 1;
  bool logarithmic = false;
  std::vector<std::pair<double, std::string>> ticks{};

  /// Returns the place of a value, 0 at the low end and 1 at the high one.
  [[nodiscard]] double at(double v) const {
    if (logarithmic) return std::log(v / low) / std::log(high / low);
    return (v - low) / (high - low);
  }
};

/// Returns a step of 1, 2 or 5 times a power of ten of which about five are in `span`.
double step_of(double span) {
  const double raw = span / 5, power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= raw) return factor * power;
  return 10 * power;
}

Axis axis_of_values(double least, double most) {
  Axis axis;
  axis.logarithmic = least > 0 && most / least > 3 * kDecade;
  if (axis.logarithmic) {
    axis.low = std::pow(10, std::floor(std::log10(least)));
    axis.high = std::pow(10, std::ceil(std::log10(most)));
    for (double v = axis.low; v <= axis.high * 1.001; v *= 10)
      axis.ticks.push_back({v, tick_text(v)});
    return axis;
  }
  const double from = std::min(least, 0.0), to = most > from ? most : from + 1;
  const double step = step_of(to - from);
  axis.low = std::floor(from / step) * step;
  axis.high = std::ceil(to / step - 1e-9) * step;
  for (double v = axis.low; v <= axis.high + step / 2; v += step)
    axis.ticks.push_back({v, tick_text(std::abs(v) < step / 2 ? 0 : v)});
  return axis;
}

Axis axis_of_setting(const Swept& swept) {
  Axis axis;
  std::vector<double> places;
  for (const std::string& value : swept.values) places.push_back(swept.place_of(value));
  const auto [least, most] = std::ranges::minmax(places);
  axis.logarithmic = swept.numbers && least > 0 && most / least >= kDecade;
  const double beside = axis.logarithmic ? std::pow(most / least, 0.05) : (most - least) * 0.05;
  axis.low = axis.logarithmic ? least / beside : least - beside;
  axis.high = axis.logarithmic ? most * beside : most + beside;
  const std::size_t every = (places.size() + kMostNamed - 1) / kMostNamed;
  for (std::size_t i = 0; i < places.size(); i += every)
    axis.ticks.push_back({places[i], swept.numbers ? tick_text(places[i]) : swept.values[i]});
  return axis;
}

/// Returns the lines, each a label with the values of all settings but the swept one.
PictureLines lines_over(const std::vector<TableLine>& lines, const Swept& swept,
                        const std::string& metric, double scale) {
  PictureLines all;
  for (const TableLine& line : lines) {
    std::string name = line.arm->label;
    std::optional<double> x;
    for (const auto& [setting, value] : line.settings)
      if (setting == swept.name) x = swept.place_of(value);
      else
        name += ", " + setting + " = " +
                (is_number(value) ? tick_text(std::strtod(value.c_str(), nullptr)) : value);
    const Estimate e = line.arm->metric(metric).value;
    if (!x || std::isnan(e.value)) continue;
    auto it = std::ranges::find(all, name, &PictureLines::value_type::first);
    if (it == all.end()) it = all.insert(all.end(), {name, {}});
    it->second.push_back({*x, {e.value * scale, e.low * scale, e.high * scale}});
  }
  for (auto& [name, points] : all) std::ranges::sort(points, {}, &PicturePoint::x);
  return all;
}

/// The range of the shown lines, which the axis has to hold.
struct Range {
  double least = kNotDefined, most = kNotDefined;
  bool bars = false;  ///< some point has an interval
};

Range range_of(const PictureLines& lines, std::size_t shown) {
  Range r;
  for (std::size_t i = 0; i < shown; ++i)
    for (const PicturePoint& p : lines[i].second) {
      r.least = std::fmin(std::fmin(r.least, p.y.value), p.y.low);
      r.most = std::fmax(std::fmax(r.most, p.y.value), p.y.high);
      r.bars = r.bars || p.y.high > p.y.low;
    }
  return r;
}

std::string px(double v) { return formatted("%.1f", v); }

/// Returns the mark of a line, which its shape tells apart as well as its colour.
std::string mark_at(std::size_t line, double x, double y) {
  const std::string at = " transform=\"translate(" + px(x) + ' ' + px(y) + ")\"";
  const std::string fill = " class=\"mark\" fill=\"var(--l" + std::to_string(line) + ")\"/>";
  constexpr std::array<const char*, 4> kShapes{"M-4-4h8v8h-8z", "M0-5.5L5.5 0L0 5.5L-5.5 0z",
                                               "M0-5L5 4H-5z", "M0 5L5-4H-5z"};
  if (line % 5 == 0) return "<circle r=\"4.2\"" + at + fill;
  return "<path d=\"" + std::string(kShapes[line % 5 - 1]) + '"' + at + fill;
}

std::string drawn_line(std::size_t i, const std::vector<PicturePoint>& points, const Axis& x,
                       const Axis& y) {
  const std::string stroke = " stroke=\"var(--l" + std::to_string(i) + ")\"";
  const auto left = [&](double v) { return kLeft + x.at(v) * kPlotWidth; };
  const auto top = [&](double v) { return kTop + (1 - y.at(v)) * kPlotHeight; };
  std::string path, marks, bars;
  for (const PicturePoint& p : points) {
    path += (path.empty() ? "M" : "L") + px(left(p.x)) + ' ' + px(top(p.y.value));
    marks += mark_at(i, left(p.x), top(p.y.value));
    if (!std::isnan(p.y.low) && !std::isnan(p.y.high) && p.y.high > p.y.low)
      bars += "<path class=\"line\" d=\"M" + px(left(p.x)) + ' ' + px(top(p.y.low)) + 'V' +
              px(top(p.y.high)) + '"' + stroke + "/>";
  }
  return bars + "<path class=\"line\" d=\"" + path + '"' + stroke + "/>" + marks + '\n';
}

std::string text_at(double x, double y, const char* anchor, const std::string& text) {
  return "<text x=\"" + px(x) + "\" y=\"" + px(y) + "\" text-anchor=\"" + anchor + "\">" +
         markup_text(text) + "</text>";
}

std::string drawn_axes(const Axis& x, const Axis& y, const std::string& x_title,
                       const std::string& y_title) {
  std::string svg;
  for (const auto& [value, text] : y.ticks) {
    const double at = kTop + (1 - y.at(value)) * kPlotHeight;
    svg += "<path class=\"grid\" d=\"M" + px(kLeft) + ' ' + px(at) + 'h' + px(kPlotWidth) + "\"/>" +
           text_at(kLeft - 7, at + 4.5, "end", text);
  }
  for (const auto& [value, text] : x.ticks) {
    const double at = kLeft + x.at(value) * kPlotWidth;
    svg += "<path class=\"axis\" d=\"M" + px(at) + ' ' + px(kTop + kPlotHeight) + "v5\"/>" +
           text_at(at, kTop + kPlotHeight + 18, "middle", text);
  }
  return svg + "<path class=\"axis\" d=\"M" + px(kLeft) + ' ' + px(kTop + kPlotHeight) + 'h' +
         px(kPlotWidth) + "\"/>" + text_at(4, 13, "start", y_title) +
         text_at(kLeft + kPlotWidth / 2, kHeight - 6, "middle", x_title) + '\n';
}

/// The unit of a picture, and the factor to it from the metric's.
Column picture_column(const ShownFigure& figure, double most) {
  Column column = figure.column;
  constexpr double kGiga = 1e9, kManyMega = 2e9;
  if (column.unit == shown_in(Unit::kBitsPerSecond).unit && most >= kManyMega)
    column.unit = "Gbit/s", column.scale = 1 / kGiga;
  return column;
}

/// Returns the unit of a setting, by its name; empty if it is none that everybody knows.
std::string unit_of_setting(const std::string& name) {
  if (name.ends_with("_bytes")) return "B";
  return name.ends_with("_packets") ? "packets" : "";
}

std::string legend_of(const PictureLines& lines, std::size_t shown) {
  std::string html = "<ul class=\"legend\">\n";
  for (std::size_t i = 0; i < shown; ++i)
    html +=
        "<li><svg viewBox=\"0 0 26 14\" aria-hidden=\"true\"><path class=\"line\" "
        "d=\"M1 7h24\" stroke=\"var(--l" +
        std::to_string(i) + ")\"/>" + mark_at(i, 13, 7) + "</svg>" + markup_text(lines[i].first) +
        "</li>\n";
  return html + "</ul>\n";
}

std::string titled(const std::string& name, const std::string& unit) {
  return unit.empty() ? name : name + " [" + unit + ']';
}

std::string caption_of(const PictureLines& lines, std::size_t shown, bool bars) {
  std::string text = bars ? "Bars: 95 % confidence over seeds." : "No interval over seeds.";
  if (lines.size() > shown)
    text += " The first " + std::to_string(shown) + " of " + std::to_string(lines.size()) +
            " lines; the table has all.";
  return text;
}

}  // namespace

std::string sweep_picture(const Results& results, const std::string& column) {
  const std::size_t colon = column.find(':');
  if (results.arms.empty() || (colon != column.npos && column.substr(colon) == ":change"))
    return "";
  const std::string name = column.substr(0, colon);
  const ShownFigure metric = shown_figure(name);
  const std::vector<TableLine> rows = lines_of(results, {});
  const auto swept = swept_setting(rows);
  if (!swept) return "";
  double most_of_all = 0;
  for (const TableLine& row : rows)
    most_of_all = std::fmax(most_of_all, row.arm->metric(metric.name).value.value);
  const Column shown_as = picture_column(metric, most_of_all);
  const PictureLines lines = lines_over(rows, *swept, std::string(metric.name), shown_as.scale);
  if (lines.empty()) return "";
  const std::size_t shown_lines = std::min(lines.size(), kMostLines);
  const Range range = range_of(lines, shown_lines);
  const Axis x = axis_of_setting(*swept), y = axis_of_values(range.least, range.most);
  const std::string y_title = titled(std::string(shown_as.heading), std::string(shown_as.unit));
  const std::string x_title = titled(swept->name, unit_of_setting(swept->name));
  std::string svg = "<figure>\n<svg viewBox=\"0 0 " + px(kWidth) + ' ' + px(kHeight) +
                    "\" role=\"img\" aria-label=\"" + markup_text(y_title + " over " + x_title) +
                    "\">\n" + drawn_axes(x, y, x_title, y_title);
  for (std::size_t i = 0; i < shown_lines; ++i) svg += drawn_line(i, lines[i].second, x, y);
  return svg + "</svg>\n" + legend_of(lines, shown_lines) + "<figcaption>" +
         caption_of(lines, shown_lines, range.bars) + "</figcaption>\n</figure>\n";
}

}  // namespace outrider::lab
