#pragma once

#include <concepts>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "common/core/histogram.h"
#include "common/core/per_reason.h"
#include "common/core/traffic_class.h"

namespace outrider {

/// # Reports as bytes
///
/// Writes and reads the fields that json_fields.h binds, in their order and without their names:
/// what one program sends itself, from process to process or by a file that no other program
/// reads. It takes a fraction of the time and memory of JSON, and keeps every bit of a double.
///
///     ByteFieldWriter writer(text);
///     writer.put(report);
///     ByteFieldReader reader(text);
///     reader.get(report);  // throws std::runtime_error if the bytes end too soon
///
/// Integers are LEB128, signed ones after a zigzag; a list follows its length. Not thread-safe.
class ByteFieldWriter {
 public:
  /// @param to  appended to; must outlive this
  explicit ByteFieldWriter(std::string& to) : to_(to) {}

  template <class Name, class T>
  void value(const Name& /*name*/, const T& v) {
    put(v);
  }

  template <std::integral T>
  void put(T v) {
    if constexpr (std::is_signed_v<T>) {
      const auto wide = static_cast<std::int64_t>(v);
      put_bits(static_cast<std::uint64_t>(wide) << 1 ^ static_cast<std::uint64_t>(wide >> 63));
    } else {
      put_bits(v);
    }
  }
  template <class E>
  requires std::is_enum_v<E>
  void put(E v) { put(static_cast<std::underlying_type_t<E>>(v)); }
  void put(double v) {
    char bytes[sizeof v];
    std::memcpy(bytes, &v, sizeof v);
    to_.append(bytes, sizeof v);
  }
  void put(const std::string& v) {
    put(v.size());
    to_ += v;
  }
  void put(const Histogram& h) {
    std::uint64_t buckets = 0;
    h.for_each_bucket([&](std::size_t, std::uint64_t) { ++buckets; });
    put(buckets);
    h.for_each_bucket([&](std::size_t i, std::uint64_t n) {
      put(i);
      put(n);
    });
    if (buckets == 0) return;
    put(h.sum());
    put(h.min());
    put(h.max());
  }
  template <class E>
  void put(const PerReason<E>& by_reason) {
    for (const std::uint64_t n : by_reason) put(n);
  }
  template <class T>
  void put(const PerClass<T>& by_class) {
    for (const T& v : by_class.values) put(v);
  }
  template <class T>
  void put(const std::vector<T>& list) {
    put(list.size());
    for (const auto& element : list) put(element);
  }
  template <class T>
  void put(const std::optional<T>& v) {
    put(v.has_value());
    if (v) put(*v);
  }
  template <class T>
  requires requires(ByteFieldWriter& w, const T& r) { fields(w, r); }
  void put(const T& record) { fields(*this, record); }

 private:
  void put_bits(std::uint64_t v) {
    for (; v >= 0x80; v >>= 7) to_ += static_cast<char>(v | 0x80);
    to_ += static_cast<char>(v);
  }

  std::string& to_;
};

/// Reads what ByteFieldWriter has written. @throws std::runtime_error if bytes are missing or a
/// number does not fit
class ByteFieldReader {
 public:
  /// @param from  must outlive this
  explicit ByteFieldReader(std::string_view from) : from_(from) {}

  template <class Name, class T>
  void value(const Name& /*name*/, T& v) {
    get(v);
  }
  [[nodiscard]] bool at_end() const noexcept { return from_.empty(); }

  template <std::integral T>
  void get(T& v) {
    const std::uint64_t bits = get_bits();
    if constexpr (std::is_signed_v<T>) {
      const auto wide = static_cast<std::int64_t>(bits >> 1) ^ -static_cast<std::int64_t>(bits & 1);
      if (!std::in_range<T>(wide)) refuse();
      v = static_cast<T>(wide);
    } else {
      if (bits > std::numeric_limits<T>::max()) refuse();
      v = static_cast<T>(bits);
    }
  }
  template <class E>
  requires std::is_enum_v<E>
  void get(E& v) {
    std::underlying_type_t<E> number{};
    get(number);
    v = static_cast<E>(number);
  }
  void get(double& v) {
    const std::string_view bytes = take(sizeof v);
    std::memcpy(&v, bytes.data(), sizeof v);
  }
  void get(std::string& v) { v = take(length()); }
  void get(Histogram& h) {
    h.clear();
    const std::size_t buckets = length();
    for (std::size_t i = 0; i < buckets; ++i) {
      std::uint64_t index = 0, count = 0;
      get(index);
      get(count);
      if (!h.restore_bucket(index, count)) refuse();
    }
    if (buckets == 0) return;
    double sum = 0;
    std::uint64_t min = 0, max = 0;
    get(sum);
    get(min);
    get(max);
    h.restore_extremes(sum, min, max);
  }
  template <class E>
  void get(PerReason<E>& by_reason) {
    for (std::uint64_t& n : by_reason) get(n);
  }
  template <class T>
  void get(PerClass<T>& by_class) {
    for (T& v : by_class.values) get(v);
  }
  template <class T>
  void get(std::vector<T>& list) {
    list.assign(length(), T{});
    for (auto& element : list) get(element);
  }
  template <class T>
  void get(std::optional<T>& v) {
    v.reset();
    bool there = false;
    get(there);
    if (there) get(v.emplace());
  }
  template <class T>
  requires requires(ByteFieldReader& r, T& record) { fields(r, record); }
  void get(T& record) { fields(*this, record); }

 private:
  [[noreturn]] static void refuse() { throw std::runtime_error("a report's bytes are damaged"); }

  std::string_view take(std::size_t bytes) {
    if (bytes > from_.size()) refuse();
    const std::string_view taken = from_.substr(0, bytes);
    from_.remove_prefix(bytes);
    return taken;
  }
  /// Returns a length. What it counts takes a byte each at least, so that no damage makes a reader
  /// ask for more memory than the bytes could fill.
  std::size_t length() {
    std::size_t n = 0;
    get(n);
    if (n > from_.size()) refuse();
    return n;
  }
  std::uint64_t get_bits() {
    std::uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<std::uint8_t>(take(1).front());
      v |= static_cast<std::uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) return v;
    }
    refuse();
  }

  std::string_view from_;
};

}  // namespace outrider
