#include "tools/lab/experiment/summary_points.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "tools/lab/experiment/experiment_parameters.h"

namespace outrider::lab {

namespace {

constexpr std::string_view kSignalForm = "job.announce.signal_form";

bool starts_with_any(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::ranges::any_of(prefixes, [name](std::string_view p) { return name.starts_with(p); });
}

/// Says whether a parameter is a threshold, or how it is judged. Set by an arm it is a remedy: a K,
/// an h or a gap of its own. Set by a sweep it is a point, at which all arms have it.
bool is_threshold(std::string_view n) {
  return n == "switch.marker.threshold_packets" || n == "switch.marker.mark_at" ||
         n == "h_packets" || n == "switch.flowlet_gap";
}

/// Says whether a parameter sets a remedy other than the regulator: one of the queues, of the order
/// in which gradients leave, of their paths, or of how their windows grow. Of the settings of
/// markers those of one kind count; see is_threshold() for the others.
bool is_other_remedy(std::string_view n) {
  static constexpr std::array<std::string_view, 7> kNames{"switch.scheduler",
                                                          "switch.share_limit",
                                                          kSignalForm,
                                                          "paths",
                                                          "ddl.transport.mlt.class_dscps",
                                                          "ddl.transport.mltcp",
                                                          "background.queue"};
  static constexpr std::array<std::string_view, 9> kSettings{
      "switch.marker.",      "switch.ddl_queue.", "switch.background_queue.",
      "job.send_policy",     "job.policy.",       "job.synchronisation",
      "job.staleness_bound", "job.r2sp.",         "tensorlights."};
  if (is_threshold(n)) return false;
  return std::ranges::find(kNames, n) != kNames.end() || starts_with_any(n, kSettings);
}

/// Says whether a parameter sets how bursts are carried, or a queue that loses nothing.
bool is_transport_of_arms(std::string_view n) {
  static constexpr std::array<std::string_view, 3> kSettings{
      "ddl.transport.", "switch.queue.lossless.", "background.transport.priority"};
  return starts_with_any(n, kSettings);
}

/// Says whether a parameter makes an arm a remedy.
bool is_remedy(std::string_view n) {
  return tells_on_from_off(n) || is_other_remedy(n) || is_threshold(n);
}

/// Says whether a parameter is of the transport, the background or the workload.
bool is_shared_with_baseline(std::string_view n) {
  return is_transport_of_arms(n) || !(is_remedy(n) || n.starts_with("switch."));
}

/// Returns whether switches act on the bursts of an arm with these parameters.
bool is_regulated(const Parameters& parameters) {
  return std::ranges::any_of(parameters, [](const auto& one) {
    const bool acts =
        one.first == "switch.regulation.mode" || one.first == "switch.regulation.grant.order";
    return acts && one.second != ParameterValue{std::string("off")};
  });
}

bool belongs_to_remedy(std::string_view parameter, bool regulated) {
  if (!regulated) return is_remedy(parameter);
  return tells_on_from_off(parameter) || parameter == kSignalForm;
}

/// Says whether a parameter makes an arm without regulation a remedy. Signals, which it does not
/// send, do not.
bool is_remedy_of_off(std::string_view n) {
  return n != kSignalForm && n != "h_packets" && (is_other_remedy(n) || is_threshold(n));
}

std::string point_key(const Case& c, bool whole) {
  return parameters_key(c.point, [whole](std::string_view n) {
    return !tells_on_from_off(n) && (whole || !tells_arms_apart(n));
  });
}

/// Returns the number of parameters for which `count` is true and which differ. A case does not
/// list a parameter that all jobs have by default.
template <class Count>
std::size_t differing(const Parameters& a, const Parameters& b, Count count) {
  std::map<std::string_view, std::string> values;
  for (const auto& [name, value] : a)
    if (count(std::string_view(name))) values.emplace(name, text_of(value));
  std::size_t differ = 0;
  for (const auto& [name, value] : b) {
    if (!count(std::string_view(name))) continue;
    const auto it = values.find(name);
    if (it == values.end() || it->second != text_of(value)) ++differ;
    if (it != values.end()) values.erase(it);
  }
  return differ + values.size();
}

bool is_off(const Case& c) { return c.role == ArmRole::kBaseline; }

/// Returns the label of the first baseline; empty: there is none.
std::string first_baseline(std::span<const Case* const> cases) {
  const auto it = std::ranges::find_if(cases, [](const Case* c) { return is_off(*c); });
  return it == cases.end() ? std::string{} : (*it)->label;
}

/// Says whether an arm without regulation has no other remedy either.
bool is_plain(const Case& c, const Case& off) {
  return is_off(c) && differing(c.parameters, off.parameters, is_remedy_of_off) == 0;
}

using Candidates = std::vector<std::size_t>;

/// Returns the candidate that differs least from a case in parameters for which `count` is true;
/// none: cases.size().
template <class Count>
std::size_t nearest(std::span<const Case* const> cases, const Candidates& candidates,
                    std::size_t to, Count count) {
  if (candidates.size() == 1) return candidates.front();
  std::size_t best = cases.size(), least = 0;
  for (const std::size_t i : candidates) {
    const std::size_t differ = differing(cases[i]->parameters, cases[to]->parameters, count);
    if (best != cases.size() && differ >= least) continue;
    best = i;
    least = differ;
  }
  return best;
}

/// Returns what an arm is compared with that does not say it.
/// @param there  cases of its point and seed
std::size_t default_baseline(std::span<const Case* const> cases, const Candidates& there,
                             std::size_t off, std::size_t own) {
  if (own == off || is_plain(*cases[own], *cases[off])) return off;
  Candidates plain, with_its_queues;
  const auto differ = [&](std::size_t i, auto count) {
    return differing(cases[i]->parameters, cases[own]->parameters, count) != 0;
  };
  const auto consider = [&](std::size_t i) {
    if (!is_off(*cases[i]) || differ(i, [](std::string_view n) { return !is_remedy(n); })) return;
    if (is_plain(*cases[i], *cases[off])) plain.push_back(i);
    else if (!is_off(*cases[own]) && !differ(i, is_remedy_of_off)) with_its_queues.push_back(i);
  };
  consider(off);  // first: it is preferred to another one that differs as little
  for (const std::size_t i : there)
    if (i != off && i != own) consider(i);
  if (!plain.empty()) return plain.front();
  if (!with_its_queues.empty()) return with_its_queues.front();
  // A queue of another length leaves transport, background and workload what they are.
  Candidates near;
  const auto look_at = [&](std::size_t i) {
    if (is_plain(*cases[i], *cases[off]) && !differ(i, is_shared_with_baseline)) near.push_back(i);
  };
  look_at(off);
  for (const std::size_t i : there)
    if (i != off && i != own) look_at(i);
  return near.empty() ? off
                      : nearest(cases, near, own, [](std::string_view n) { return !is_remedy(n); });
}

/// Returns the cases with this label.
Candidates labelled(std::span<const Case* const> cases, const Candidates& there,
                    const std::string& label) {
  Candidates found;
  for (const std::size_t i : there)
    if (cases[i]->label == label) found.push_back(i);
  return found;
}

/// Returns the `off` of a point; cases.size(): it has none, or the one that the plan has found did
/// not run.
std::size_t off_of(std::span<const Case* const> cases, const Candidates& there, std::size_t own,
                   const std::string& usual) {
  const std::string& known = cases[own]->off;
  if (const auto same = labelled(cases, there, known.empty() ? usual : known); !same.empty())
    return same.front();
  if (!known.empty()) return cases.size();
  const auto first = std::ranges::find_if(there, [&](std::size_t i) { return is_off(*cases[i]); });
  return first == there.end() ? cases.size() : *first;
}

/// Finds the key of each case's point: the whole point, or what is left without the arms' own
/// settings, whichever has an `off`.
std::vector<std::string> keys_of_points(std::span<const Case* const> cases,
                                        const std::string& usual) {
  std::set<std::string> with_off, with_any_off;
  for (const Case* c : cases) {
    if (!is_off(*c)) continue;
    with_any_off.insert(point_key(*c, true));
    if (c->label == usual) with_off.insert(point_key(*c, true));
  }
  std::vector<std::string> keys;
  for (const Case* c : cases) {
    const std::string whole = point_key(*c, true), part = point_key(*c, false);
    const bool narrow =
        !with_off.contains(whole) &&
        (with_off.contains(part) || (!with_any_off.contains(whole) && with_any_off.contains(part)));
    keys.push_back(narrow ? part : whole);
  }
  return keys;
}

}  // namespace

bool tells_on_from_off(std::string_view parameter) { return is_regulator_parameter(parameter); }

bool tells_arms_apart(std::string_view parameter) {
  return tells_on_from_off(parameter) || is_other_remedy(parameter) ||
         is_transport_of_arms(parameter);
}

std::string text_of(const ParameterValue& value) {
  struct Visitor {
    std::string operator()(bool v) const { return v ? "true" : "false"; }
    std::string operator()(std::int64_t v) const { return std::to_string(v); }
    std::string operator()(double v) const {
      std::array<char, 32> text{};
      return {text.data(), std::to_chars(text.data(), text.data() + text.size(), v).ptr};
    }
    std::string operator()(const std::string& v) const { return v; }
    std::string operator()(std::monostate) const { return "absent"; }
  };
  return std::visit(Visitor{}, value);
}

CasePoints points_of(std::span<const Case* const> cases) {
  const std::string usual = first_baseline(cases);
  const std::vector<std::string> keys = keys_of_points(cases, usual);
  std::map<std::pair<std::string, std::uint64_t>, Candidates> together;
  for (std::size_t i = 0; i < cases.size(); ++i) together[{keys[i], cases[i]->seed}].push_back(i);
  CasePoints out;
  std::map<std::string, std::size_t> numbers;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    out.point.push_back(numbers.try_emplace(keys[i], numbers.size()).first->second);
    const Candidates& there = together.at({keys[i], cases[i]->seed});
    const std::size_t off = off_of(cases, there, i, usual);
    out.off.push_back(off);
    const std::string& against = cases[i]->against;
    if (against == cases[i]->label) out.baseline.push_back(i);
    else if (!against.empty())
      out.baseline.push_back(nearest(cases, labelled(cases, there, against), i,
                                     [](std::string_view) { return true; }));
    else out.baseline.push_back(off == cases.size() ? off : default_baseline(cases, there, off, i));
  }
  return out;
}

std::vector<std::string> differences_beside_remedy(const Parameters& own,
                                                   const Parameters& baseline) {
  const bool regulated = is_regulated(own);
  const auto shown_or_none = [](const std::string& text) { return text.empty() ? "none" : text; };
  std::vector<std::string> all;
  for (const auto& [name, value] : own) {
    if (belongs_to_remedy(name, regulated)) continue;
    const auto other = std::ranges::find(baseline, name, &Parameters::value_type::first);
    if (other == baseline.end()) continue;
    const std::string mine = text_of(value), theirs = text_of(other->second);
    if (mine != theirs)
      all.push_back(name + " " + shown_or_none(mine) + " instead of " + shown_or_none(theirs));
  }
  return all;
}

}  // namespace outrider::lab
