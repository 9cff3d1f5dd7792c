#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

namespace outrider::fuzz {

/// Reads a fuzzer's bytes as numbers; zeros follow the end.
class FuzzInput {
 public:
  FuzzInput(const std::uint8_t* data, std::size_t size) noexcept : at_(data), left_(size) {}

  [[nodiscard]] bool empty() const noexcept { return left_ == 0; }
  [[nodiscard]] std::size_t left() const noexcept { return left_; }
  [[nodiscard]] const std::uint8_t* data() const noexcept { return at_; }

  /// Returns what is left, without taking it.
  [[nodiscard]] std::string_view text() const noexcept {
    return {reinterpret_cast<const char*>(at_), left_};
  }

  template <class T>
  T take() noexcept {
    T value{};
    const std::size_t bytes = left_ < sizeof value ? left_ : sizeof value;
    if (bytes != 0) std::memcpy(&value, at_, bytes);
    at_ += bytes;
    left_ -= bytes;
    return value;
  }
  std::uint8_t byte() noexcept { return take<std::uint8_t>(); }

 private:
  const std::uint8_t* at_;
  std::size_t left_;
};

}  // namespace outrider::fuzz

/// Aborts with the place: assert() that no build leaves out.
#define FUZZ_REQUIRE(condition)                                            \
  do {                                                                     \
    if (!(condition)) {                                                    \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      __builtin_abort();                                                   \
    }                                                                      \
  } while (false)
