#include "switch/runtime/reload.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "switch/runtime/switch.h"

namespace outrider::sw {

std::string format_reload(const std::string& file, const ReloadResult& result) {
  if (!result.issues.empty()) return format_issues(file, result.issues) + "  nothing was changed\n";
  if (result.changes.empty()) return file + ": reloaded, no setting differs\n";
  const std::size_t n = result.changes.size();
  std::string text = file + ": reloaded, " + std::to_string(n) +
                     (n == 1 ? " setting" : " settings") + " changed\n";
  for (const auto& change : result.changes)
    text += "  " + change.key + ": " + change.before + " -> " + change.after + '\n';
  return text;
}

void SwitchReload::attach(std::vector<Switch*> switches) {
  const std::lock_guard lock(mutex_);
  switches_ = std::move(switches);
  attached_ = true;
}

void SwitchReload::detach() {
  attached_ = false;  // first, so that a thread that waits in reload() releases the mutex
  const std::lock_guard lock(mutex_);
  switches_.clear();
}

ReloadChange SwitchReload::prepare(const SwitchProcessConfig& wanted) const {
  ReloadChange change;
  for (std::size_t s = 0; s < switches_.size(); ++s)
    change.switches.push_back(switches_[s]->prepare(running_.switches[s], wanted.switches[s]));
  return change;
}

bool SwitchReload::hand_out(ReloadChange& change) {
  for (auto& cell : cells_) cell.offer(change);
  const auto waits = [this] {
    return std::ranges::any_of(cells_, [](const auto& cell) { return cell.pending(); });
  };
  while (waits()) {
    if (!attached_) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

ReloadResult SwitchReload::reload() {
  const std::lock_guard lock(mutex_);
  if (!attached_) return {{}, {{"", "packets are not forwarded yet, or no longer"}}};
  auto loaded = load_();
  if (!loaded) return {{}, std::move(loaded.issues)};
  ReloadPlan plan = plan_reload(running_, *loaded.config, mbufs_);
  if (!plan.refused.empty() || plan.changes.empty()) return {{}, std::move(plan.refused)};
  ReloadChange change;
  try {
    change = prepare(*loaded.config);
  } catch (const std::exception& error) {  // no memory for the new tables
    return {{}, {{"", error.what()}}};
  }
  if (!hand_out(change)) {
    unfinished_ = std::move(change);
    return {{}, {{"", "the program ends"}}};
  }
  for (std::size_t s = 0; s < switches_.size(); ++s) switches_[s]->retire(change.switches[s]);
  running_ = std::move(*loaded.config);
  return {std::move(plan.changes), {}};
}

}  // namespace outrider::sw
