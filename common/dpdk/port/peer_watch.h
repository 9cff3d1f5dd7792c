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
/// A peer that is left alone is once asked to enable its rings (vhost-user: SET_VRING_ENABLE),
/// because DPDK 22.11 may not do it. Its driver disables the rings of a peer before it greets the
/// peer. If the peer has gone by then, the driver believes for ever that the rings are enabled, and
/// asks no later peer: its device has a link and moves no packet. A ring that is enabled already
/// stays so.
///
/// Not thread-safe: one control thread calls it. Makes system calls.
class PeerWatch {
 public:
  /// A peer has so many calls of check() to give the device a link.
  static constexpr std::uint32_t kPatience = 20;

  /// @param socket  path that a driver of this process binds
  explicit PeerWatch(std::string socket) : socket_(std::move(socket)) {}

  /// Call it in equal intervals.
  /// @param up           whether the device has a link
  /// @param queue_pairs  that the device uses, >= 1
  /// @return whether it hung up on the peer in this call
  [[nodiscard]] bool check(bool up, std::uint16_t queue_pairs);

  [[nodiscard]] const std::string& socket() const noexcept { return socket_; }

 private:
  enum class Peer : std::uint8_t {
    kNew,     ///< has not served the device yet
    kServes,  ///< and the driver may still be greeting it
    kAsked,   ///< serves, and was asked to enable its rings
    kLeft,    ///< we hung up
  };

  std::string socket_;
  ino_t connection_ = 0;  ///< identifies the connection that the next two members are about
  std::uint32_t checks_ = 0;
  Peer peer_ = Peer::kNew;
};

}  // namespace outrider
