#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "trafficgen/core/fifo.h"

namespace outrider::tg {

/// What a requester was given to send, as requests that are cut into packets, until it is
/// acknowledged. Bytes that are appended before the last request has begun to leave join it.
/// Packets are counted from 0 in 64 bits. Not thread-safe; nothing allocates after construction,
/// except one doubling of the ring at most.
class OutgoingRequests {
 public:
  /// One WRITE or SEND.
  struct Request {
    std::uint64_t first = 0;  ///< its first packet
    std::uint64_t address = 0;
    std::uint64_t bytes = 0;
    std::optional<std::uint32_t> immediate{};
  };

  /// @param path_mtu payload of a full packet
  /// @param expected requests that have begun to leave and are not acknowledged
  OutgoingRequests(std::uint32_t path_mtu, std::uint32_t expected)
      : path_mtu_(path_mtu), requests_(expected) {}

  /// Appends bytes > 0. @param immediate sent with the last of them, which then end the message
  void append(std::uint64_t bytes, std::optional<std::uint32_t> immediate) noexcept;
  /// Returns the request that a packet belongs to, which begins to leave if it is the open one.
  /// @param place where among those that have begun to look first, and where it is
  [[nodiscard]] const Request& of(std::uint64_t packet, std::size_t& place) noexcept;
  /// Notes that everything before `packet` is acknowledged.
  /// @return how many requests are done; the places of the others are less by as many
  std::size_t acknowledge(std::uint64_t packet) noexcept;
  /// Drops all that is not acknowledged.
  void abandon() noexcept;

  /// Returns how many packets were appended.
  [[nodiscard]] std::uint64_t end() const noexcept { return end_; }
  [[nodiscard]] std::uint64_t appended_bytes() const noexcept { return appended_bytes_; }
  [[nodiscard]] std::uint64_t acknowledged_bytes() const noexcept { return acknowledged_bytes_; }
  /// Returns true if all is acknowledged.
  [[nodiscard]] bool idle() const noexcept { return acknowledged_bytes_ == appended_bytes_; }

 private:
  [[nodiscard]] std::uint64_t packets_of(std::uint64_t bytes) const noexcept {
    return (bytes + path_mtu_ - 1) / path_mtu_;
  }

  std::uint32_t path_mtu_;
  /// All but the last have begun to leave: the bound is the window and one more.
  Fifo<Request> requests_;
  Request open_{};         ///< the last request, which has not begun to leave; no bytes: none
  std::uint64_t end_ = 0;  ///< packets
  std::uint64_t appended_bytes_ = 0;
  std::uint64_t acknowledged_bytes_ = 0;
};

}  // namespace outrider::tg
