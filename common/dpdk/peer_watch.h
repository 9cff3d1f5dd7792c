#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>

namespace outrider {

/// Hangs up on a peer that has connected to a socket of this process and does not serve it, so
/// that the next peer has its turn. DPDK's virtio-user server takes one peer at a time, and keeps
/// one that is silent or answers with garbage: it does not close the connection, and does not
/// read from it again.
///
/// A peer that has once given the device a link, while no other was waiting, is left alone from
/// then on. DPDK sees by itself that it goes. Why nobody may wait: with a useless peer DPDK
/// takes the next peer's knock for a sign of life, and says that the link is up.
///
/// Not thread-safe: one control thread calls it. Makes system calls.
class PeerWatch {
 public:
  /// A peer has so many calls of check() to give the device a link.
  static constexpr std::uint32_t kPatience = 20;

  /// @param socket  path that a driver of this process binds
  explicit PeerWatch(std::string socket) : socket_(std::move(socket)) {}

  /// Call it in equal intervals. @param up  whether the device has a link
  /// @return whether it hung up on the peer in this call
  [[nodiscard]] bool check(bool up);

  [[nodiscard]] const std::string& socket() const noexcept { return socket_; }

 private:
  std::string socket_;
  ino_t peer_ = 0;  ///< identifies the connection that the next two members are about
  std::uint32_t checks_ = 0;
  bool settled_ = false;  ///< it serves the device, or we hung up
};

}  // namespace outrider
