#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace outrider {

/// Hands a value from the one lcore that owns it to readers on other threads. The owner never
/// waits: a reader that finds a half-written value reads again.
///
/// write(): only the owner's thread. read(): any thread, at any rate.
///
/// Source: a sequence lock; the copy goes through relaxed atomics so that the race
/// it tolerates is defined (H.-J. Boehm, "Can seqlocks get along with programming
/// language memory models?", MSPC 2012, section 4).
template <class T>
class SnapshotCell {
  static_assert(std::is_trivially_copyable_v<T> && sizeof(T) % sizeof(std::uint64_t) == 0);

 public:
  void write(const T& value) noexcept {
    std::uint64_t words[kWords];
    std::memcpy(words, &value, sizeof value);
    const std::uint64_t version = version_.load(std::memory_order_relaxed);
    version_.store(version + 1, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_release);
    for (std::size_t i = 0; i < kWords; ++i) words_[i].store(words[i], std::memory_order_relaxed);
    version_.store(version + 2, std::memory_order_release);
  }

  [[nodiscard]] T read() const noexcept {
    std::uint64_t words[kWords];
    std::uint64_t before, after;
    do {
      before = version_.load(std::memory_order_acquire);
      for (std::size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_relaxed);
      std::atomic_thread_fence(std::memory_order_acquire);
      after = version_.load(std::memory_order_relaxed);
    } while (before != after || before % 2 != 0);
    T value;
    std::memcpy(&value, words, sizeof value);
    return value;
  }

 private:
  static constexpr std::size_t kWords = sizeof(T) / sizeof(std::uint64_t);
  std::atomic<std::uint64_t> version_{0};  ///< odd while a write is in progress
  std::atomic<std::uint64_t> words_[kWords]{};
};

}  // namespace outrider
