#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "common/config/config_result.h"
#include "common/core/offer_cell.h"
#include "switch/config/config.h"
#include "switch/egress/reload_change.h"
#include "switch/runtime/reload_plan.h"

namespace outrider::sw {

class Switch;

/// What a reload hands to every loop of the process: each takes its own part.
struct ReloadChange {
  std::vector<SwitchChange> switches{};  ///< in the order of the configuration
};

struct ReloadResult {
  std::vector<SettingChange> changes{};
  ConfigIssues issues{};  ///< not empty: nothing was changed
};

/// What was done, or why nothing was, for the user; ends with a newline.
std::string format_reload(const std::string& file, const ReloadResult& result);

/// Changes the configuration of switches while they forward.
///
/// reload() reads, validates, compares and allocates; the loops only exchange their parts
/// between two polls, so no packet waits for it and none is lost. It waits until all loops
/// have, and frees what they gave back.
///
/// poll(): a loop, its own cell. Everything else: threads of the control plane, one at a
/// time by a mutex.
class SwitchReload {
 public:
  using Load = std::function<ConfigResult<SwitchProcessConfig>()>;

  /// @param running valid, what the process was started with
  /// @param mbufs  packet buffers that it has
  /// @param load  reads and validates the configuration that is wanted
  SwitchReload(SwitchProcessConfig running, std::uint32_t mbufs, std::size_t loops, Load load)
      : running_(std::move(running)), mbufs_(mbufs), cells_(loops), load_(std::move(load)) {}

  /// `apply(change)` if there is one for this loop. One load when there is none.
  template <class Apply>
  void poll(std::size_t loop, Apply&& apply) noexcept {
    cells_[loop].poll(apply);
  }

  /// From now on, until detach(), all loops call poll() again and again.
  /// @param switches  in the order of the configuration
  void attach(std::vector<Switch*> switches);
  /// The loops have ended. An unfinished reload ends as well.
  void detach();

  /// Any thread of the control plane. Returns when every loop has its part, so after about
  /// a poll's length; fails if no loop runs.
  ReloadResult reload();

 private:
  [[nodiscard]] ReloadChange prepare(const SwitchProcessConfig& wanted) const;
  /// @return false if the loops have ended meanwhile
  [[nodiscard]] bool hand_out(ReloadChange& change);

  std::mutex mutex_;
  SwitchProcessConfig running_;
  std::uint32_t mbufs_;
  std::deque<OfferCell<ReloadChange>> cells_;
  Load load_;
  std::vector<Switch*> switches_;
  std::atomic<bool> attached_{false};
  ReloadChange unfinished_;  ///< some loops may still use parts of it
};

}  // namespace outrider::sw
