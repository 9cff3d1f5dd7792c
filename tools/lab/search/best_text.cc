#include "tools/lab/search/best_text.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "common/telemetry/display_width.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {

namespace {

constexpr const char* kUsualObjective = "communication_over_alone_median";

/// Returns the place of an arm in search.json, whose families are in the order of the file; behind
/// all others if it is not there.
std::size_t place_of(const SearchJson& search, const std::string& label) {
  if (search.is_null()) return 0;
  const auto& arms = search.at("arms");
  const auto found = std::ranges::find_if(
      arms, [&label](const SearchJson& arm) { return arm.at("label") == label; });
  return static_cast<std::size_t>(found - arms.begin());
}

/// Returns the family of an arm by search.json; empty without one.
std::string family_of(const SearchJson& search, const std::string& label) {
  const std::size_t place = place_of(search, label);
  if (search.is_null() || place == search.at("arms").size()) return {};
  return search.at("arms").at(place).at("family").get<std::string>();
}

bool is_wanted(const std::vector<std::string>& wanted, const std::string& label) {
  return wanted.empty() || std::ranges::any_of(wanted, [&label](const std::string& one) {
           return one.ends_with('*') ? label.starts_with(one.substr(0, one.size() - 1))
                                     : label == one;
         });
}

BestArm arm_of(const ArmSummary& arm, const std::string& objective, const SearchJson& search) {
  return {.label = arm.name,
          .family = arm.off ? std::string() : family_of(search, arm.label),
          .objective = arm.metric(objective).value,
          .p99 = arm.metric(kP99OfBest).value.value,
          .lost = arm.metric(kLostOfBest).value,
          .short_p99 = arm.metric(kShortOfBest).value.value,
          .seeds = arm.cases.size()};
}

std::string two_digits(double value) {
  return std::isnan(value) || std::isinf(value) ? "never" : formatted("%.2f", value);
}

std::string with_bounds(const Estimate& e) {
  if (std::isnan(e.low)) return two_digits(e.value);  // of too few seeds
  return two_digits(e.value) + " [" + two_digits(e.low) + ", " + two_digits(e.high) + "]";
}

/// Returns the p99 of short flows over that of the baseline; empty where there are none.
std::string short_flows(const BestPoint& p, std::size_t arm) {
  const double ratio = p.arms[arm].short_p99 / p.arms[0].short_p99;
  return std::isnan(ratio) ? "" : two_digits(ratio);
}

std::string as_code(const std::string& label) { return '`' + label + '`'; }

std::string time_and_lost(const BestArm& arm) {
  return two_digits(arm.objective.value) + ", lost " + two_digits(arm.lost.value);
}

std::string rule_line(const std::vector<std::string>& cells) {
  std::string line = "|";
  for (const std::string& cell : cells) line += ' ' + cell + " |";
  return line + '\n';
}

std::string rule_below(std::size_t columns) {
  std::string line;
  for (std::size_t i = 0; i < columns; ++i) line += "|---";
  return line + "|\n";
}

std::string sparing_text(const BestPoint& p, const BestChoice& choice) {
  const std::string ratio = short_flows(p, choice.sparing);
  return two_digits(p.arms[choice.sparing].objective.value) +
         (ratio.empty() ? "" : ", short flows " + ratio);
}

std::string markdown_row(const BestPoint& p) {
  const BestChoice choice = choose(p.arms, p.rule);
  const BestArm &best = p.arms[choice.cheap], &quickest = p.arms[choice.quickest];
  std::string ties;
  for (const std::size_t arm : choice.as_good)
    ties += (ties.empty() ? "" : ", ") + as_code(p.arms[arm].label);
  return rule_line(
      {as_code(p.name), std::to_string(best.seeds), two_digits(p.arms[0].objective.value),
       as_code(best.label), with_bounds(best.objective), two_digits(best.p99),
       with_bounds(best.lost), short_flows(p, choice.cheap), ties.empty() ? "none" : ties,
       choice.dearer ? as_code(quickest.label) + ": " + time_and_lost(quickest) : "the same",
       as_code(p.arms[choice.sparing].label) + ": " + sparing_text(p, choice)});
}

/// Returns the best of a family: the quickest that costs little, else the quickest.
const BestArm* best_of(const BestPoint& p, const std::string& family) {
  const auto all = best_of_families(p.arms, p.rule);
  const auto found = std::ranges::find(all, family, &FamilyBest::family);
  return found == all.end() ? nullptr : &p.arms[found->cheap.value_or(found->quickest)];
}

std::vector<std::string> families_of(const std::vector<BestPoint>& points) {
  std::vector<std::string> families;
  for (const BestPoint& p : points)
    for (const BestArm& arm : p.arms)
      if (!arm.family.empty() && std::ranges::find(families, arm.family) == families.end())
        families.push_back(arm.family);
  return families;
}

std::string text_line(const std::string& what, const std::string& arm, const std::string& figures) {
  return "  " + padded_to(what + "  ", 34) + padded_to(arm + "  ", 24) + figures + '\n';
}

std::string point_text(const BestPoint& p) {
  const BestChoice choice = choose(p.arms, p.rule);
  const BestArm &best = p.arms[choice.cheap], &quickest = p.arms[choice.quickest];
  const std::string ratio = short_flows(p, choice.cheap);
  std::string ties;
  for (const std::size_t arm : choice.as_good)
    ties += (ties.empty() ? "" : ", ") + p.arms[arm].label;
  std::string text = p.name + ": " + p.arms[0].label + " takes " +
                     two_digits(p.arms[0].objective.value) + "; " + std::to_string(best.seeds) +
                     " seeds\n";
  text += text_line("best that costs little", best.label,
                    with_bounds(best.objective) + ", p99 " + two_digits(best.p99) + ", lost " +
                        with_bounds(best.lost) + (ratio.empty() ? "" : ", short flows " + ratio));
  text += text_line("as quick and as cheap", ties.empty() ? "none" : ties, "");
  text += choice.dearer ? text_line("quickest at any cost", quickest.label, time_and_lost(quickest))
                        : text_line("quickest at any cost", "the same", "");
  text += text_line("quickest that spares short flows", p.arms[choice.sparing].label,
                    sparing_text(p, choice));
  for (const std::string& family : families_of({p}))
    if (const BestArm* own = best_of(p, family))
      text += text_line("of \"" + family + '"', own->label,
                        with_bounds(own->objective) + ", lost " + two_digits(own->lost.value));
  return text;
}

/// Refuses results whose runs without background were left out, so that no arm has the objective.
/// @throws std::out_of_range
void require_references(const BestPoint& p, const std::vector<ArmSummary>& arms) {
  const auto lacks = [](const BestArm& arm) { return std::isnan(arm.objective.value); };
  const auto has_times = [](const ArmSummary& arm) {
    return !std::isnan(arm.metric("communication_seconds_median").value.value);
  };
  if (p.objective.find("over_alone") != p.objective.npos && std::ranges::all_of(p.arms, lacks) &&
      std::ranges::any_of(arms, has_times))
    throw std::out_of_range(p.name + " has no " + p.objective +
                            ": its runs without background were left out; run it again without "
                            "--references none");
}

}  // namespace

std::vector<BestPoint> points_of(const std::string& name, const Results& results,
                                 const SearchJson& search, const BestRule& rule,
                                 const std::vector<std::string>& arms) {
  const auto& all = results.arms;
  const auto names = point_names(all);
  std::vector<BestPoint> points(names.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    BestPoint& p = points[i];
    p.name = points.size() == 1 ? name : name + ", " + names[i];
    p.objective = search.is_null() ? kUsualObjective : search.at("objective").get<std::string>();
    p.rule = search.is_null()
                 ? rule
                 : BestRule{search.at("cheap").get<double>(), search.at("spared").get<double>()};
  }
  std::vector<const ArmSummary*> ordered;
  for (const ArmSummary& arm : all)
    if (arm.off || is_wanted(arms, arm.label)) ordered.push_back(&arm);
  std::ranges::stable_sort(ordered, [&](const ArmSummary* a, const ArmSummary* b) {
    if (a->off != b->off) return a->off;
    return place_of(search, a->label) < place_of(search, b->label);
  });
  for (const ArmSummary* arm : ordered)
    points.at(arm->point).arms.push_back(arm_of(*arm, points.at(arm->point).objective, search));
  for (std::size_t i = 0; i < points.size(); ++i)
    if (std::ranges::none_of(all, [i](const ArmSummary& arm) { return arm.off && arm.point == i; }))
      throw std::out_of_range(points[i].name + " has no baseline");
  for (const BestPoint& p : points) require_references(p, all);
  return points;
}

std::string best_text(const std::vector<BestPoint>& points) {
  std::string text;
  for (const BestPoint& p : points) text += (text.empty() ? "" : "\n") + point_text(p);
  if (points.empty()) return text;
  const BestRule& rule = points.front().rule;
  return text + '\n' +
         wrapped(formatted("Times are %s. An arm costs little if background loses at most %g bytes "
                           "per byte of bursts, and spares short flows if their p99 is at most %g "
                           "times that of ",
                           points.front().objective.c_str(), rule.cheap, rule.spared) +
                 points.front().arms[0].label + ". In brackets: 95 %, seeds resampled.") +
         '\n';
}

std::string best_markdown(const std::vector<BestPoint>& points) {
  if (points.empty()) return {};
  const std::string& objective = points.front().objective;
  const std::string time = objective == kUsualObjective ? "time / alone" : objective;
  const std::vector<std::string> heads{
      "regime",
      "seeds",
      as_code(points.front().arms[0].label),
      "best that costs little",
      time,
      "p99 / alone",
      "lost [B / burst B]",
      "short flows' p99 / " + as_code(points.front().arms[0].label),
      "as quick and as cheap",
      "quickest at any cost",
      "quickest that spares short flows"};
  std::string text = rule_line(heads) + rule_below(heads.size());
  for (const BestPoint& p : points) text += markdown_row(p);
  std::vector<std::string> families = families_of(points);
  if (families.empty()) return text;
  families.insert(families.begin(), "regime");
  text += '\n' + rule_line(families) + rule_below(families.size());
  for (const BestPoint& p : points) {
    std::vector<std::string> cells{as_code(p.name)};
    for (std::size_t i = 1; i < families.size(); ++i) {
      const BestArm* best = best_of(p, families[i]);
      cells.push_back(best == nullptr ? "" : as_code(best->label) + ' ' + time_and_lost(*best));
    }
    text += rule_line(cells);
  }
  return text;
}

}  // namespace outrider::lab
