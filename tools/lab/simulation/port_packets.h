#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <type_traits>

namespace outrider::lab {

/// The packets that left a port, as a pcapng file.
struct PortPackets {
  std::string port;           ///< "switch.port"
  std::uint64_t packets = 0;  ///< in the file
  std::uint64_t missed = 0;   ///< that left later, when the file was full
  std::string pcapng;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, PortPackets>
void fields(V& v, R& r) {
  v.value("port", r.port);
  v.value("packets", r.packets);
  v.value("missed", r.missed);
  v.value("pcapng", r.pcapng);
}

}  // namespace outrider::lab
