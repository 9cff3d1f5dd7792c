#include "tools/lab/advise/advice_text.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "tools/lab/summary/answer.h"
#include "tools/lab/summary/table_text.h"

namespace outrider::lab {
namespace {

constexpr double kMilli = 1e3;

std::string after_space(const std::string& bounds) { return bounds.empty() ? "" : ' ' + bounds; }

std::string percent(const Estimate& change) {
  if (std::isnan(change.low)) return formatted("%.0f %%", 100 * change.value);
  return formatted("%.0f %% [%.0f, %.0f]", 100 * change.value, 100 * change.low, 100 * change.high);
}

std::string milliseconds(const Estimate& time) {
  return lab::shown(time.value * kMilli) + " ms" + after_space(shown_bounds(time, kMilli));
}

std::string name_of(const Remedy& remedy) {
  return std::string(lab::name_of(remedy.nature.kind)) + " (" + remedy.label + ")";
}

std::string sentence_of_gain(const Advice& a, const Recommendation& r) {
  const Remedy& chosen = a.remedies[r.chosen];
  const Remedy& off = *std::ranges::find(a.remedies, "off", &Remedy::label);
  if (chosen.nature.kind == RemedyKind::kNothing)
    return "Do nothing: no remedy that your goal allows surely saves " +
           formatted("%.0f %%", 100 * a.goal.gain) + " of the " + milliseconds(off.time_seconds) +
           " of today.";
  return "Use " + name_of(chosen) + ": " + milliseconds(chosen.time_seconds) + " instead of " +
         milliseconds(off.time_seconds) + ", " + percent(chosen.change) + ".";
}

/// Says which defaults allow what is advised.
std::string sentence_of_defaults(const Advice& a) {
  if (a.by_default.empty()) return {};
  std::string keys;
  for (std::size_t i = 0; i < a.by_default.size(); ++i)
    keys += (i == 0 ? "" : i + 1 == a.by_default.size() ? " and " : ", ") + a.by_default[i];
  return "The file does not say whether you can do that: it takes " + keys +
         ", the default. Give what you cannot change in [change]. ";
}

std::string cost_of(const Remedy& remedy) {
  std::string text = "it costs background " + formatted("%.2f", remedy.lost.value) +
                     after_space(shown_bounds(remedy.lost, 1)) +
                     " bytes for each byte of the bursts";
  if (!std::isnan(remedy.short_flows))
    text += ", and " + short_flows_text({.value = remedy.short_flows}, "today's");
  return text + ".";
}

/// Says which goals forbid a remedy, with their values.
std::string broken_text(const Remedy& remedy, const AdviceGoal& goal) {
  const BrokenGoals broken = broken_goals(remedy, goal);
  std::string text;
  if (broken.background_lost)
    text = "goal.background_lost, " + formatted("%g", goal.background_lost);
  if (broken.short_flows)
    text +=
        (text.empty() ? "" : ", and ") + ("goal.short_flows, " + formatted("%g", goal.short_flows));
  return text;
}

std::string sentence_of_cost(const Advice& a, const Recommendation& r) {
  const Remedy& chosen = a.remedies[r.chosen];
  if (chosen.nature.kind != RemedyKind::kNothing) return "For that " + cost_of(chosen);
  if (!r.too_costly) return "No remedy is quicker at any cost, either.";
  const Remedy& costly = a.remedies[*r.too_costly];
  return "Quickest at any cost is " + name_of(costly) + ", " + percent(costly.change) + ": " +
         cost_of(costly) + " That breaks " + broken_text(costly, a.goal) + ".";
}

bool excludes_zero(const Estimate& e) { return e.low > 0 || e.high < 0; }

/// Intervals that meet say little if only one of them leaves a doubt whether there is a change.
const char* verdict_of(const Confirmation& c) {
  const Estimate &there = c.virtual_change, &here = c.loopback_change;
  if (!meets(there, here)) return "Real processes do not agree: ";
  return excludes_zero(there) == excludes_zero(here) ? "Real processes agree: "
                                                     : "Real processes leave it open: ";
}

std::string sentence_of_confirmation(const Confirmation& c) {
  std::string text = verdict_of(c) + ("at " + formatted("1/%.0f", c.slower)) + " of the rates";
  if (c.smaller_bursts < 1) text += formatted(" and 1/%.0f of the bursts", 1 / c.smaller_bursts);
  return text + ", " + c.label + " changes the time by " + percent(c.loopback_change) +
         " between two of them, and by " + percent(c.virtual_change) + " in virtual time.";
}

std::string sentence_of_certainty(const Advice& a, const Recommendation& r) {
  const bool sure = r.certainty == Certainty::kSure && a.warnings.empty();
  std::string text = sure ? "This is sure" : "This is probable";
  const std::size_t seeds = a.remedies[r.chosen].seeds;
  text += " by " + std::to_string(seeds) + (seeds == 1 ? " seed" : " seeds");
  text += a.verified ? " that the search did not see" : " of the search alone, not verified";
  text += "; it holds in virtual time, and was not confirmed on real devices.";
  return a.confirmation ? text + ' ' + sentence_of_confirmation(*a.confirmation) : text;
}

/// Returns a line of a table: a name and its figures.
std::string row(const std::string& name, const std::string& time, const std::string& tail,
                const std::string& alone, const std::string& lost, const std::string& shorts) {
  return formatted("%-34s %26s %10s %8s %24s %8s\n", name.c_str(), time.c_str(), tail.c_str(),
                   alone.c_str(), lost.c_str(), shorts.c_str());
}

std::string row_of(const Remedy& r, const std::string& notes) {
  return row(name_of(r) + notes,
             lab::shown(r.time_seconds.value * kMilli) + ' ' + shown_bounds(r.time_seconds, kMilli),
             lab::shown(r.tail_seconds.value * kMilli),
             std::isnan(r.over_alone) ? "-" : formatted("%.2f", r.over_alone),
             r.nature.kind == RemedyKind::kNothing
                 ? "-"
                 : formatted("%.2f ", r.lost.value) + shown_bounds(r.lost, 1),
             std::isnan(r.short_flows) ? "-" : formatted("%.2f", r.short_flows));
}

/// Returns the best of each kind. If none of a kind was verified, what the search has seen of it.
std::string table(const Advice& a) {
  std::string text =
      row("best of each kind", "median [ms]", "p99 [ms]", "/ alone", "lost [B / burst B]", "short");
  std::vector<RemedyKind> kinds;
  BrokenGoals broken;
  bool searched = false;
  const auto add = [&](const std::vector<Remedy>& remedies, const std::string& note) {
    for (const std::size_t i : best_of_kinds(remedies, a.goal)) {
      const Remedy& r = remedies[i];
      if (std::ranges::find(kinds, r.nature.kind) != kinds.end()) continue;
      kinds.push_back(r.nature.kind);
      const BrokenGoals own = broken_goals(r, a.goal);
      broken.background_lost |= own.background_lost;
      broken.short_flows |= own.short_flows;
      searched |= !note.empty();
      text += row_of(
          r, std::string(own.background_lost ? " *" : "") + (own.short_flows ? " #" : "") + note);
    }
  };
  add(a.remedies, "");
  add(a.screened, " +");
  if (!a.table.empty()) text += "median, which judges: `" + a.table + "` prints it.\n";
  text += "short: p99 of flows up to 100 kB over today's.\n";
  if (broken.background_lost)
    text +=
        formatted("* breaks goal.background_lost: more than %g bytes for each byte of bursts.\n",
                  a.goal.background_lost);
  if (broken.short_flows)
    text +=
        formatted("# breaks goal.short_flows: more than %g times today's.\n", a.goal.short_flows);
  if (searched) text += "+ by the search alone, not verified; --minutes gives more time.\n";
  return text;
}

/// Returns the times of each job, of several: today's and those of the advised arm.
std::string job_table(const Advice& a, const Recommendation& r) {
  const Remedy& off = *std::ranges::find(a.remedies, "off", &Remedy::label);
  const Remedy& chosen = a.remedies[r.chosen];
  if (off.jobs.empty()) return {};
  const bool other = chosen.label != off.label;
  const auto line = [&](const std::string& name, const std::string& today, const std::string& tail,
                        const std::string& then, const std::string& tail_then) {
    return formatted("%-34s %26s %10s", name.c_str(), today.c_str(), tail.c_str()) +
           (other ? formatted(" %12s %10s\n", then.c_str(), tail_then.c_str()) : "\n");
  };
  const auto ms = [](double seconds) { return lab::shown(seconds * kMilli); };
  std::string text = '\n' + line("each job", "today: median [ms]", "p99", "then: median", "p99");
  for (std::size_t i = 0; i < off.jobs.size(); ++i)
    text += line(off.jobs[i].name, ms(off.jobs[i].median_seconds), ms(off.jobs[i].p99_seconds),
                 ms(chosen.jobs[i].median_seconds), ms(chosen.jobs[i].p99_seconds));
  return text;
}

std::string what_turns_it(const Advice& a, const Recommendation& r) {
  if (a.answers.empty() && a.not_asked.empty()) return {};
  std::string text = "\nWith\n";
  const std::string& now = a.remedies[r.chosen].label;
  for (const WhatIfAnswer& answer : a.answers)
    text += formatted("  %-36s %s%s\n", answer.text.c_str(),
                      answer.label == now ? "the same" : ("other advice: " + answer.label).c_str(),
                      answer.label == "off" ? "" : (", " + percent(answer.change)).c_str());
  for (const std::string& question : a.not_asked)
    text += formatted("  %-36s not asked: --minutes gives more time\n", question.c_str());
  return text;
}

std::string settings(const Advice& a) {
  if (a.arm.empty()) return a.always_settings ? '\n' + a.elsewhere : "";
  return "\nIn TOML, for the end of asked.toml or of another experiment:\n\n" + a.arm + '\n' +
         a.elsewhere;
}

std::string warnings(const Advice& a) {
  std::string text;
  for (const std::string& one : a.warnings) text += "! " + one + '\n';
  if (a.confirmation)
    for (const std::string& one : a.confirmation->warnings)
      text += "! between processes, " + one + '\n';
  return text;
}

/// Says how bursts were made smaller to be tried in time.
std::string scaling(const Advice& a) {
  if (a.smaller == 1) return {};
  const std::string by = std::to_string(a.smaller);
  const std::string text =
      "To keep to --minutes, bursts and the times between them were made " + by +
      " times smaller, background and the network were not: multiply times by " + by +
      ". What lasts as long as before, such as a round trip, weighs more "
      "than it does; --minutes gives larger bursts.";
  const std::string lines = wrapped(text);
  return '\n' + lines + (lines.ends_with('\n') ? "" : "\n");
}

/// Returns a line for each arm, by its change. What was not verified is marked.
std::string every_arm(const Advice& a) {
  std::vector<std::pair<const Remedy*, bool>> all;
  for (const Remedy& r : a.remedies) all.emplace_back(&r, false);
  for (const Remedy& r : a.screened)
    if (std::ranges::find(a.remedies, r.label, &Remedy::label) == a.remedies.end())
      all.emplace_back(&r, true);
  std::ranges::stable_sort(all, [](const auto& one, const auto& other) {
    const double x = one.first->change.value, y = other.first->change.value;
    return std::isnan(y) ? !std::isnan(x) : x < y;
  });
  std::string text = formatted("\n%-34s %14s %16s %10s %8s\n", "every arm", "median [ms]", "change",
                               "lost [B/B]", "short");
  for (const auto& [r, only_searched] : all) {
    text +=
        formatted("%-34s %14s %16s %10s %8s\n", (name_of(*r) + (only_searched ? " +" : "")).c_str(),
                  lab::shown(r->time_seconds.value * kMilli).c_str(), percent(r->change).c_str(),
                  formatted("%.2f", r->lost.value).c_str(),
                  (std::isnan(r->short_flows) ? "-" : formatted("%.2f", r->short_flows)).c_str());
  }
  return text;
}

std::string arms_left_out(const Advice& a) {
  std::string text;
  for (const std::string& one : a.left_out) text += "Not tried: " + one + '\n';
  return text.empty() ? text : '\n' + text;
}

std::string assumptions(const Advice& a) {
  if (a.assumed.empty()) return {};
  std::string text = "Assumed, as the file does not say: ";
  for (std::size_t i = 0; i < a.assumed.size(); ++i) text += (i == 0 ? "" : ", ") + a.assumed[i];
  text = '\n' + wrapped(text + '.');
  return text.ends_with('\n') ? text : text + '\n';
}

}  // namespace

std::string advice_text(const Advice& a) {
  const Recommendation r = recommend(a.remedies, a.goal);
  std::string text = wrapped(sentence_of_gain(a, r) + ' ' + sentence_of_cost(a, r) + ' ' +
                             sentence_of_defaults(a) + sentence_of_certainty(a, r));
  if (!text.ends_with('\n')) text += '\n';
  return text + scaling(a) + '\n' + table(a) + warnings(a) + job_table(a, r) + every_arm(a) +
         arms_left_out(a) + what_turns_it(a, r) + settings(a) + assumptions(a);
}

}  // namespace outrider::lab
