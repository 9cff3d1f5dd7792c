#include <nlohmann/json.hpp>

#include "tools/lab/front/front_result.h"
#include "tools/lab/summary/estimate_json.h"

namespace outrider::lab {

namespace {

using Json = nlohmann::ordered_json;  // keeps the order in which keys are added

constexpr int kFrontSchema = 1;

Json json_of(const FrontResult& r, const SystemFront& s) {
  Json json{{"name", s.name}, {"ours", s.ours}, {"front", Json::array()}};
  for (const std::size_t i : s.front) json["front"].push_back(r.candidates[i].label);
  json["area"] = json_of(s.area);
  if (s.ours) json["area_less_best_baseline"] = json_of(s.gain);
  return json;
}

Json candidate_json(const FrontResult& r, std::size_t i) {
  const FrontCandidate& c = r.candidates[i];
  return {{"label", c.label},
          {"system", c.system},
          {"seeds", c.samples.size()},
          {"on_front", on_front(r, i)},
          {"communication_over_alone", json_of(r.estimates[i].time)},
          {"background_lost_fraction", json_of(r.estimates[i].cost)}};
}

}  // namespace

std::string to_json(const FrontResult& r) {
  Json json{{"schema_version", kFrontSchema},
            {"experiment", r.experiment},
            {"question", r.question},
            {"reference",
             {{"communication_over_alone", r.settings.reference.time},
              {"background_lost_fraction", r.settings.reference.cost}}},
            {"rounds", Json::array()},
            {"systems", Json::array()},
            {"candidates", Json::array()}};
  for (const auto& round : r.rounds)
    json["rounds"].push_back({{"seeds", round.seeds}, {"candidates", round.candidates}});
  for (const auto& s : r.systems) json["systems"].push_back(json_of(r, s));
  for (std::size_t i = 0; i < r.candidates.size(); ++i)
    json["candidates"].push_back(candidate_json(r, i));
  return json.dump(2) + '\n';
}

}  // namespace outrider::lab
