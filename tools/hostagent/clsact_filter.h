#pragma once

#include <string>

#include "tools/hostagent/network_interface.h"

namespace outrider::agent {

/// The place of a program at the hook; the kernel runs them in this order. Agents of different
/// kinds have different places, so that they can share an interface.
enum class FilterPlace {
  kEgress,       ///< announce, record
  kAnswer,       ///< ingress: answer, record
  kHear,         ///< ingress: announce
  kHoldIngress,  ///< before kAnswer, which takes STARTs away
  kHoldEgress,
};

/// Attaches a BPF program to an interface's clsact hook, from construction to destruction. It
/// creates the hook if there is none. The last agent to end removes the hook, unless it was
/// there before the first agent or it has other filters.
///
/// A filter that a killed agent left behind is identified by its place, because only agents
/// use this handle and priority, and it is replaced. This class does not check whether that
/// agent is dead; InstanceLock does. Throws AgentError if the kernel refuses.
class ClsactFilter {
 public:
  /// @param program file descriptor; need not outlive the filter
  ClsactFilter(const NetworkInterface& interface, FilterPlace place, int program);
  ~ClsactFilter();
  ClsactFilter(const ClsactFilter&) = delete;
  ClsactFilter& operator=(const ClsactFilter&) = delete;

  /// Returns whether a filter of a dead agent was found in its place and replaced.
  [[nodiscard]] bool replaced_leftover() const noexcept { return replaced_leftover_; }

 private:
  NetworkInterface interface_;
  FilterPlace place_;
  bool own_hook_ = false;
  bool replaced_leftover_ = false;
};

}  // namespace outrider::agent
