#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "common/core/flow_key.h"
#include "common/core/flow_table.h"

namespace outrider {

/// Tracks what announced bursts have in flight, as one egress queue sees it: payload that
/// has reached the queue and is not yet acknowledged on the way back.
///
/// A burst is *open* from its START until its last byte has reached the queue. Its length is
/// the announced one. Without one it is that of the flow's burst before, which is the
/// difference of the two STARTs' sequence numbers. A burst that turns out longer is opened
/// again, with unknown length. A burst of unknown length stays open until close_all().
///
/// A burst may be *predicted*: it is expected to go to an address, from flows that are not
/// known yet. New payload of any flow to that address joins it, and its flight is that of
/// all these flows together. A flow joins with the first payload seen, so a segment from
/// before the burst that is retransmitted just then counts with it. A START for a flow to
/// that address ends the prediction, because an announcement is more exact.
///
/// Bounded: a START beyond `max_entries` evicts the first of the next kProbes bursts in turn that
/// is not open, or is refused. All operations are O(1). Not thread-safe.
class BurstFlights {
 public:
  /// @param max_entries > 0
  explicit BurstFlights(std::uint32_t max_entries);

  /// Opens an announced burst. @param announced_sequence of the burst's first byte
  /// @param bytes announced; 0: not known
  /// @return false if there is no room
  bool on_start(const FlowKey& flow, std::uint32_t announced_sequence,
                std::uint64_t bytes) noexcept;
  /// Opens a predicted burst to `address`. Nothing changes if an announced one is open.
  /// @param bytes of the burst before; 0: not known
  /// @return false if there is no room
  bool on_prediction(std::uint32_t address, std::uint64_t bytes) noexcept;
  /// Handles payload that reaches the queue. @param bytes > 0
  /// @return true if it opened its burst again
  bool on_payload(const FlowKey& flow, std::uint32_t sequence, std::uint32_t bytes) noexcept;
  /// Handles an acknowledgment. @param flow of the data, not of the acknowledgment
  void on_ack(const FlowKey& flow, std::uint32_t acknowledgment) noexcept;
  /// Closes all bursts, because regulation has ended for whatever reason.
  void close_all() noexcept;

  [[nodiscard]] bool any_open() const noexcept { return open_ != 0; }
  [[nodiscard]] bool any_of_unknown_length() const noexcept { return open_unknown_ != 0; }
  /// Returns the flight of open bursts [bytes]; a burst that has arrived whole counts nothing.
  [[nodiscard]] std::uint64_t in_flight_bytes() const noexcept { return in_flight_bytes_; }
  /// Returns what open bursts have still to bring [bytes]; nothing if a length is not known.
  [[nodiscard]] std::optional<std::uint64_t> remaining_bytes() const noexcept {
    return open_unknown_ == 0 ? std::optional(remaining_bytes_) : std::nullopt;
  }
  /// Returns the number of bursts whose last byte was seen to reach the queue.
  [[nodiscard]] std::uint64_t arrived_whole() const noexcept { return arrived_whole_; }
  static std::size_t bytes_per_entry() noexcept {
    return sizeof(Burst) + 2 * (sizeof(FlowKey) + 2 * sizeof(std::uint32_t)) +
           2 * (sizeof(FlowKey) + sizeof(Destination) + sizeof(std::uint32_t));
  }

 private:
  /// State of a burst, or of a flow that has joined a predicted burst. Only the predicted
  /// burst is counted then; its sequence numbers count the bytes of all joined flows.
  struct Burst {
    FlowKey flow;  ///< of a predicted burst: see predicted_to()
    std::uint32_t announced_sequence = 0;
    std::uint32_t end = 0;           ///< one past the highest byte that reached the queue
    std::uint32_t acknowledged = 0;  ///< highest seen, at least announced_sequence
    std::uint64_t length_bytes = 0;  ///< 0: not known
    std::uint64_t opened_in = 0;     ///< period_ in which it was opened; 0: it was closed
    std::uint64_t prediction = 0;    ///< number of the prediction that it is or joined; 0: none

    [[nodiscard]] std::uint32_t flight() const noexcept;
    [[nodiscard]] std::uint64_t remaining() const noexcept;
    [[nodiscard]] bool known() const noexcept;
  };
  /// What the bursts to one address have in common.
  struct Destination {
    std::uint32_t bursts = 0;     ///< in the table, announced or not
    std::uint32_t announced = 0;  ///< open ones that were announced, if opened_in is period_
    std::uint64_t opened_in = 0;
  };
  /// The next bursts that slot_for() looks at to find one that is not open.
  static constexpr int kProbes = 8;

  /// Returns a key that stands for a predicted burst; no real flow has source 0.
  [[nodiscard]] static FlowKey predicted_to(std::uint32_t address) noexcept {
    return {0, address, 0, 0};
  }
  [[nodiscard]] bool is_open(const Burst& b) const noexcept { return b.opened_in == period_; }
  [[nodiscard]] static bool has_joined(const Burst& b, const Burst& predicted) noexcept {
    return b.prediction == predicted.prediction;
  }
  Destination& destination_of(const Burst& b) noexcept;
  Burst* find(const FlowKey& flow) noexcept;
  /// Returns the predicted burst that the flow's payload may belong to, or nullptr.
  Burst* find_predicted(const FlowKey& flow) noexcept {
    return predictions_ == 0 ? nullptr : find(predicted_to(flow.destination_address));
  }
  bool join(const FlowKey& flow, std::uint32_t sequence, std::uint32_t bytes) noexcept;
  bool reach(Burst& b, std::uint32_t end) noexcept;
  void acknowledge(Burst& b, std::uint32_t acknowledged) noexcept;
  Burst* slot_for(const FlowKey& flow) noexcept;
  void list(const FlowKey& flow, std::uint32_t slot) noexcept;
  void open(Burst& b) noexcept;
  void close(Burst& b) noexcept;

  std::vector<Burst> bursts_;       ///< dense; capacity max_entries
  FlowTable<std::uint32_t> index_;  ///< flow -> position in bursts_
  /// Address, as the key of a predicted burst -> what its bursts have in common.
  FlowTable<Destination> destinations_;
  std::size_t next_victim_ = 0;
  std::uint64_t period_ = 1;  ///< ends with close_all(), and with it every open burst
  std::uint32_t open_ = 0;
  std::uint64_t in_flight_bytes_ = 0;  ///< sum of flight() over open bursts
  std::uint64_t remaining_bytes_ = 0;  ///< sum of remaining() over open bursts
  std::uint32_t open_unknown_ = 0;     ///< open bursts whose length is not known
  std::uint64_t arrived_whole_ = 0;
  std::uint64_t predictions_ = 0;  ///< predictions so far
};

}  // namespace outrider
