// The reports of both programs, as the lab reads them. Begins with a report whose every field has
// a value, and changes, removes or adds fields of its JSON. The text is refused with a reason, or
// it reads back as it is written.
#include <array>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

#include "switch/report/report_fields.h"
#include "switch/report/report_json.h"
#include "tests/fuzz/fuzz_input.h"
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

template <class Read>
void try_reading(const std::string& text, Read read) {
  std::string written;
  try {
    written = to_json(read(text));
  } catch (const std::runtime_error& refused) {
    FUZZ_REQUIRE(*refused.what() != '\0');
    return;
  }
  FUZZ_REQUIRE(to_json(read(written)) == written);
}

void run(FuzzInput in) {
  static const std::string of_switch = whole<sw::SwitchReport>();
  static const std::string of_generator = whole<tg::GeneratorReport>();
  const std::uint8_t choice = in.byte();
  const bool generators = (choice & 1) != 0;
  std::string text;
  if ((choice & 2) != 0) {  // any bytes
    text.assign(reinterpret_cast<const char*>(in.data()), in.left());
  } else {
    Json root = Json::parse(generators ? of_generator : of_switch);
    while (!in.empty()) damage(root, in);
    text = root.dump();
  }
  if (generators) try_reading(text, tg::generator_report_from_json);
  else try_reading(text, sw::switch_report_from_json);
}

}  // namespace
}  // namespace outrider::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  outrider::fuzz::run({data, size});
  return 0;
}
