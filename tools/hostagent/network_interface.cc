#include "tools/hostagent/network_interface.h"

#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "tools/hostagent/agent_error.h"

namespace outrider::agent {
namespace {

/// A route netlink socket.
class RouteSocket {
 public:
  RouteSocket() : fd_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {
    if (fd_ < 0)
      throw AgentError(std::string("cannot ask the kernel for filters: ") + std::strerror(errno));
  }
  ~RouteSocket() { close(fd_); }
  RouteSocket(const RouteSocket&) = delete;
  RouteSocket& operator=(const RouteSocket&) = delete;
  [[nodiscard]] int fd() const noexcept { return fd_; }

 private:
  int fd_;
};

void ask_for_filters(int fd, int interface, std::uint32_t parent) {
  struct {
    nlmsghdr header;
    tcmsg message;
  } request{};
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof(tcmsg));
  request.header.nlmsg_type = RTM_GETTFILTER;
  request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
  request.message.tcm_family = AF_UNSPEC;
  request.message.tcm_ifindex = interface;
  request.message.tcm_parent = parent;
  if (send(fd, &request, request.header.nlmsg_len, 0) < 0)
    throw AgentError(std::string("cannot ask the kernel for filters: ") + std::strerror(errno));
}

/// Reads the kernel's whole answer and returns whether it lists a filter.
bool any_filter(int fd) {
  alignas(nlmsghdr) std::array<char, 32768> buffer{};
  bool any = false;
  for (;;) {
    const ssize_t bytes = recv(fd, buffer.data(), buffer.size(), 0);
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) throw AgentError("the kernel does not say which filters there are");
    auto left = static_cast<std::uint32_t>(bytes);
    for (auto* m = reinterpret_cast<nlmsghdr*>(buffer.data()); NLMSG_OK(m, left);
         m = NLMSG_NEXT(m, left)) {
      if (m->nlmsg_type == NLMSG_DONE || m->nlmsg_type == NLMSG_ERROR) return any;
      any |= m->nlmsg_type == RTM_NEWTFILTER;
    }
  }
}

std::string known_interfaces() {
  std::string names;
  struct if_nameindex* const all = if_nameindex();
  if (all == nullptr) return names;
  for (const auto* each = all; each->if_index != 0; ++each)
    names += (names.empty() ? "" : ", ") + std::string(each->if_name);
  if_freenameindex(all);
  return names;
}

}  // namespace

NetworkInterface interface_named(const std::string& name) {
  const unsigned index = if_nametoindex(name.c_str());
  if (index == 0)
    throw AgentError("no interface \"" + name +
                     "\" in this network namespace; there are: " + known_interfaces());
  return {name, static_cast<int>(index)};
}

bool has_clsact_filters(const NetworkInterface& interface) {
  for (const std::uint32_t side : {TC_H_MIN_INGRESS, TC_H_MIN_EGRESS}) {
    const RouteSocket route;
    ask_for_filters(route.fd(), interface.index, TC_H_MAKE(TC_H_CLSACT, side));
    if (any_filter(route.fd())) return true;
  }
  return false;
}

}  // namespace outrider::agent
