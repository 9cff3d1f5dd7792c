#pragma once

#include <string>

#include "tools/hostagent/network_interface.h"

namespace outrider {

enum class PacketDirection { kIngress, kEgress };

/// A BPF program at an interface's clsact hook, from construction to destruction. Brings
/// the hook along if there is none; the last agent to leave takes it away again, unless it
/// was there before the first or somebody else has a filter there.
///
/// What an agent that was killed left behind is known by its place (handle and priority are
/// ours alone) and replaced. Whether such an agent is dead is not asked here: see
/// InstanceLock. Throws AgentError if the kernel refuses.
class ClsactFilter {
 public:
  /// @param program file descriptor; need not outlive the filter
  ClsactFilter(const NetworkInterface& interface, PacketDirection direction, int program);
  ~ClsactFilter();
  ClsactFilter(const ClsactFilter&) = delete;
  ClsactFilter& operator=(const ClsactFilter&) = delete;

  /// A filter of a dead agent was found in its place.
  [[nodiscard]] bool replaced_leftover() const noexcept { return replaced_leftover_; }

 private:
  NetworkInterface interface_;
  PacketDirection direction_;
  bool own_hook_ = false;
  bool replaced_leftover_ = false;
};

}  // namespace outrider
