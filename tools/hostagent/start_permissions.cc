#include "tools/hostagent/start_permissions.h"

#include <arpa/inet.h>
#include <bpf/bpf.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "tools/hostagent/agent_error.h"
#include "tools/hostagent/bpf/wire.h"

namespace outrider::agent {
namespace {

AgentPrefix key_of(const Prefix& prefix) noexcept {
  return {.bits = prefix.length, .address = htonl(prefix.address)};
}

void put(int map, const void* key) {
  constexpr std::uint8_t kThere = 1;
  if (const int failed = bpf_map_update_elem(map, key, &kThere, BPF_ANY); failed != 0)
    throw AgentError(std::string("cannot tell the program an address: ") + std::strerror(errno));
}

}  // namespace

StartPermissions::StartPermissions(int own_map, int accepted_map, std::vector<Prefix> accept_from,
                                   const NetworkInterface& interface)
    : own_map_(own_map),
      accepted_map_(accepted_map),
      accept_from_(std::move(accept_from)),
      interface_(interface) {
  for (const auto& prefix : accept_from_) accept(prefix);
  refresh();
}

void StartPermissions::refresh() {
  HostAddresses now = addresses_of_host(interface_);
  if (now == known_) return;
  for (const std::uint32_t address : now.own) {
    const std::uint32_t key = htonl(address);
    put(own_map_, &key);
  }
  for (const std::uint32_t address : known_.own) {
    const std::uint32_t key = htonl(address);
    if (!std::ranges::binary_search(now.own, address)) bpf_map_delete_elem(own_map_, &key);
  }
  if (accept_from_.empty()) {
    for (const auto& prefix : known_.networks)
      if (std::ranges::find(now.networks, prefix) == now.networks.end()) {
        const AgentPrefix key = key_of(prefix);
        bpf_map_delete_elem(accepted_map_, &key);
      }
    for (const auto& prefix : now.networks) accept(prefix);
  }
  known_ = std::move(now);
}

void StartPermissions::accept(const Prefix& prefix) const {
  const AgentPrefix key = key_of(prefix);
  put(accepted_map_, &key);
}

}  // namespace outrider::agent
