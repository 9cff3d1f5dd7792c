#include "tools/lab/search/front_goal.h"

#include <algorithm>
#include <sstream>

#include "tools/lab/search/best_goal.h"

namespace outrider::lab {

FrontGoal::FrontGoal(const SearchFile& file) {
  result_.experiment = file.experiment.name;
  result_.question = file.experiment.question;
  result_.settings = file.settings;
  result_.candidates = candidates_of(file);
}

SearchArms FrontGoal::worth_verifying() const {
  SearchArms picked;
  for (std::size_t c = 0; c < result_.candidates.size(); ++c)
    if (on_any_front(result_, c)) picked.push_back(c);
  return picked;
}

SearchArms FrontGoal::not_narrow(double narrow_enough) const {
  SearchArms picked = worth_verifying();
  const bool all_narrow = std::ranges::all_of(result_.verdicts, [&](const auto& verdict) {
    return std::ranges::all_of(
        picked, [&](std::size_t c) { return is_narrow(verdict.estimates[c].time, narrow_enough); });
  });
  if (all_narrow) picked.clear();
  return picked;
}

std::vector<std::string> FrontGoal::arms() const {
  std::vector<std::string> labels;
  for (const auto& c : result_.candidates) labels.push_back(c.label);
  return labels;
}

void FrontGoal::take(const SearchRound& round, const SearchRuns& runs) {
  std::vector<const RunDigest*> all(runs.screening.begin(), runs.screening.end());
  all.insert(all.end(), runs.verifying.begin(), runs.verifying.end());
  take_samples(all, result_);
  estimate_search(result_);
  if (round.phase != SearchPhase::kScreening) return;
  result_.rounds.push_back({round.end, round.arms.size()});
  if (round.end == result_.settings.searched_seeds()) pick(result_);
}

std::string FrontGoal::csv() const {
  std::ostringstream out;
  write_front_csv(out, result_);
  return out.str();
}

std::unique_ptr<RunGoal> make_goal(const SearchFile& file) {
  if (file.settings.pick == SearchPick::kFront) return std::make_unique<FrontGoal>(file);
  return std::make_unique<BestGoal>(file);
}

}  // namespace outrider::lab
