#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trafficgen/hosts/host.h"

namespace outrider::tg {

/// Numbers of the two hosts of a channel.
struct HostPair {
  std::uint32_t from = 0;  ///< of those that open
  std::uint32_t to = 0;
};

/// The hosts that channels lead from, and those that they lead to. A host may be both.
struct ChannelHosts {
  std::vector<Host*> from{}, to{};

  [[nodiscard]] Host& near(HostPair pair) const noexcept { return *from[pair.from]; }
  [[nodiscard]] Host& far(HostPair pair) const noexcept { return *to[pair.to]; }
  [[nodiscard]] std::size_t pairs() const noexcept { return from.size() * to.size(); }
  [[nodiscard]] std::size_t index_of(HostPair pair) const noexcept {
    return pair.from * to.size() + pair.to;
  }
};

}  // namespace outrider::tg
