#include "tools/hostagent/clsact_filter.h"

#include <bpf/libbpf.h>

#include <cerrno>
#include <cstring>

#include "tools/hostagent/agent_error.h"

namespace outrider::agent {
namespace {

/// Handle and priority of our filters.
constexpr std::uint32_t kHandle = 0x4F52;
constexpr std::uint32_t kPriority = 0x4F52;
constexpr auto kPlaces = {FilterPlace::kEgress, FilterPlace::kAnswer, FilterPlace::kHear,
                          FilterPlace::kHoldIngress, FilterPlace::kHoldEgress};

bpf_tc_hook hook_of(const NetworkInterface& interface, bpf_tc_attach_point at) {
  bpf_tc_hook hook{};
  hook.sz = sizeof(hook);
  hook.ifindex = interface.index;
  hook.attach_point = at;
  return hook;
}

bpf_tc_attach_point point_of(FilterPlace place) {
  const bool egress = place == FilterPlace::kEgress || place == FilterPlace::kHoldEgress;
  return egress ? BPF_TC_EGRESS : BPF_TC_INGRESS;
}

/// Returns the priority: the hook's filters run in its order.
std::uint32_t priority_of(FilterPlace place) {
  switch (place) {
    case FilterPlace::kHoldIngress:
      return kPriority - 1;
    case FilterPlace::kHear:
    case FilterPlace::kHoldEgress:
      return kPriority + 1;
    case FilterPlace::kEgress:
    case FilterPlace::kAnswer:
      break;
  }
  return kPriority;
}

bpf_tc_opts opts_of(FilterPlace place) {
  bpf_tc_opts opts{};
  opts.sz = sizeof(opts);
  opts.handle = kHandle;
  opts.priority = priority_of(place);
  return opts;
}

constexpr auto kBothDirections = static_cast<bpf_tc_attach_point>(BPF_TC_INGRESS | BPF_TC_EGRESS);

/// Returns whether there are filters of running or killed agents, one of which may have created
/// the hook.
bool has_ours(const NetworkInterface& interface) {
  for (const auto place : kPlaces) {
    const auto hook = hook_of(interface, point_of(place));
    auto opts = opts_of(place);
    if (bpf_tc_query(&hook, &opts) == 0) return true;
  }
  return false;
}

[[noreturn]] void refuse(const NetworkInterface& interface, const std::string& what, int error) {
  std::string text = interface.name + ": " + what + ": " + std::strerror(-error);
  if (error == -EPERM) text += "; run as root, or with CAP_NET_ADMIN and CAP_BPF";
  if (error == -ENOENT || error == -EOPNOTSUPP)
    text +=
        "; the kernel needs CONFIG_NET_CLS_ACT and CONFIG_NET_SCH_INGRESS: "
        "modprobe sch_ingress cls_bpf";
  throw AgentError(text);
}

}  // namespace

ClsactFilter::ClsactFilter(const NetworkInterface& interface, FilterPlace place, int program)
    : interface_(interface), place_(place) {
  auto hook = hook_of(interface_, kBothDirections);
  const int made = bpf_tc_hook_create(&hook);
  if (made < 0 && made != -EEXIST) refuse(interface_, "cannot add the clsact hook", made);
  own_hook_ = made == 0 || has_ours(interface_);

  hook.attach_point = point_of(place_);
  auto leftover = opts_of(place_);
  if (bpf_tc_query(&hook, &leftover) == 0) {
    auto detached = opts_of(place_);
    if (const int gone = bpf_tc_detach(&hook, &detached); gone < 0)
      refuse(interface_, "cannot remove what a killed agent left", gone);
    replaced_leftover_ = true;
  }
  auto opts = opts_of(place_);
  opts.prog_fd = program;
  if (const int attached = bpf_tc_attach(&hook, &opts); attached < 0) {
    if (own_hook_ && !has_clsact_filters(interface_)) {
      hook.attach_point = kBothDirections;
      bpf_tc_hook_destroy(&hook);
    }
    refuse(interface_, "cannot attach the program", attached);
  }
}

ClsactFilter::~ClsactFilter() {
  auto hook = hook_of(interface_, point_of(place_));
  auto opts = opts_of(place_);
  bpf_tc_detach(&hook, &opts);
  try {
    if (!own_hook_ || has_clsact_filters(interface_)) return;
  } catch (const AgentError&) {
    return;  // the hook may be in use: leave it
  }
  hook.attach_point = kBothDirections;
  bpf_tc_hook_destroy(&hook);
}

}  // namespace outrider::agent
