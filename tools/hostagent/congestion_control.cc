#include "tools/hostagent/congestion_control.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "tools/hostagent/agent_error.h"
#include "tools/hostagent/bpf/wire.h"
#include "tools/hostagent/dctcp.skel.h"

namespace outrider::agent {
namespace {

// linux/bpf.h has these since Linux 6.4; libbpf 1.1 does not have them.
constexpr std::uint32_t kStructOpsLink = 1U << 13;                   ///< BPF_F_LINK
constexpr auto kAttachStructOps = static_cast<bpf_attach_type>(44);  ///< BPF_STRUCT_OPS

[[noreturn]] void refuse(int error) {
  const std::string name = AGENT_DCTCP_NAME;
  if (error == -EEXIST)
    throw AgentError("there is a congestion control " + name +
                     " already: another outrider-hostagent dctcp is at work on this host, be it "
                     "in another network namespace; stop it, it serves all of them");
  if (error == -EPERM || error == -EACCES) refuse_load(error);
  throw AgentError("the kernel does not take the congestion control " + name + ": " +
                   std::strerror(-error) +
                   "; it needs Linux 6.4 or later with CONFIG_BPF_JIT, CONFIG_DEBUG_INFO_BTF and "
                   "/sys/kernel/btf/vmlinux");
}

/// Registers the congestion control for as long as the link lives. @return the link's file
/// descriptor
int link_to(bpf_map* ops) {
  // For a map with BPF_F_LINK this call only passes the programs to the kernel; the link below
  // registers them.
  bpf_link* const handed_over = bpf_map__attach_struct_ops(ops);
  if (handed_over == nullptr) refuse(-errno);
  bpf_link__disconnect(handed_over);
  bpf_link__destroy(handed_over);
  const int link = bpf_link_create(bpf_map__fd(ops), 0, kAttachStructOps, nullptr);
  if (link < 0) refuse(link);
  return link;
}

}  // namespace

void CongestionControl::Destroy::operator()(dctcp_bpf* object) const noexcept {
  dctcp_bpf__destroy(object);
}

CongestionControl::CongestionControl(bool for_everyone) : object_(dctcp_bpf__open()) {
  if (!object_) refuse(-errno);
  bpf_map* const ops = for_everyone ? object_->maps.for_everyone : object_->maps.for_root;
  bpf_map__set_autocreate(for_everyone ? object_->maps.for_root : object_->maps.for_everyone,
                          false);
  bpf_map__set_map_flags(ops, kStructOpsLink);
  if (const int failed = dctcp_bpf__load(object_.get()); failed < 0) refuse(failed);
  link_ = link_to(ops);
}

CongestionControl::~CongestionControl() { close(link_); }

std::vector<std::uint64_t> CongestionControl::counts() const {
  return read_counts(bpf_map__fd(object_->maps.counts), kAgentDctcpCounts);
}

ProgramCost CongestionControl::cost() const { return cost_of_all(object_->obj); }

}  // namespace outrider::agent
