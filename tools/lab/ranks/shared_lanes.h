#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace outrider::lab {

/// The bytes from one rank to another, and how far either has come: a ring with one writer and one
/// reader.
struct SharedLane {
  alignas(64) std::atomic<std::uint64_t> written{0};  ///< bytes since the start
  alignas(64) std::atomic<std::uint64_t> read{0};     ///< bytes since the start
};

/// Where a rank sleeps while it has nothing to do.
struct SharedBell {
  alignas(64) std::atomic<std::uint32_t> rings{0};
  std::atomic<std::uint32_t> sleeping{0};
  std::atomic<std::uint32_t> ended{0};  ///< the rank's process is gone
};

/// Memory that the ranks of one machine share, with a lane from each to each. Its maker forks the
/// ranks, which use the same memory; each process unmaps it for itself.
class SharedLanes {
 public:
  /// @throws DpdkError if there is no memory
  explicit SharedLanes(std::uint32_t ranks);
  ~SharedLanes();
  SharedLanes(const SharedLanes&) = delete;
  SharedLanes& operator=(const SharedLanes&) = delete;

  [[nodiscard]] std::uint32_t ranks() const noexcept { return ranks_; }

  /// Appends as much of `bytes` to a lane as it has room for. @return bytes
  std::size_t write(std::uint32_t from, std::uint32_t to,
                    std::span<const std::byte> bytes) noexcept;
  /// Takes what a lane has, and no more than `room`. @return bytes
  std::size_t read(std::uint32_t from, std::uint32_t to, std::span<std::byte> room) noexcept;
  [[nodiscard]] bool can_write(std::uint32_t from, std::uint32_t to) const noexcept;
  [[nodiscard]] bool can_read(std::uint32_t from, std::uint32_t to) const noexcept;

  /// Says that a rank has ended, and wakes those who wait for it.
  void end(std::uint32_t rank) noexcept;
  [[nodiscard]] bool ended(std::uint32_t rank) const noexcept;

  /// Sleeps until `ready` returns true. It is asked again whenever a lane of this rank has moved,
  /// or another rank has ended.
  /// @param spins  that often it is asked before the rank sleeps, which costs microseconds
  template <class Ready>
  void wait(std::uint32_t rank, std::uint32_t spins, Ready ready) {
    for (; spins > 0; --spins) {
      if (ready()) return;
      pause();
    }
    while (true) {
      // What changes after this line makes the sleep end at once.
      const std::uint32_t seen = fall_asleep(rank);
      const bool done = ready();
      if (!done) sleep(rank, seen);
      wake_up(rank);
      if (done) return;
    }
  }

 private:
  [[nodiscard]] SharedLane& lane(std::uint32_t from, std::uint32_t to) const noexcept;
  [[nodiscard]] std::span<std::byte> ring(std::uint32_t from, std::uint32_t to) const noexcept;
  void ring_bell(std::uint32_t rank) noexcept;
  static void pause() noexcept;
  std::uint32_t fall_asleep(std::uint32_t rank) noexcept;
  void sleep(std::uint32_t rank, std::uint32_t seen) noexcept;
  void wake_up(std::uint32_t rank) noexcept;

  std::uint32_t ranks_;
  std::size_t ring_bytes_;
  std::size_t mapped_bytes_;
  SharedBell* bells_;  ///< [ranks]
  SharedLane* lanes_;  ///< [ranks][ranks], by writer and reader
  std::byte* rings_;   ///< [ranks][ranks][ring_bytes_]
};

}  // namespace outrider::lab
