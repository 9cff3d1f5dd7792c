#pragma once

#include <cassert>
#include <cstdint>
#include <vector>

namespace outrider::tg {

/// Says which chunk each worker sends in each step of a ring all-reduce. Step k of worker w goes to
/// worker w + 1. Steps 0 to N - 2 reduce and scatter, steps N - 1 to 2N - 3 gather. A worker may
/// send step k > 0 when it has received step k - 1, because it then passes that chunk on.
///
/// Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for
/// clusters of workstations", JPDC 69 (2009): 2(N - 1)/N of the bytes each.
class RingSchedule {
 public:
  /// @param workers >= 2
  /// @param unit_bytes unit that no chunk cuts in two, a divisor of `bytes`
  constexpr RingSchedule(std::uint32_t workers, std::uint64_t bytes,
                         std::uint32_t unit_bytes = 1) noexcept
      : workers_(workers), unit_bytes_(unit_bytes), units_(bytes / unit_bytes) {
    assert(workers >= 2 && bytes % unit_bytes == 0);
  }

  [[nodiscard]] constexpr std::uint32_t steps() const noexcept { return 2 * (workers_ - 1); }
  [[nodiscard]] constexpr std::uint32_t right_of(std::uint32_t worker) const noexcept {
    return (worker + 1) % workers_;
  }
  [[nodiscard]] constexpr std::uint32_t left_of(std::uint32_t worker) const noexcept {
    return (worker + workers_ - 1) % workers_;
  }
  /// Returns the chunk that `worker` sends in `step`. In step N - 1 this is chunk w + 1, which the
  /// worker has just reduced completely.
  [[nodiscard]] constexpr std::uint32_t chunk(std::uint32_t worker,
                                              std::uint32_t step) const noexcept {
    assert(step < steps());
    return (worker + 2 * workers_ - step) % workers_;
  }
  /// Returns the first step that gathers; all steps before it reduce.
  [[nodiscard]] constexpr std::uint32_t first_gather_step() const noexcept { return workers_ - 1; }
  /// Returns the size of a chunk. Chunks are equal; the first ones take the remainder.
  [[nodiscard]] constexpr std::uint64_t chunk_bytes(std::uint32_t chunk) const noexcept {
    return (units_ / workers_ + (chunk < units_ % workers_ ? 1 : 0)) * unit_bytes_;
  }
  [[nodiscard]] constexpr std::uint64_t step_bytes(std::uint32_t worker,
                                                   std::uint32_t step) const noexcept {
    return chunk_bytes(chunk(worker, step));
  }
  /// Returns the bytes that a worker sends in an iteration.
  [[nodiscard]] constexpr std::uint64_t sent_bytes(std::uint32_t worker) const noexcept {
    std::uint64_t bytes = 0;
    for (std::uint32_t step = 0; step < steps(); ++step) bytes += step_bytes(worker, step);
    return bytes;
  }

 private:
  std::uint32_t workers_;
  std::uint32_t unit_bytes_;
  std::uint64_t units_;
};

/// Tracks one worker's place in the ring's steps of an iteration. Step k + 1 may leave when the
/// worker's own gradients may leave and step k has arrived. Steps are passed on in the order of
/// their arrival; over a transport without order, a step does not wait for the one before it.
/// Nothing allocates after construction; not thread-safe.
class RingProgress {
 public:
  explicit RingProgress(std::uint32_t steps) : arrived_(steps, false) {}

  void begin() noexcept {
    arrived_.assign(arrived_.size(), false);
    released_ = false;
    sent_ = received_ = 0;
  }
  /// @param send is called with each step that may leave now
  template <class Send>
  void on_released(Send&& send) noexcept {
    released_ = true;
    ++sent_;
    send(std::uint32_t{0});
    for (std::uint32_t step = 0; step < steps(); ++step)
      if (arrived_[step]) pass_on(step, send);
  }
  /// @pre `step` has not arrived before
  template <class Send>
  void on_received(std::uint32_t step, Send&& send) noexcept {
    assert(!arrived_[step]);
    arrived_[step] = true;
    ++received_;
    if (released_) pass_on(step, send);
  }

  [[nodiscard]] std::uint32_t received() const noexcept { return received_; }
  [[nodiscard]] bool done() const noexcept { return sent_ == steps() && received_ == steps(); }

 private:
  [[nodiscard]] std::uint32_t steps() const noexcept {
    return static_cast<std::uint32_t>(arrived_.size());
  }
  template <class Send>
  void pass_on(std::uint32_t step, Send&& send) noexcept {
    if (step + 1 == steps()) return;
    ++sent_;
    send(step + 1);
  }

  std::vector<bool> arrived_;  ///< [steps]
  std::uint32_t sent_ = 0;
  std::uint32_t received_ = 0;
  bool released_ = false;  ///< the worker's own gradients may leave
};

}  // namespace outrider::tg
