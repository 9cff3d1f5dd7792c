#pragma once

#include <string>

#include "tools/hostagent/network_interface.h"

namespace outrider::agent {

/// Where a program stands at the hook, in the order in which they are asked. Each place is of
/// one kind of agent, so that different kinds share an interface.
enum class FilterPlace {
  kEgress,  ///< announce, record
  kAnswer,  ///< ingress: answer, record
  kHear,    ///< ingress: announce
};

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
  ClsactFilter(const NetworkInterface& interface, FilterPlace place, int program);
  ~ClsactFilter();
  ClsactFilter(const ClsactFilter&) = delete;
  ClsactFilter& operator=(const ClsactFilter&) = delete;

  /// A filter of a dead agent was found in its place.
  [[nodiscard]] bool replaced_leftover() const noexcept { return replaced_leftover_; }

 private:
  NetworkInterface interface_;
  FilterPlace place_;
  bool own_hook_ = false;
  bool replaced_leftover_ = false;
};

}  // namespace outrider::agent
