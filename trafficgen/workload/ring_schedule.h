#pragma once

#include <cassert>
#include <cstdint>

namespace outrider {

/// Who sends which chunk in which step of a ring all-reduce. Step k of worker w
/// goes to worker w + 1; steps 0 to N - 2 reduce and scatter, N - 1 to 2N - 3
/// gather. A worker may send step k > 0 when it has received step k - 1, because
/// that is the chunk it then passes on.
///
/// Source: Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for
/// clusters of workstations", JPDC 69 (2009): 2(N - 1)/N of the bytes each.
class RingSchedule {
 public:
  /// @param workers >= 2
  constexpr RingSchedule(std::uint32_t workers, std::uint64_t bytes) noexcept
      : workers_(workers), bytes_(bytes) {
    assert(workers >= 2);
  }

  [[nodiscard]] constexpr std::uint32_t steps() const noexcept { return 2 * (workers_ - 1); }
  [[nodiscard]] constexpr std::uint32_t right_of(std::uint32_t worker) const noexcept {
    return (worker + 1) % workers_;
  }
  [[nodiscard]] constexpr std::uint32_t left_of(std::uint32_t worker) const noexcept {
    return (worker + workers_ - 1) % workers_;
  }
  /// Chunk that `worker` sends in `step`. In step N - 1 it is the one that the
  /// worker has just reduced completely: w + 1.
  [[nodiscard]] constexpr std::uint32_t chunk(std::uint32_t worker,
                                              std::uint32_t step) const noexcept {
    assert(step < steps());
    return (worker + 2 * workers_ - step) % workers_;
  }
  /// Equal parts; the first chunks take what is left over.
  [[nodiscard]] constexpr std::uint64_t chunk_bytes(std::uint32_t chunk) const noexcept {
    return bytes_ / workers_ + (chunk < bytes_ % workers_ ? 1 : 0);
  }
  [[nodiscard]] constexpr std::uint64_t step_bytes(std::uint32_t worker,
                                                   std::uint32_t step) const noexcept {
    return chunk_bytes(chunk(worker, step));
  }
  /// All that a worker sends in an iteration.
  [[nodiscard]] constexpr std::uint64_t sent_bytes(std::uint32_t worker) const noexcept {
    std::uint64_t bytes = 0;
    for (std::uint32_t step = 0; step < steps(); ++step) bytes += step_bytes(worker, step);
    return bytes;
  }

 private:
  std::uint32_t workers_;
  std::uint64_t bytes_;
};

/// Where one worker is in the ring's steps of an iteration. Not thread-safe.
class RingProgress {
 public:
  explicit RingProgress(std::uint32_t steps) noexcept : steps_(steps) {}

  void begin() noexcept { released_ = false, sent_ = received_ = 0; }
  void on_released() noexcept { released_ = true; }
  void on_received() noexcept {
    assert(received_ < steps_);
    ++received_;
  }
  void on_sent() noexcept { ++sent_; }

  [[nodiscard]] bool may_send() const noexcept {
    return released_ && sent_ < steps_ && sent_ <= received_;
  }
  [[nodiscard]] std::uint32_t next_step() const noexcept { return sent_; }
  [[nodiscard]] std::uint32_t received() const noexcept { return received_; }
  [[nodiscard]] bool done() const noexcept { return sent_ == steps_ && received_ == steps_; }

 private:
  std::uint32_t steps_;
  std::uint32_t sent_ = 0;
  std::uint32_t received_ = 0;
  bool released_ = false;  ///< own gradients may leave
};

}  // namespace outrider
