#include <string>

#include "tools/lab/summary/case_fields.h"
#include "tools/lab/summary/metric.h"

namespace outrider::lab {

namespace {

using Json = nlohmann::ordered_json;

/// Returns the object that holds a place, and creates it if necessary.
/// @param name  [out] the last part of the place
Json& parent_of(Json& schema, std::string_view place, std::string& name) {
  Json* parent = &schema;
  std::size_t from = 1;
  for (std::size_t to = place.find('/', from); to != std::string_view::npos;
       from = to + 1, to = place.find('/', from)) {
    Json& child = (*parent)["properties"][std::string(place.substr(from, to - from))];
    if (child.is_null()) child = {{"type", "object"}, {"properties", Json::object()}};
    parent = &child;
  }
  name = place.substr(from);
  return *parent;
}

void add_schema(Json& schema, std::string_view place, std::string_view help, Json own) {
  std::string name;
  Json& parent = parent_of(schema, place, name);
  if (!help.empty()) own["description"] = help;
  parent["properties"][name] = std::move(own);
}

/// Marks the fields that every case has as required, object by object.
void add_required(Json& schema) {
  if (!schema.is_object() || !schema.contains("properties")) return;
  Json required = Json::array();
  for (auto& [name, child] : schema["properties"].items()) {
    add_required(child);
    if (child.contains("optional")) child.erase("optional");
    else required.push_back(name);
  }
  schema["required"] = std::move(required);
}

}  // namespace

Json case_metrics_json(const CaseSummary& c) {
  Json out = Json::object();
  std::string absent = " ";  // object that this case does not have
  for (const auto& field : case_fields()) {
    if (field.place.starts_with(absent)) continue;
    if (field.there != nullptr && !field.there(c.metrics)) absent = std::string(field.place) + "/";
    else if (field.value != nullptr)
      out[Json::json_pointer(std::string(field.place))] = field.value(c);
  }
  const CaseSummary* one[]{&c};
  for (const auto& m : metrics())
    if (m.place.empty() && is_there(m, one)) out[std::string(m.name)] = value_of(m, one);
  return out;
}

Json case_metrics_schema() {
  Json schema{{"type", "object"},
              {"description", "docs/measurement.md defines each"},
              {"properties", Json::object()}};
  for (const auto& field : case_fields()) {
    Json own = field.schema();
    if (field.there != nullptr) own["optional"] = true;
    add_schema(schema, field.place, field.help, std::move(own));
  }
  for (const auto& m : metrics()) {
    if (!m.place.empty()) continue;
    Json own{{"$ref", "#/$defs/number"}};
    if (m.there != nullptr) own["optional"] = true;
    add_schema(schema, "/" + std::string(m.name), m.help, std::move(own));
  }
  add_required(schema);
  return schema;
}

}  // namespace outrider::lab
