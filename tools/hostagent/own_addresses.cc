#include "tools/hostagent/own_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "tools/hostagent/agent_error.h"

namespace outrider::agent {
namespace {

std::uint32_t address_in(const sockaddr* any) noexcept {
  sockaddr_in ipv4{};
  std::memcpy(&ipv4, any, sizeof ipv4);
  return ntohl(ipv4.sin_addr.s_addr);
}

/// Returns whether packets of `upper` pass through `lower`.
bool is_stacked_on(const std::string& upper, const std::string& lower) {
  std::error_code ignored;
  return upper == lower ||
         std::filesystem::exists("/sys/class/net/" + upper + "/lower_" + lower, ignored);
}

}  // namespace

HostAddresses addresses_of_host(const NetworkInterface& interface) {
  ifaddrs* first = nullptr;
  if (getifaddrs(&first) != 0)
    throw AgentError(std::string("cannot read the addresses of this host: ") +
                     std::strerror(errno));
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> all(first, &freeifaddrs);
  HostAddresses found;
  for (const ifaddrs* a = first; a != nullptr; a = a->ifa_next) {
    if (a->ifa_addr == nullptr || a->ifa_addr->sa_family != AF_INET) continue;
    const std::uint32_t own = address_in(a->ifa_addr);
    found.own.push_back(own);
    if (a->ifa_netmask == nullptr || !is_stacked_on(a->ifa_name, interface.name)) continue;
    const std::uint32_t mask = address_in(a->ifa_netmask);
    found.networks.push_back({own & mask, static_cast<std::uint8_t>(std::popcount(mask))});
  }
  std::ranges::sort(found.own);
  found.own.erase(std::unique(found.own.begin(), found.own.end()), found.own.end());
  return found;
}

}  // namespace outrider::agent
