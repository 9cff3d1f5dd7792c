// The reports of both programs, as the lab reads them. Begins with a report whose every field has
// a value, and changes, removes or adds fields of its JSON. The text is refused with a reason, or
// what it says is kept, and reads back as it is written.
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "switch/report/report_fields.h"
#include "switch/report/report_json.h"
#include "tests/fuzz/fuzz_main.h"
#include "tests/support/filled.h"
#include "trafficgen/report/generator_fields.h"
#include "trafficgen/report/report_json.h"

namespace outrider::fuzz {
namespace {

using Json = nlohmann::json;

Json odd_value(std::uint8_t choice) {
  const std::array<Json, 12> values{nullptr, true, -1,  0,  UINT64_MAX,    INT64_MIN,
                                    1e300,   0.5,  "x", "", Json::array(), Json::object()};
  return values[choice % values.size()];
}

/// Walks down from the root by the input's bytes, and there changes one value.
void damage(Json& root, FuzzInput& in) {
  Json* at = &root;
  for (std::uint8_t depth = in.byte() % 8; depth > 0 && at->is_structured() && !at->empty();
       --depth)
    at = &*std::next(at->begin(),
                     static_cast<std::ptrdiff_t>(in.take<std::uint16_t>() % at->size()));
  const std::uint8_t act = in.byte();
  if (act % 4 == 0 && at->is_structured() && !at->empty())
    at->erase(std::next(at->begin(), static_cast<std::ptrdiff_t>(in.byte() % at->size())));
  else if (act % 4 == 1 && at->is_array()) at->push_back(odd_value(in.byte()));
  else if (act % 4 == 2 && at->is_object()) (*at)["unknown"] = odd_value(in.byte());
  else if (act % 8 == 3 && at->is_number()) *at = in.take<std::uint64_t>();
  else *at = odd_value(in.byte());
}

template <class Report>
std::string whole() {
  Report report;
  Filler filler;
  fields(filler, report);
  return to_json(report);
}

/// nlohmann-json takes -1 and 2^64 - 1 for equal: whole numbers are compared as they are written.
bool same_number(const Json& a, const Json& b) {
  return a.is_number_integer() && b.is_number_integer() ? a.dump() == b.dump() : a == b;
}

/// Requires that a number of what was read is the same in what was written, if it is in both. A
/// histogram is left out: it also states what follows from its buckets, and that is not read.
void require_kept(const Json& read, const Json& written) {
  if (read.is_object() && read.contains("buckets")) return;
  if (read.is_object() && written.is_object()) {
    for (const auto& [key, value] : read.items())
      if (const auto found = written.find(key); found != written.end()) require_kept(value, *found);
  } else if (read.is_array() && written.is_array() && read.size() == written.size()) {
    for (std::size_t i = 0; i < read.size(); ++i) require_kept(read[i], written[i]);
  } else if (read.is_number() && written.is_number()) {
    FUZZ_REQUIRE(same_number(read, written));
  }
}

template <class Read>
void try_reading(const std::string& text, Read read) {
  std::string written;
  try {
    written = to_json(read(text));
  } catch (const std::runtime_error& refused) {
    FUZZ_REQUIRE(*refused.what() != '\0');
    return;
  }
  require_kept(Json::parse(text), Json::parse(written));
  FUZZ_REQUIRE(to_json(read(written)) == written);
}

}  // namespace

void run(FuzzInput in) {
  static const std::string of_switch = whole<sw::SwitchReport>();
  static const std::string of_generator = whole<tg::GeneratorReport>();
  const std::uint8_t choice = in.byte();
  const bool generators = (choice & 1) != 0;
  std::string text;
  if ((choice & 2) != 0) {  // any bytes
    text = in.text();
  } else {
    Json root = Json::parse(generators ? of_generator : of_switch);
    while (!in.empty()) damage(root, in);
    text = root.dump();
  }
  if (generators) try_reading(text, tg::generator_report_from_json);
  else try_reading(text, sw::switch_report_from_json);
}

}  // namespace outrider::fuzz
