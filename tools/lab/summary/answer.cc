#include "tools/lab/summary/answer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace outrider::lab {

namespace {

constexpr double kLittle = 0.01;  ///< share of the background that is considered a small loss
constexpr std::size_t kSeedsOfClaims = 30;
constexpr std::size_t kNamedDifferences = 3;

bool has_interval(const Estimate& e) { return !std::isnan(e.low) && !std::isnan(e.high); }
bool has_change(const AnswerArm& a) { return !std::isnan(a.change.value); }
bool falls(const AnswerArm& a) { return is_change(a.change) && a.change.value < 0; }
bool rises(const AnswerArm& a) { return is_change(a.change) && a.change.value > 0; }

/// Returns the change by which arms of different baselines are ranked: that against off.
double rank_of(const AnswerArm& a) {
  return std::isnan(a.against_off.value) ? a.change.value : a.against_off.value;
}

/// Returns what an arm costs the background at most, against its baseline or against off.
double loss_of(const AnswerArm& a) { return std::fmax(a.lost.value, a.lost_against_off.value); }

/// Returns a share in percent: "33" for 0.331, "0.9" for 0.0086.
std::string percent_of(double share) {
  std::array<char, 32> text{};
  const double p = share * 100;
  std::snprintf(text.data(), text.size(), std::abs(p) < 9.95 ? "%.1f" : "%.0f", p);
  if (const std::string s = text.data(); s != "-0.0") return s;
  return "0.0";
}

std::string interval_of(double low, double high) {
  return "[" + percent_of(low) + ", " + percent_of(high) + "]";
}

std::string falls_by(const Estimate& change) {
  std::string text = percent_of(-change.value) + " %";
  if (has_interval(change)) text += " " + interval_of(-change.high, -change.low);
  return text;
}

std::string background_text(const Estimate& lost) {
  if (std::isnan(lost.value)) return "";
  const bool known = has_interval(lost) ? is_change(lost) : std::abs(lost.value) >= kLeastChange;
  if (!known) return "; background loses nothing that shows";
  const bool gains = lost.value < 0;
  std::string text = std::string("; background ") + (gains ? "gains " : "loses ") +
                     percent_of(std::abs(lost.value)) + " %";
  if (has_interval(lost))
    text += " " + (gains ? interval_of(-lost.high, -lost.low) : interval_of(lost.low, lost.high));
  return text;
}

/// Says what short flows pay, where that is distinguishable.
std::string short_text(const Estimate& change, const std::string& whose) {
  if (!is_change(change)) return "";
  return "; " + short_flows_text(
                    {.value = 1 + change.value, .low = 1 + change.low, .high = 1 + change.high},
                    "that of " + whose);
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i)
    text += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return text;
}

std::string differs_text(const std::string& first_word, const std::string& name,
                         const std::string& other, const std::vector<std::string>& in) {
  if (in.empty()) return "";
  const std::size_t few = std::min(in.size(), kNamedDifferences);
  std::vector<std::string> named(in.begin(), in.begin() + static_cast<std::ptrdiff_t>(few));
  if (const std::size_t more = in.size() - few; more > 0)
    named.push_back(std::to_string(more) + (more == 1 ? " more setting" : " more settings"));
  return ' ' + first_word + ' ' + name + " differs from " + other +
         " in what is no remedy: " + joined(named) + '.';
}

/// Returns "But on-x differs from off in what is no remedy: protocol roce instead of tcp." for what
/// the arm is compared with; empty if the remedy is all that the two differ in.
std::string beside_text(const AnswerArm& arm, const std::string& off) {
  if (arm.against.empty()) return differs_text("But", arm.name, off, arm.beside);
  const std::string own = differs_text("But", arm.name, arm.against, arm.beside);
  return own + differs_text(own.empty() ? "But" : "And", arm.name, off, arm.beside_off);
}

/// Returns the change of an arm, what it is against and what it costs: a sentence without its full
/// stop. @param off  name of the arm that all are compared with
std::string gain_text(const AnswerArm& arm, const std::string& off) {
  const std::string& baseline = arm.against.empty() ? off : arm.against;
  std::string text = "communication time " + change_in_words(arm.change) + " with " + arm.name +
                     " against " + baseline + background_text(arm.lost) +
                     short_text(arm.short_flows, baseline);
  if (!arm.against.empty() && !std::isnan(arm.against_off.value))
    text += ". Against " + off + ", it " + change_in_words(arm.against_off) +
            background_text(arm.lost_against_off) + short_text(arm.short_flows_against_off, off);
  return text;
}

/// Returns "off: on-a and on-b; LINK off-roce: on-c", arms by what they are compared with.
std::string names_by_baseline(const std::vector<const AnswerArm*>& arms, const std::string& off,
                              const std::string& link) {
  std::vector<std::string> baselines;
  for (const AnswerArm* arm : arms)
    if (std::ranges::find(baselines, arm->against) == baselines.end())
      baselines.push_back(arm->against);
  std::string text;
  for (const auto& baseline : baselines) {
    std::vector<std::string> names;
    for (const AnswerArm* arm : arms)
      if (arm->against == baseline) names.push_back(arm->name);
    text += (text.empty() ? "" : "; " + link + " ") + (baseline.empty() ? off : baseline) + ": " +
            joined(names);
  }
  return text;
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

/// What the arms are compared with: "off" if that is all.
std::string baselines_of(const std::vector<AnswerArm>& arms, const std::string& off) {
  const bool all = std::ranges::all_of(arms, [](const auto& a) { return a.against.empty(); });
  return all ? off : "its baseline";
}

/// Returns the answer for results of so few seeds that there is no interval. @pre an arm has a
/// change
AnswerSentence few_seeds(const std::vector<AnswerArm>& arms, const std::string& off,
                         std::size_t seeds) {
  const std::string in = seeds == 1 ? "In one seed, " : "In two seeds, ";
  const auto best = std::ranges::min_element(
      arms, {}, [](const AnswerArm& a) { return std::isnan(a.change.value) ? 1e9 : rank_of(a); });
  if (std::abs(best->change.value) < kLeastChange && best->against.empty())
    return {"same", in + "no communication time is shorter than that of " +
                        baselines_of(arms, off) + " by " + percent_of(kLeastChange) + " %."};
  return {"same", in + gain_text(*best, off) + ". " +
                      (seeds == 1 ? "One seed has" : "Two seeds have") +
                      " no confidence interval: this may be chance." + beside_text(*best, off)};
}

/// Returns the quickest arm of those that gain and whose background loses at most `most`.
const AnswerArm* best_within(const std::vector<AnswerArm>& arms, double most) {
  const AnswerArm* best = nullptr;
  for (const auto& a : arms)
    if (falls(a) && !(loss_of(a) > most) && (!best || rank_of(a) < rank_of(*best))) best = &a;
  return best;
}

/// If a baseline is best, says what the best remedy does.
void add_remedy(const std::vector<AnswerArm>& arms, const AnswerArm& best, const std::string& off,
                std::vector<AnswerSentence>& out) {
  if (best.remedy) return;
  std::vector<AnswerArm> remedies;
  std::ranges::copy_if(arms, std::back_inserter(remedies), &AnswerArm::remedy);
  const AnswerArm* found = best_within(remedies, 1e9);
  if (found == nullptr) return;
  out.push_back(
      {"gain", "The best remedy: " + gain_text(*found, off) + "." + beside_text(*found, off)});
}

void add_gains(const std::vector<AnswerArm>& arms, const std::string& off,
               std::vector<AnswerSentence>& out) {
  const AnswerArm* best = best_within(arms, 1e9);
  if (best == nullptr) {
    out.push_back({"same", "No arm's communication time is distinguishably shorter than that of " +
                               baselines_of(arms, off) + "."});
    return;
  }
  out.push_back({"gain", capitalised(gain_text(*best, off)) + "." + beside_text(*best, off)});
  add_remedy(arms, *best, off, out);
  const AnswerArm* cheap = best_within(arms, kLittle);
  if (cheap == best) return;
  if (cheap != nullptr)
    out.push_back({"cheap", "At a loss to the background of at most " + percent_of(kLittle) +
                                " %, " + gain_text(*cheap, off) + "." + beside_text(*cheap, off)});
  else
    out.push_back(
        {"cheap", "No arm that is distinguishable from " + baselines_of(arms, off) +
                      " costs the background less than " + percent_of(kLittle) + " %" +
                      (baselines_of(arms, off) == off ? "." : " against it and " + off + ".")});
}

/// Has arms of different baselines compared with `off`.
void judge_alike(std::vector<AnswerArm>& arms) {
  const auto as_first = [&](const AnswerArm& a) { return a.against == arms.front().against; };
  if (std::ranges::all_of(arms, as_first)) return;
  for (auto& a : arms) {
    if (!a.against.empty()) a.change = a.against_off;
    a.against.clear();
  }
}

}  // namespace

bool is_change(const Estimate& change) {
  return has_interval(change) && (change.high < 0 || change.low > 0) &&
         std::abs(change.value) >= kLeastChange;
}

std::string change_in_words(const Estimate& change) {
  if (change.value <= 0) return "falls by " + falls_by(change);
  std::string text = "rises by " + percent_of(change.value) + " %";
  if (has_interval(change)) text += " " + interval_of(change.low, change.high);
  return text;
}

std::string short_flows_text(const Estimate& times, const std::string& whose) {
  std::array<char, 96> text{};
  if (has_interval(times))
    std::snprintf(text.data(), text.size(), "%.2f [%.2f, %.2f]", times.value, times.low,
                  times.high);
  else std::snprintf(text.data(), text.size(), "%.2f", times.value);
  return "short flows' p99 is " + std::string(text.data()) + " times " + whose;
}

std::vector<AnswerSentence> answer_of(const std::vector<AnswerArm>& arms, const std::string& off,
                                      std::size_t seeds) {
  std::vector<AnswerSentence> out;
  if (std::ranges::none_of(arms, has_change)) {
    out.push_back({"same", "No communication time can be compared here: no other arm has one."});
  } else if (seeds < kLeastSeedsOfInterval) {
    out.push_back(few_seeds(arms, off, seeds));
  } else {
    add_gains(arms, off, out);
    std::vector<const AnswerArm*> same, worse;
    std::vector<std::string> none;
    for (const auto& a : arms) {
      if (!has_change(a)) none.push_back(a.name);
      else if (rises(a)) worse.push_back(&a);
      else if (!falls(a)) same.push_back(&a);
    }
    if (!same.empty())
      out.push_back(
          {"same", "Not distinguishable from " + names_by_baseline(same, off, "from") + "."});
    if (!worse.empty())
      out.push_back(
          {"worse", "Longer than with " + names_by_baseline(worse, off, "than with") + "."});
    if (!none.empty())
      out.push_back({"same", "No communication time to compare: " + joined(none) + "."});
  }
  if (seeds < kSeedsOfClaims)
    out.push_back({"warning", "A demonstration with " + std::to_string(seeds) +
                                  (seeds == 1 ? " seed" : " seeds") + ": claims rest on " +
                                  std::to_string(kSeedsOfClaims) + " or more."});
  return out;
}

std::vector<AnswerSentence> answer_over(const std::vector<PointAnswer>& points) {
  std::vector<std::string> names;
  bool any_interval = false;
  const bool one_off = std::ranges::all_of(
      points, [&points](const PointAnswer& p) { return p.off == points.front().off; });
  for (const auto& p : points)
    for (const auto& a : p.arms) {
      any_interval = any_interval || has_interval(a.change);
      if (std::ranges::find(names, a.name) == names.end()) names.push_back(a.name);
    }
  if (!any_interval)
    return {{"same",
             "No change has a confidence interval, as with fewer than three seeds: none is "
             "counted."}};
  std::vector<AnswerSentence> out;
  for (const auto& name : names) {
    std::vector<AnswerArm> there;
    for (const auto& p : points)
      std::ranges::copy_if(p.arms, std::back_inserter(there),
                           [&name](const AnswerArm& a) { return a.name == name; });
    const std::size_t here = there.size();
    if (here < 2) continue;
    judge_alike(there);
    const std::string against = there.front().against;
    std::vector<double> gains;
    const auto longer = static_cast<std::size_t>(std::ranges::count_if(there, rises));
    for (const auto& a : there)
      if (falls(a)) gains.push_back(-a.change.value);
    const std::string baseline = !against.empty() ? against
                                 : one_off        ? points.front().off
                                                  : "the baseline";
    std::string text = name + " shortens communication time at " + std::to_string(gains.size()) +
                       " of " + std::to_string(here) + " points";
    if (!against.empty()) text += " against " + against;
    if (!gains.empty()) {
      const auto [least, most] = std::ranges::minmax(gains);
      text +=
          ", by " + percent_of(least) + (gains.size() > 1 ? " to " + percent_of(most) : "") + " %";
    }
    if (longer > 0) text += "; it lengthens it at " + std::to_string(longer);
    const std::size_t same = here - gains.size() - longer;
    if (same > 0) text += "; not distinguishable from " + baseline + " at " + std::to_string(same);
    out.push_back({gains.empty() ? "same" : "gain", text + "."});
  }
  return out;
}

}  // namespace outrider::lab
