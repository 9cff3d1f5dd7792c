#include "tools/lab/summary/finished_runs.h"

#include <stdexcept>
#include <utility>

#include "tools/lab/run/run_cases.h"

namespace outrider::lab {

void FinishedRuns::add(CaseRun run, const RunStore* store) {
  const Case* definition = run.definition;
  digests_.insert_or_assign(definition, digest(run, runtime_, flagged_));
  if (store != nullptr) stores_.insert_or_assign(definition, store);
  else in_memory_.insert_or_assign(definition, std::move(run));
}

std::vector<const RunDigest*> FinishedRuns::digests() const {
  std::vector<const RunDigest*> all;
  for (const auto& [definition, digest] : digests_) all.push_back(&digest);
  return all;
}

CaseRun FinishedRuns::read(const Case& definition) const {
  if (const auto it = in_memory_.find(&definition); it != in_memory_.end()) return it->second;
  const auto text = stores_.at(&definition)->load(definition, runtime_).text;
  if (!text)
    throw std::runtime_error("cannot read the finished run of \"" + definition.label + "\", seed " +
                             std::to_string(definition.seed) +
                             ": its file is gone from the directory of the results, or damaged");
  return deserialize(definition, *text);
}

}  // namespace outrider::lab
