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
#include "switch/runtime/reload_plan.h"
#include "switch/runtime/switch_change.h"

namespace outrider::sw {

class Switch;

/// The change that a reload offers to every loop of the process. Each loop takes its own part.
struct ReloadChange {
  std::vector<SwitchChange> switches{};  ///< in the order of the configuration
};

struct ReloadResult {
  std::vector<SettingChange> changes{};
  ConfigIssues issues{};  ///< not empty: nothing was changed
};

/// Returns text for the user that says what was changed, or why nothing was. Ends with a
/// newline.
std::string format_reload(const std::string& file, const ReloadResult& result);

/// Changes the configuration of switches while they forward.
///
/// reload() reads, validates, compares and allocates. The loops only swap in their parts
/// between two polls, so no packet waits for it and none is lost. reload() waits until all
/// loops have done so, and frees what they gave back.
///
/// Each loop calls poll() for its own cell. Everything else is for threads of the control
/// plane; a mutex admits one at a time.
class SwitchReload {
 public:
  using Load = std::function<ConfigResult<SwitchProcessConfig>()>;

  /// @param running  the configuration that the process was started with, valid
  /// @param mbufs  number of packet buffers of the process
  /// @param load  reads and validates the wanted configuration
  SwitchReload(SwitchProcessConfig running, std::uint32_t mbufs, std::size_t loops, Load load)
      : running_(std::move(running)), mbufs_(mbufs), cells_(loops), load_(std::move(load)) {}

  /// Calls `apply(change)` if there is a change for this loop. Costs one load if there is none.
  template <class Apply>
  void poll(std::size_t loop, Apply&& apply) noexcept {
    cells_[loop].poll(apply);
  }

  /// Call before the loops start. All of them must call poll() regularly until detach().
  /// @param switches  in the order of the configuration
  void attach(std::vector<Switch*> switches);
  /// Call when the loops have ended. It ends an unfinished reload as well.
  void detach();

  /// Reloads the configuration. Returns when every loop has taken its part, after about one
  /// poll; fails if no loop runs. Any thread of the control plane.
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
  ReloadChange unfinished_;  ///< a change that loops may still use parts of
};

}  // namespace outrider::sw
