#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "common/core/clock.h"
#include "common/dpdk/packet/packet.h"
#include "common/net/headers.h"
#include "switch/aqm/pause_account.h"
#include "switch/aqm/scheduler.h"
#include "switch/aqm/shared_buffer.h"
#include "switch/config/config.h"

namespace outrider::sw {

class PortPauses;

/// Counts the packets of lossless classes that a switch holds, by the port that they came by and
/// the number of their queue. Where the port's queue of that number is lossless, the port asks its
/// neighbour to pause the class (PFC) when they are too many, by its PortPauses.
///
/// These packets are in memory of their own, xoff_bytes and headroom_bytes for each such port and
/// queue, which the shared buffer lacks. With xoff_alpha only the headroom is the port's: the rest
/// is in the shared buffer, as a queue of its own there. Packets of other ports share the buffer as
/// ever, also if they wait in the same queue.
///
/// Asked for packets that have passed Switch::ingress() and have not left: their ingress port is
/// known. O(1), nothing is allocated after construction. Not thread-safe: the ports that share it
/// have one owner.
class LosslessBuffer {
 public:
  /// Returns what ports and queues with a dynamic threshold are in the shared buffer, where they
  /// are the last.
  [[nodiscard]] static std::vector<SharedBuffer::QueueShare> shares_of(const SwitchConfig& config);

  /// @param shared  with shares_of() the configuration, must outlive it; nullptr: there is none
  /// @return nullptr if no queue is lossless
  [[nodiscard]] static std::unique_ptr<LosslessBuffer> make(const SwitchConfig& config,
                                                            SharedBuffer* shared);

  LosslessBuffer(const SwitchConfig& config, SharedBuffer* shared);

  /// Sets what notifies the port's neighbour to pause or to go on. Call it once for each port that
  /// has a lossless queue, before the first packet. @param pauses must outlive the last packet
  void join(std::uint16_t port, PortPauses& pauses) noexcept { pauses_[port] = &pauses; }

  /// Returns whether a packet of queue `queue` came as one of a lossless queue.
  [[nodiscard]] bool holds(const Packet& packet, std::uint8_t queue) const noexcept {
    return accounts_[index_of(ingress_port_of(packet), queue)].has_value();
  }
  /// @pre holds(), as for those below
  [[nodiscard]] bool admits(const Packet& packet, std::uint8_t queue) const noexcept {
    return accounts_[index_of(ingress_port_of(packet), queue)]->admits(meta(packet).frame_bytes);
  }
  void charge(const Packet& packet, std::uint8_t queue, Time now) noexcept;
  void release(const Packet& packet, std::uint8_t queue, Time now) noexcept;

  /// @pre the port's queue is lossless
  [[nodiscard]] PauseAccount& account(std::uint16_t port, std::uint8_t queue) noexcept {
    return *accounts_[index_of(port, queue)];
  }
  /// Returns where buffers for pause frames come from: the pool of a packet that it held. @pre
  /// charge() was called
  [[nodiscard]] rte_mempool& pool() noexcept { return *pool_; }
  /// Returns the source of pause frames.
  [[nodiscard]] const MacAddress& mac() const noexcept { return mac_; }

 private:
  [[nodiscard]] static std::size_t index_of(std::uint16_t port, std::uint8_t queue) noexcept {
    return std::size_t{port} * kMaxQueuesPerPort + queue;
  }

  std::vector<std::optional<PauseAccount>> accounts_;  ///< [ports x kMaxQueuesPerPort]
  std::vector<PortPauses*> pauses_;                    ///< [ports]
  rte_mempool* pool_ = nullptr;
  MacAddress mac_{};
};

}  // namespace outrider::sw
