#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#include "common/core/clock.h"
#include "common/core/units.h"
#include "switch/aqm/scheduler.h"
#include "switch/config/config.h"
#include "switch/egress/fixed_array.h"
#include "switch/egress/parts/queue_tap.h"
#include "switch/egress/port_queue.h"

namespace outrider::sw {

/// Says which of a port's queues is served next: the scheduler, and which queues hold packets and
/// are not stopped. Pause frames and signals wait before all of them.
///
/// Not thread-safe: the lcore of the port owns it.
class ServiceOrder {
 public:
  static constexpr std::uint32_t kSignals = 1U << kMaxQueuesPerPort;
  static constexpr std::uint32_t kPauseFrame = kSignals << 1;

  /// @param queues  of the port, all there before the first packet
  ServiceOrder(const SwitchPortConfig& config, FixedArray<PortQueue>& queues);

  /// Returns the bit of a queue, as an argument for the functions below.
  [[nodiscard]] std::uint32_t bit_of(const PortQueue& queue) const noexcept {
    return 1U << number_of(queue);
  }
  /// Notes that packets wait in a queue, or behind kSignals or kPauseFrame. A queue that is stopped
  /// does not join yet.
  void join(std::uint32_t bit) noexcept { waiting_ |= bit & open_; }
  void leave(std::uint32_t bit) noexcept { waiting_ &= ~bit; }
  /// Stops queues, and starts all others. @param stopped  bit q: queue q
  void stop(QueueMask stopped) noexcept;

  /// Returns whether something waits that may be served.
  [[nodiscard]] bool backlogged() const noexcept { return waiting_ != 0; }
  [[nodiscard]] bool signals_wait() const noexcept { return waiting_ >= kSignals; }
  [[nodiscard]] bool pause_frame_waits() const noexcept { return (waiting_ & kPauseFrame) != 0; }
  [[nodiscard]] bool all_open() const noexcept { return open_ == ~0U; }
  [[nodiscard]] bool is_open(unsigned q) const noexcept { return (open_ >> q & 1) != 0; }
  [[nodiscard]] bool has_several_queues() const noexcept { return several_; }

  /// Returns the number of the queue that is next. @pre a queue waits, and nothing before the
  /// queues
  [[nodiscard]] unsigned pick(Time now) noexcept;
  /// Tells the scheduler that a queue sends a packet while all of them are empty.
  [[gnu::noinline]] void pick_only(const PortQueue& queue, std::uint32_t frame_bytes,
                                   Time now) noexcept;
  /// Call when the packet of the queue that was picked is transmitted.
  void served(unsigned q, std::uint32_t frame_bytes) noexcept {
    if (several_) [[unlikely]]
      scheduler_.served(q, frame_bytes);
  }
  void served(const PortQueue& queue, std::uint32_t frame_bytes) noexcept {
    if (several_) [[unlikely]]
      scheduler_.served(number_of(queue), frame_bytes);
  }
  /// Returns what leaves before a packet that joins queue `q` now, if nothing else arrives and no
  /// marker drops: found by playing the scheduler on. @param serializer  of the port
  [[nodiscard]] QueueState ahead_of(unsigned q, std::uint32_t frame_bytes, Serializer serializer,
                                    Time now) const noexcept;

  /// Swaps in a scheduler.
  void change(Scheduler& scheduler) noexcept { std::swap(scheduler_, scheduler); }
  /// Forgets what waits.
  void clear() noexcept { waiting_ = 0; }

 private:
  [[nodiscard]] unsigned number_of(const PortQueue& queue) const noexcept {
    return static_cast<unsigned>(&queue - queues_);
  }

  /// Bit q: queue q holds packets and is not stopped; kSignals, kPauseFrame: these wait
  std::uint32_t waiting_ = 0;
  std::uint32_t open_ = ~0U;  ///< bit q: queue q is not stopped
  bool several_;              ///< whether the scheduler chooses among queues
  PortQueue* queues_;         ///< of the port
  std::size_t queue_count_;
  Scheduler scheduler_;
};

/// Returns the scheduler of a port's configuration.
[[nodiscard]] Scheduler scheduler_of(const SwitchPortConfig& config);

}  // namespace outrider::sw
