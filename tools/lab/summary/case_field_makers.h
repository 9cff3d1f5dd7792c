#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tools/lab/summary/case_fields.h"

// Makes a row of case_fields() from pointers to members: the field's value as JSON, and its schema
// by the member's type.

namespace outrider::lab::case_field_rows {

using Json = nlohmann::ordered_json;  // keeps the order in which keys are added

// NaN is written as null.

inline Json json_of(const Statistics& s) {
  return {{"mean", s.mean}, {"median", s.median}, {"p99", s.p99},
          {"min", s.min},   {"max", s.max},       {"count", s.count}};
}

inline Json json_of(const std::vector<double>& samples) { return json_of(statistics_of(samples)); }
inline Json json_of(const JobSamples& times) { return json_of(statistics_of(times)); }
inline Json json_of(const NicUse& use) {
  return {{"sending", use.sending}, {"receiving", use.receiving}};
}

template <class T>
requires std::is_arithmetic_v<T> || std::is_same_v<T, std::string> Json json_of(const T& value) {
  return value;
}

template <class T>
Json json_of(const std::optional<T>& value) {
  return value ? json_of(*value) : Json();
}

template <class E>
Json json_of(const PerReason<E>& counts) {
  Json out = Json::object();
  for (std::size_t i = 0; i < counts.size(); ++i) out[std::string(names_of(E{})[i])] = counts[i];
  return out;
}

template <class Value, class ToJson>
Json by_class(const PerClass<Value>& values, ToJson to_json) {
  Json out = Json::object();
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    out[std::string(kTrafficClassNames[c])] = to_json(values.values[c]);
  return out;
}

template <class E>
Json json_of(const PerClass<PerReason<E>>& counts) {
  return by_class(counts, [](const auto& by_reason) { return json_of(by_reason); });
}

inline Json json_of(const PerClass<RtoCounts>& rtos) {
  return by_class(rtos, [](const RtoCounts& r) {
    return Json{{"data", r.data}, {"handshake", r.handshake}};
  });
}

// -- schemas

inline Json reference(const char* name) { return {{"$ref", std::string("#/$defs/") + name}}; }

inline Json object_schema() { return {{"type", "object"}, {"properties", Json::object()}}; }

inline Json rtos_schema() {
  return {{"type", "object"},
          {"additionalProperties",
           {{"type", "object"},
            {"properties", {{"data", reference("count")}, {"handshake", reference("count")}}},
            {"required", {"data", "handshake"}}}}};
}

template <class T>
constexpr bool kIsPerReason = false;
template <class E>
constexpr bool kIsPerReason<PerReason<E>> = true;

template <class T>
Json schema_of() {
  if constexpr (std::is_same_v<T, bool>) return {{"type", "boolean"}};
  else if constexpr (std::is_same_v<T, std::string>) return {{"type", "string"}};
  else if constexpr (std::is_integral_v<T>) return reference("count");
  else if constexpr (std::is_same_v<T, std::optional<std::uint64_t>>)
    return {{"anyOf", {reference("count"), {{"type", "null"}}}}};
  else if constexpr (std::is_same_v<T, double>) return reference("number");
  else if constexpr (std::is_same_v<T, NicUse>) return reference("nic_use");
  else if constexpr (std::is_same_v<T, PerClass<RtoCounts>>) return rtos_schema();
  else if constexpr (kIsPerReason<T>)
    return {{"type", "object"}, {"additionalProperties", reference("count")}};
  else if constexpr (std::is_same_v<T, Statistics> || std::is_same_v<T, std::vector<double>> ||
                     std::is_same_v<T, JobSamples>)
    return reference("statistics");
  else return reference("by_class_and_reason");
}

// -- rows

template <auto... kPath>
Json value_at(const CaseSummary& c) {
  return json_of((c.*....*kPath));
}

/// Returns the member to which the pointers lead.
template <auto... kPath>
constexpr CaseField field(std::string_view place, std::string_view help = "") {
  using T = std::remove_cvref_t<decltype((std::declval<const CaseSummary&>().*....*kPath))>;
  return {place, help, schema_of<T>, value_at<kPath...>};
}

constexpr auto kMetrics = &CaseSummary::metrics;

template <auto... kPath>
constexpr CaseField metric(std::string_view place, std::string_view help = "") {
  return field<kMetrics, kPath...>(place, help);
}

template <auto... kPath>
constexpr CaseField sample(std::string_view place, std::string_view help = "") {
  return field<kMetrics, &CaseMetrics::samples, kPath...>(place, help);
}

template <auto... kPath>
constexpr CaseField cost(std::string_view place, std::string_view help = "") {
  return field<&CaseSummary::background_cost, kPath...>(place, help);
}

template <auto... kPath>
constexpr CaseField signal(std::string_view place, std::string_view help = "") {
  return field<kMetrics, &CaseMetrics::signals, kPath...>(place, help);
}

template <auto... kPath>
constexpr CaseField queue(std::string_view place, std::string_view help = "") {
  return field<kMetrics, &CaseMetrics::queue, kPath...>(place, help);
}

template <auto... kPath>
constexpr CaseField learning(std::string_view place, std::string_view help = "") {
  return field<kMetrics, &CaseMetrics::learning, kPath...>(place, help);
}

constexpr CaseField number(std::string_view place, std::string_view help,
                           Json (*value)(const CaseSummary&)) {
  return {place, help, schema_of<double>, value};
}

constexpr CaseField object(std::string_view place, std::string_view help,
                           bool (*there)(const CaseMetrics&) = nullptr) {
  return {place, help, object_schema, nullptr, there};
}

}  // namespace outrider::lab::case_field_rows
