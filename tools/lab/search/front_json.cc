#include <nlohmann/json.hpp>

#include "tools/lab/search/front_result.h"
#include "tools/lab/search/run_goal.h"
#include "tools/lab/summary/json_values.h"

namespace outrider::lab {

namespace {

using Json = nlohmann::ordered_json;  // keeps the order in which keys are added

Json json_of(const FrontResult& r, const FamilyFront& s) {
  Json json{{"name", s.name}, {"ours", s.ours}, {"settings", s.settings}, {"front", Json::array()}};
  for (const std::size_t i : s.front) json["front"].push_back(r.candidates[i].label);
  json["area"] = json_of(s.area);
  if (s.ours) json["area_less_best_baseline"] = json_of(s.gain);
  return json;
}

Json verdict_json(const FrontResult& r, const FrontResult::Verdict& verdict) {
  Json json{{"families", Json::array()}, {"candidates", Json::array()}};
  for (const auto& s : verdict.families) json["families"].push_back(json_of(r, s));
  for (std::size_t i = 0; i < r.candidates.size(); ++i)
    json["candidates"].push_back(
        {{"label", r.candidates[i].label},
         {"family", r.candidates[i].family},
         {"seeds", r.candidates[i].samples.size()},
         {"on_front", on_front(verdict, i)},
         {"communication_over_alone", json_of(verdict.estimates[i].time)},
         {"background_lost_fraction", json_of(verdict.estimates[i].cost)}});
  return json;
}

}  // namespace

std::string to_json(const FrontResult& r) {
  Json json{{"schema_version", kSearchSchema},
            {"pick", "front"},
            {"experiment", r.experiment},
            {"question", r.question},
            {"reference",
             {{"communication_over_alone", r.settings.reference.time},
              {"background_lost_fraction", r.settings.reference.cost}}},
            {"searched_seeds", r.settings.searched_seeds()},
            {"verified_seeds", r.verified_seeds},
            {"rounds", Json::array()},
            {"objectives", Json::object()}};
  for (const auto& round : r.rounds)
    json["rounds"].push_back({{"seeds", round.seeds}, {"candidates", round.candidates}});
  for (std::size_t o = 0; o < kFrontObjectives.size(); ++o)
    json["objectives"][kFrontObjectives[o].name] = verdict_json(r, r.verdicts[o]);
  return json.dump(2) + '\n';
}

}  // namespace outrider::lab
