#include "tools/lab/ranks/shared_lanes.h"

#include <linux/futex.h>
#include <rte_pause.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
#include <cstring>
#include <new>

#include "common/dpdk/eal/error.h"

namespace outrider::lab {
namespace {

// A batch that is longer goes in pieces. Memory of a ring that is never reached is never taken.
constexpr std::size_t kMostRingBytes = std::size_t{1} << 20;
constexpr std::size_t kLeastRingBytes = std::size_t{1} << 12;
constexpr std::size_t kMostBytes = std::size_t{1} << 28;

std::size_t ring_bytes_for(std::uint32_t ranks) {
  const std::size_t share = kMostBytes / (std::size_t{ranks} * ranks);
  return std::clamp(std::bit_floor(share), kLeastRingBytes, kMostRingBytes);
}

/// The word is shared by processes, so the private form of a futex does not do.
long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value) noexcept {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, nullptr,
                 nullptr, 0);
}

}  // namespace

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share it");
static_assert(std::atomic<std::uint32_t>::is_always_lock_free, "processes share it");

SharedLanes::SharedLanes(std::uint32_t ranks) : ranks_(ranks), ring_bytes_(ring_bytes_for(ranks)) {
  const std::size_t lanes = std::size_t{ranks} * ranks;
  mapped_bytes_ = ranks * sizeof(SharedBell) + lanes * (sizeof(SharedLane) + ring_bytes_);
  void* const memory = mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw DpdkError("mmap", "ranks", errno);
  bells_ = new (memory) SharedBell[ranks];
  lanes_ = new (bells_ + ranks) SharedLane[lanes];
  rings_ = reinterpret_cast<std::byte*>(lanes_ + lanes);
}

SharedLanes::~SharedLanes() { munmap(bells_, mapped_bytes_); }

SharedLane& SharedLanes::lane(std::uint32_t from, std::uint32_t to) const noexcept {
  return lanes_[std::size_t{from} * ranks_ + to];
}

std::span<std::byte> SharedLanes::ring(std::uint32_t from, std::uint32_t to) const noexcept {
  return {rings_ + (std::size_t{from} * ranks_ + to) * ring_bytes_, ring_bytes_};
}

std::size_t SharedLanes::write(std::uint32_t from, std::uint32_t to,
                               std::span<const std::byte> bytes) noexcept {
  SharedLane& l = lane(from, to);
  const std::span<std::byte> room = ring(from, to);
  const std::uint64_t written = l.written.load(std::memory_order_relaxed);
  const std::uint64_t used = written - l.read.load(std::memory_order_acquire);
  const std::size_t n = std::min<std::size_t>(bytes.size(), ring_bytes_ - used);
  if (n == 0) return 0;
  const std::size_t at = written % ring_bytes_, first = std::min(n, ring_bytes_ - at);
  std::memcpy(room.data() + at, bytes.data(), first);
  std::memcpy(room.data(), bytes.data() + first, n - first);
  l.written.store(written + n, std::memory_order_release);
  ring_bell(to);
  return n;
}

std::size_t SharedLanes::read(std::uint32_t from, std::uint32_t to,
                              std::span<std::byte> room) noexcept {
  SharedLane& l = lane(from, to);
  const std::span<std::byte> bytes = ring(from, to);
  const std::uint64_t read = l.read.load(std::memory_order_relaxed);
  const std::uint64_t there = l.written.load(std::memory_order_acquire) - read;
  const std::size_t n = std::min<std::size_t>(room.size(), there);
  if (n == 0) return 0;
  const std::size_t at = read % ring_bytes_, first = std::min(n, ring_bytes_ - at);
  std::memcpy(room.data(), bytes.data() + at, first);
  std::memcpy(room.data() + first, bytes.data(), n - first);
  l.read.store(read + n, std::memory_order_release);
  ring_bell(from);
  return n;
}

bool SharedLanes::can_write(std::uint32_t from, std::uint32_t to) const noexcept {
  const SharedLane& l = lane(from, to);
  return l.written.load(std::memory_order_relaxed) - l.read.load(std::memory_order_acquire) <
         ring_bytes_;
}

bool SharedLanes::can_read(std::uint32_t from, std::uint32_t to) const noexcept {
  const SharedLane& l = lane(from, to);
  return l.written.load(std::memory_order_acquire) != l.read.load(std::memory_order_relaxed);
}

void SharedLanes::end(std::uint32_t rank) noexcept {
  bells_[rank].ended.store(1, std::memory_order_release);
  for (std::uint32_t r = 0; r < ranks_; ++r) ring_bell(r);
}

bool SharedLanes::ended(std::uint32_t rank) const noexcept {
  return bells_[rank].ended.load(std::memory_order_acquire) != 0;
}

void SharedLanes::ring_bell(std::uint32_t rank) noexcept {
  SharedBell& bell = bells_[rank];
  bell.rings.fetch_add(1, std::memory_order_seq_cst);
  if (bell.sleeping.load(std::memory_order_seq_cst) != 0) futex(bell.rings, FUTEX_WAKE, INT_MAX);
}

void SharedLanes::pause() noexcept { rte_pause(); }

std::uint32_t SharedLanes::fall_asleep(std::uint32_t rank) noexcept {
  const std::uint32_t seen = bells_[rank].rings.load(std::memory_order_seq_cst);
  bells_[rank].sleeping.store(1, std::memory_order_seq_cst);
  return seen;
}

void SharedLanes::sleep(std::uint32_t rank, std::uint32_t seen) noexcept {
  futex(bells_[rank].rings, FUTEX_WAIT, seen);
}

void SharedLanes::wake_up(std::uint32_t rank) noexcept {
  bells_[rank].sleeping.store(0, std::memory_order_relaxed);
}

}  // namespace outrider::lab
