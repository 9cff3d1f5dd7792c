#include <algorithm>
#include <cmath>

#include "common/telemetry/display_width.h"
#include "tools/lab/search/front_result.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {

namespace {

/// Returns an estimate times `scale` as "1.09 [1.07, 1.12]"; without an interval, blanks stand for
/// it.
std::string with_interval(const Estimate& e, double scale) {
  if (std::isnan(e.low)) return formatted("%7.3f %16s", e.value * scale, "");
  return formatted("%7.3f [%6.3f, %6.3f]", e.value * scale, e.low * scale, e.high * scale);
}

std::string candidate_line(const FrontResult& r, const FrontResult::Verdict& verdict,
                           std::size_t i) {
  constexpr double kPercent = 100;
  return "  " + padded_to(r.candidates[i].label, 58) + with_interval(verdict.estimates[i].time, 1) +
         "   " + with_interval(verdict.estimates[i].cost, kPercent) + '\n';
}

std::string search_text(const FrontResult& r) {
  std::string text = "Searched " + std::to_string(r.candidates.size()) + " settings of " +
                     std::to_string(r.verdicts[0].families.size()) + " families:";
  for (const auto& round : r.rounds)
    text += (&round == r.rounds.data() ? " " : ", then ") + std::to_string(round.candidates) +
            " with " + std::to_string(round.seeds) + " seeds";
  return wrapped(text + ". The figures are those of " + std::to_string(r.verified_seeds) +
                 " further seeds, which the screening did not see.") +
         '\n';
}

std::string gains_text(const FrontResult::Verdict& verdict) {
  std::string text;
  for (const auto& s : verdict.families) {
    if (!s.ours) continue;
    const bool sure = s.gain.low > 0 || s.gain.high < 0;
    text += s.name + " less the best tuned baseline: " + with_interval(s.gain, 1) +
            (sure ? "\n" : " (may be nothing)\n");
  }
  return text;
}

/// Returns the fronts of one objective, the largest area first.
std::string verdict_text(const FrontResult& r, std::size_t objective) {
  const FrontResult::Verdict& verdict = r.verdicts[objective];
  std::string text =
      formatted("%-60s%-28s%s\n", "On its family's front",
                ("communication, " + std::string(kFrontObjectives[objective].name)).c_str(),
                "background lost [%]");
  std::vector<const FamilyFront*> order;
  for (const auto& s : verdict.families) order.push_back(&s);
  std::ranges::stable_sort(order, [](const FamilyFront* a, const FamilyFront* b) {
    return a->area.value > b->area.value;
  });
  for (const FamilyFront* s : order) {
    text += s->name + (s->ours ? " (ours)" : "") + ": area " + with_interval(s->area, 1) + ", " +
            std::to_string(s->settings) + (s->settings == 1 ? " setting\n" : " settings\n");
    for (const std::size_t i : s->front) text += candidate_line(r, verdict, i);
  }
  return text + '\n' + gains_text(verdict) + '\n';
}

}  // namespace

std::string front_table(const FrontResult& r) {
  std::string text =
      r.experiment + (r.question.empty() ? "" : ": " + r.question) + "\n\n" + search_text(r) + '\n';
  for (std::size_t o = 0; o < kFrontObjectives.size(); ++o) text += verdict_text(r, o);
  text += formatted("Areas are up to %g x alone and %g %% lost. ", r.settings.reference.time,
                    r.settings.reference.cost * 100);
  text +=
      "Communication is over the median without background.\n"
      "In brackets: 95 %, seeds resampled.\n";
  if (r.verified_seeds < 30) text += "Fewer than 30 seeds: a direction, not a claim.\n";
  return text;
}

}  // namespace outrider::lab
