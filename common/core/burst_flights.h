#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/flow_key.h"
#include "common/core/flow_table.h"

namespace outrider {

/// What announced bursts have in flight, as one egress queue sees it: payload that has
/// reached the queue and is not yet acknowledged on the way back.
///
/// A burst is *open* from its START until its last byte has reached the queue. How long
/// it is: as announced, or else as long as the flow's burst before it, which the two
/// STARTs' sequence numbers tell. A burst that turns out longer is open again, its length
/// no longer known. One whose length is unknown stays open until close_all().
///
/// Bounded: a START beyond `max_entries` evicts the next burst in turn that is not
/// open, or is refused. O(1) but for close_all(). Not thread-safe.
class BurstFlights {
 public:
  /// @param max_entries > 0
  explicit BurstFlights(std::uint32_t max_entries);

  /// @param announced_sequence of the burst's first byte
  /// @param bytes announced; 0: not known
  /// @return false if there is no room
  bool on_start(const FlowKey& flow, std::uint32_t announced_sequence,
                std::uint64_t bytes) noexcept;
  /// Payload reaches the queue. @param bytes > 0
  /// @return true if it opened its burst again
  bool on_payload(const FlowKey& flow, std::uint32_t sequence, std::uint32_t bytes) noexcept;
  /// @param flow of the data, not of the acknowledgment
  void on_ack(const FlowKey& flow, std::uint32_t acknowledgment) noexcept;
  /// Regulation has ended, for whatever reason: no burst is open.
  void close_all() noexcept;

  [[nodiscard]] bool any_open() const noexcept { return open_ != 0; }
  /// Of open bursts: one that has arrived as a whole asks for nothing more [bytes].
  [[nodiscard]] std::uint64_t in_flight_bytes() const noexcept { return in_flight_bytes_; }
  /// What open bursts have still to bring; nothing if the length of one is not known [bytes].
  [[nodiscard]] std::optional<std::uint64_t> remaining_bytes() const noexcept {
    return open_unknown_ == 0 ? std::optional(remaining_bytes_) : std::nullopt;
  }
  /// Bursts whose last byte was seen to reach the queue.
  [[nodiscard]] std::uint64_t arrived_whole() const noexcept { return arrived_whole_; }
  static std::size_t bytes_per_entry() noexcept {
    return sizeof(Burst) + 2 * (sizeof(FlowKey) + 2 * sizeof(std::uint32_t));
  }

 private:
  struct Burst {
    FlowKey flow;
    std::uint32_t announced_sequence = 0;
    std::uint32_t end = 0;           ///< one past the highest byte that reached the queue
    std::uint32_t acknowledged = 0;  ///< highest, at least announced_sequence
    std::uint64_t length_bytes = 0;  ///< 0: not known
    bool open = false;

    [[nodiscard]] std::uint32_t flight() const noexcept;
    [[nodiscard]] std::uint64_t remaining() const noexcept;
    [[nodiscard]] bool known() const noexcept;
  };
  Burst* find(const FlowKey& flow) noexcept;
  Burst* slot_for(const FlowKey& flow) noexcept;
  void open(Burst& b) noexcept;
  void close(Burst& b) noexcept;

  std::vector<Burst> bursts_;       ///< dense; capacity max_entries
  FlowTable<std::uint32_t> index_;  ///< flow -> position in bursts_
  std::size_t next_victim_ = 0;
  std::uint32_t open_ = 0;
  std::uint64_t in_flight_bytes_ = 0;  ///< sum of flight() over open bursts
  std::uint64_t remaining_bytes_ = 0;  ///< sum of remaining() over open bursts
  std::uint32_t open_unknown_ = 0;     ///< open bursts whose length is not known
  std::uint64_t arrived_whole_ = 0;
};

}  // namespace outrider
