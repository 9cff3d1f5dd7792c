#include "tools/lab/report/report_answer.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace outrider::lab {

namespace {

constexpr double kLittle = 0.01;  ///< share of the background that is considered a small loss
constexpr std::size_t kSeedsForClaims = 30;

bool has_interval(const Estimate& e) { return !std::isnan(e.low) && !std::isnan(e.high); }
bool has_change(const AnswerArm& a) { return !std::isnan(a.change.value); }
bool falls(const AnswerArm& a) { return has_interval(a.change) && a.change.high < 0; }
bool rises(const AnswerArm& a) { return has_interval(a.change) && a.change.low > 0; }

/// Returns a share in percent: "33" for 0.331, "0.9" for 0.0086.
std::string percent(double share) {
  std::array<char, 32> text{};
  const double p = share * 100;
  std::snprintf(text.data(), text.size(), std::abs(p) < 9.95 ? "%.1f" : "%.0f", p);
  if (const std::string s = text.data(); s != "-0.0") return s;
  return "0.0";
}

std::string interval(double low, double high) {
  return "[" + percent(low) + ", " + percent(high) + "]";
}

std::string falls_by(const Estimate& change) {
  std::string text = percent(-change.value) + " %";
  if (has_interval(change)) text += " " + interval(-change.high, -change.low);
  return text;
}

std::string background_text(const Estimate& lost) {
  if (std::isnan(lost.value)) return "";
  const bool gains = lost.value < 0;
  std::string text = std::string("; background ") + (gains ? "gains " : "loses ") +
                     percent(std::abs(lost.value)) + " %";
  if (has_interval(lost))
    text += " " + (gains ? interval(-lost.high, -lost.low) : interval(lost.low, lost.high));
  return text;
}

std::string gain_text(const AnswerArm& arm) {
  return "communication time falls by " + falls_by(arm.change) + " with " + arm.name +
         background_text(arm.lost);
}

std::string names_of(const std::vector<const AnswerArm*>& arms) {
  std::string text;
  for (std::size_t i = 0; i < arms.size(); ++i)
    text += (i == 0 ? "" : i + 1 == arms.size() ? " and " : ", ") + arms[i]->name;
  return text;
}

std::string capitalised(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 32);
  return text;
}

/// Returns the answer for results of a single seed. @pre an arm has a change
AnswerSentence one_seed(const std::vector<AnswerArm>& arms) {
  const auto best = std::ranges::min_element(arms, {}, [](const AnswerArm& a) {
    return std::isnan(a.change.value) ? 1e9 : a.change.value;
  });
  const bool less = best->change.value < 0;
  return {"same", "In one seed, communication time " + std::string(less ? "falls" : "rises") +
                      " by " + percent(std::abs(best->change.value)) + " % with " + best->name +
                      background_text(best->lost) +
                      ". One seed has no confidence interval: this may be chance."};
}

/// Returns the arm with the largest reduction among those whose background loses at most `most`.
const AnswerArm* best_within(const std::vector<AnswerArm>& arms, double most) {
  const AnswerArm* best = nullptr;
  for (const auto& a : arms)
    if (falls(a) && !(a.lost.value > most) && (!best || a.change.value < best->change.value))
      best = &a;
  return best;
}

void add_gains(const std::vector<AnswerArm>& arms, std::vector<AnswerSentence>& out) {
  const AnswerArm* best = best_within(arms, 1e9);
  if (best == nullptr) {
    out.push_back({"same", "No arm's communication time is distinguishably shorter than off's."});
    return;
  }
  out.push_back({"gain", capitalised(gain_text(*best)) + "."});
  const AnswerArm* cheap = best_within(arms, kLittle);
  if (cheap == best) return;
  if (cheap != nullptr)
    out.push_back({"cheap", "At a loss to the background of at most " + percent(kLittle) + " %, " +
                                gain_text(*cheap) + "."});
  else
    out.push_back(
        {"cheap", "No arm that is distinguishable from off costs the background less than " +
                      percent(kLittle) + " %."});
}

}  // namespace

std::vector<AnswerSentence> answer_of(const std::vector<AnswerArm>& arms, std::size_t seeds) {
  std::vector<AnswerSentence> out;
  if (std::ranges::none_of(arms, has_change)) {
    out.push_back({"same", "No communication time can be compared with off's here."});
  } else if (seeds < 2) {
    out.push_back(one_seed(arms));
  } else {
    add_gains(arms, out);
    std::vector<const AnswerArm*> same, worse;
    for (const auto& a : arms) {
      if (rises(a)) worse.push_back(&a);
      else if (!falls(a) && has_change(a)) same.push_back(&a);
    }
    if (!same.empty())
      out.push_back({"same", "Not distinguishable from off: " + names_of(same) + "."});
    if (!worse.empty()) out.push_back({"worse", "Longer than with off: " + names_of(worse) + "."});
  }
  if (seeds < kSeedsForClaims)
    out.push_back({"warning", "A demonstration with " + std::to_string(seeds) +
                                  (seeds == 1 ? " seed" : " seeds") + ": claims rest on " +
                                  std::to_string(kSeedsForClaims) + " or more."});
  return out;
}

std::vector<AnswerSentence> answer_over(const std::vector<PointAnswer>& points) {
  std::vector<std::string> names;
  bool any_interval = false;
  for (const auto& p : points)
    for (const auto& a : p.arms) {
      any_interval = any_interval || has_interval(a.change);
      if (std::ranges::find(names, a.name) == names.end()) names.push_back(a.name);
    }
  if (!any_interval)
    return {{"same", "No change has a confidence interval, as with one seed: none is counted."}};
  std::vector<AnswerSentence> out;
  for (const auto& name : names) {
    std::vector<double> gains;
    std::size_t here = 0, longer = 0;
    for (const auto& p : points)
      for (const auto& a : p.arms) {
        if (a.name != name) continue;
        ++here;
        longer += rises(a);
        if (falls(a)) gains.push_back(-a.change.value);
      }
    if (here < 2) continue;
    std::string text = name + " shortens communication time at " + std::to_string(gains.size()) +
                       " of " + std::to_string(here) + " points";
    if (!gains.empty()) {
      const auto [least, most] = std::ranges::minmax(gains);
      text += ", by " + percent(least) + (gains.size() > 1 ? " to " + percent(most) : "") + " %";
    }
    if (longer > 0) text += "; it lengthens it at " + std::to_string(longer);
    const std::size_t same = here - gains.size() - longer;
    if (same > 0) text += "; not distinguishable from off at " + std::to_string(same);
    out.push_back({gains.empty() ? "same" : "gain", text + "."});
  }
  return out;
}

}  // namespace outrider::lab
