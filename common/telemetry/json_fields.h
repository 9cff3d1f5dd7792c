#pragma once

// Includes nlohmann-json, which is slow to compile: for .cc files only.

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/histogram.h"
#include "common/core/per_reason.h"
#include "common/core/traffic_class.h"
#include "common/telemetry/identity_fields.h"

namespace outrider {

/// One function that lists a struct's fields binds it to JSON, for reading and for writing. It
/// is found by argument-dependent lookup:
///
///     template <class V, class R>
///       requires std::same_as<std::remove_const_t<R>, QueueBin>
///     void fields(V& v, R& bin) { v.value("busy_ns", bin.busy_ns); }
class JsonFieldWriter;
class JsonFieldReader;

using Json = nlohmann::json;

// -- Writing

inline Json to_json_value(bool v) { return v; }
template <std::integral T>
Json to_json_value(T v) {
  return v;
}
inline Json to_json_value(double v) { return v; }
inline Json to_json_value(const std::string& v) { return v; }
inline Json to_json_value(BurstDirection v) { return v == BurstDirection::kPush ? "push" : "pull"; }
inline Json to_json_value(TrafficClass v) { return name_of(v); }

inline Json to_json_value(const Histogram& h) {
  Json buckets = Json::array();
  h.for_each_bucket([&](std::size_t i, std::uint64_t n) { buckets.push_back({i, n}); });
  Json out{{"count", h.count()}, {"sum", h.sum()}, {"buckets", std::move(buckets)}};
  if (h.count() != 0) out.update({{"min", h.min()}, {"max", h.max()}});
  return out;
}

template <class E>
Json to_json_value(const PerReason<E>& by_reason) {
  Json out = Json::object();
  for (std::size_t i = 0; i < by_reason.size(); ++i)
    out[std::string(names_of(E{})[i])] = by_reason[i];
  return out;
}

template <class T>
Json to_json_value(const PerClass<T>& by_class) {
  Json out = Json::object();
  for (std::size_t c = 0; c < kTrafficClasses; ++c)
    out[std::string(kTrafficClassNames[c])] = to_json_value(by_class.values[c]);
  return out;
}

template <class T>
Json to_json_value(const T& record) requires requires(JsonFieldWriter& v) {
  fields(v, record);
};

template <class T>
Json to_json_value(const std::vector<T>& list) {
  Json out = Json::array();
  for (const auto& element : list) out.push_back(to_json_value(element));
  return out;
}

/// Writes null for an absent value.
template <class T>
Json to_json_value(const std::optional<T>& v) {
  return v ? to_json_value(*v) : Json();
}

class JsonFieldWriter {
 public:
  explicit JsonFieldWriter(Json& object) : object_(object) {}
  template <class T>
  void value(const char* name, const T& v) {
    object_[name] = to_json_value(v);
  }

 private:
  Json& object_;
};

template <class T>
Json to_json_value(const T& record) requires requires(JsonFieldWriter& v) {
  fields(v, record);
}
{
  Json out = Json::object();
  JsonFieldWriter writer(out);
  fields(writer, record);
  return out;
}

// -- Reading; `path` names the value in messages

[[noreturn]] inline void refuse_json(const std::string& path, const char* rule) {
  throw std::runtime_error("report: " + path + ": " + rule);
}

inline const Json& member(const Json& object, const std::string& path, std::string_view name) {
  if (!object.is_object()) refuse_json(path, "must be an object");
  const auto found = object.find(name);
  if (found == object.end()) refuse_json(path + "." + std::string(name), "is missing");
  return *found;
}

inline void from_json_value(const Json& in, const std::string& path, bool& v) {
  if (!in.is_boolean()) refuse_json(path, "must be true or false");
  v = in.get<bool>();
}

template <std::integral T>
void from_json_value(const Json& in, const std::string& path, T& v) {
  if (!in.is_number_integer()) refuse_json(path, "must be an integer");
  const bool fits = in.is_number_unsigned() ? std::in_range<T>(in.get<std::uint64_t>())
                                            : std::in_range<T>(in.get<std::int64_t>());
  if (!fits) refuse_json(path, "is out of range");
  v = in.get<T>();
}

inline void from_json_value(const Json& in, const std::string& path, double& v) {
  if (!in.is_number()) refuse_json(path, "must be a number");
  v = in.get<double>();
}

inline void from_json_value(const Json& in, const std::string& path, std::string& v) {
  if (!in.is_string()) refuse_json(path, "must be a string");
  v = in.get<std::string>();
}

inline void from_json_value(const Json& in, const std::string& path, BurstDirection& v) {
  if (in != "push" && in != "pull") refuse_json(path, "must be \"push\" or \"pull\"");
  v = in == "push" ? BurstDirection::kPush : BurstDirection::kPull;
}

inline void from_json_value(const Json& in, const std::string& path, TrafficClass& v) {
  for (std::size_t c = 0; c < kTrafficClasses; ++c) {
    if (in != kTrafficClassNames[c]) continue;
    v = static_cast<TrafficClass>(c);
    return;
  }
  refuse_json(path, "must be the name of a traffic class");
}

inline void from_json_value(const Json& in, const std::string& path, Histogram& h) {
  h.clear();
  const Json& buckets = member(in, path, "buckets");
  if (!buckets.is_array()) refuse_json(path + ".buckets", "must be a list");
  for (const auto& bucket : buckets) {
    std::uint64_t index = 0;
    std::uint64_t count = 0;
    if (!bucket.is_array() || bucket.size() != 2)
      refuse_json(path + ".buckets", "must hold pairs of index and count");
    from_json_value(bucket[0], path + ".buckets", index);
    from_json_value(bucket[1], path + ".buckets", count);
    if (!h.restore_bucket(index, count)) refuse_json(path + ".buckets", "index is out of range");
  }
  std::uint64_t count = 0;
  from_json_value(member(in, path, "count"), path + ".count", count);
  if (count != h.count()) refuse_json(path + ".count", "is not the sum of the buckets");
  const Json& sum = member(in, path, "sum");
  if (!sum.is_number()) refuse_json(path + ".sum", "must be a number");
  if (count == 0) return;
  std::uint64_t min = 0;
  std::uint64_t max = 0;
  from_json_value(member(in, path, "min"), path + ".min", min);
  from_json_value(member(in, path, "max"), path + ".max", max);
  h.restore_extremes(sum.get<double>(), min, max);
}

template <class E>
void from_json_value(const Json& in, const std::string& path, PerReason<E>& by_reason) {
  for (std::size_t i = 0; i < by_reason.size(); ++i) {
    const std::string name(names_of(E{})[i]);
    from_json_value(member(in, path, name), path + "." + name, by_reason[i]);
  }
}

template <class T>
void from_json_value(const Json& in, const std::string& path, PerClass<T>& by_class) {
  for (std::size_t c = 0; c < kTrafficClasses; ++c) {
    const std::string name(kTrafficClassNames[c]);
    from_json_value(member(in, path, name), path + "." + name, by_class.values[c]);
  }
}

template <class T>
void from_json_value(const Json& in, const std::string& path, T& record) requires
    requires(JsonFieldReader& v) {
  fields(v, record);
};

template <class T>
void from_json_value(const Json& in, const std::string& path, std::vector<T>& list) {
  if (!in.is_array()) refuse_json(path, "must be a list");
  list.assign(in.size(), T{});
  for (std::size_t i = 0; i < list.size(); ++i)
    from_json_value(in[i], path + "[" + std::to_string(i) + "]", list[i]);
}

template <class T>
void from_json_value(const Json& in, const std::string& path, std::optional<T>& v) {
  v.reset();
  if (!in.is_null()) from_json_value(in, path, v.emplace());
}

class JsonFieldReader {
 public:
  JsonFieldReader(const Json& object, const std::string& path) : object_(object), path_(path) {}
  template <class T>
  void value(const char* name, T& v) {
    from_json_value(member(object_, path_, name), path_ + "." + name, v);
  }

 private:
  const Json& object_;
  const std::string& path_;
};

template <class T>
void from_json_value(const Json& in, const std::string& path, T& record) requires
    requires(JsonFieldReader& v) {
  fields(v, record);
}
{
  JsonFieldReader reader(in, path);
  fields(reader, record);
}

// -- Documents

/// Returns one line of text: `kind`, the version of its schema, and the report's fields.
template <class R>
std::string write_report(const R& report, const char* kind, int schema_version) {
  Json out = to_json_value(report);
  out["kind"] = kind;
  out["schema_version"] = schema_version;
  return out.dump() + "\n";
}

template <class R>
R read_report(const std::string& text, const std::string& kind, int schema_version) {
  const Json in = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (in.is_discarded()) throw std::runtime_error("report: is not JSON");
  int version = 0;
  std::string found;
  from_json_value(member(in, kind, "kind"), kind + ".kind", found);
  if (found != kind) refuse_json(kind + ".kind", "is that of another report");
  from_json_value(member(in, kind, "schema_version"), kind + ".schema_version", version);
  if (version != schema_version) refuse_json(kind + ".schema_version", "is not one we can read");
  R report;
  from_json_value(in, kind, report);
  return report;
}

}  // namespace outrider
