#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "common/core/burst_identity.h"
#include "common/core/histogram.h"
#include "common/core/per_reason.h"
#include "common/core/traffic_class.h"

namespace outrider {

/// Gives every number that a record's rows name a value of its own: 1, 2, 3, ...
class Filler {
 public:
  [[nodiscard]] std::uint64_t given() const noexcept { return given_; }

  void value(const char*, bool& v) { v = true; }
  template <std::integral T>
  void value(const char*, T& v) {
    v = static_cast<T>(++given_);
  }
  void value(const char*, double& v) { v = static_cast<double>(++given_) + 0.5; }
  void value(const char* name, std::string& v) { v = std::string(name) + " \"\xC3\xA4\"\n"; }
  void value(const char*, BurstDirection& v) { v = BurstDirection::kPull; }
  void value(const char*, TrafficClass& v) { v = TrafficClass::kDdl; }
  void value(const char*, Histogram& v) {
    for (const std::uint64_t n : {0ULL, 1ULL, 127ULL, 128ULL, 1'000'003ULL, 1ULL << 63})
      v.record(n);
  }
  template <class E>
  void value(const char* name, PerReason<E>& v) {
    for (auto& n : v) value(name, n);
  }
  template <class T>
  void value(const char* name, PerClass<T>& v) {
    for (auto& of_class : v.values) value(name, of_class);
  }
  /// Makes two elements and fills only the first.
  template <class T>
  void value(const char* name, std::vector<T>& v) {
    v.resize(2);
    value(name, v[0]);
  }
  template <class T>
  void value(const char* name, std::optional<T>& v) {
    value(name, v.emplace());
  }
  template <class T>
  void value(const char*, T& record) requires requires(Filler& f) {
    fields(f, record);
  }
  { fields(*this, record); }

 private:
  std::uint64_t given_ = 0;
};

/// Returns the numbers from 1 to `given` that a report's text does not contain, one per line.
inline std::string missing_numbers(const std::string& text, std::uint64_t given) {
  std::set<std::string> found;
  for (std::size_t at = 0; (at = text.find_first_of("0123456789", at)) != text.npos;) {
    const std::size_t end = text.find_first_not_of("0123456789", at);
    found.insert(text.substr(at, end - at));
    at = std::min(end, text.size());
  }
  std::string missing;
  for (std::uint64_t n = 1; n <= given; ++n)
    if (!found.contains(std::to_string(n))) missing += std::to_string(n) + '\n';
  return missing;
}

/// Finds bytes of a record that are neither padding nor of a member with a row, and bytes that
/// two rows name. It misses a member without a row that fits into what would be padding.
class BoundBytes {
 public:
  template <class T>
  void value(const char* name, T& v) {
    members_.push_back({reinterpret_cast<std::uintptr_t>(&v), sizeof(T), alignof(T), name});
  }

  /// Returns all errors, one per line; empty if every member is bound exactly once.
  template <class R>
  static std::string faults() {
    R record{};
    BoundBytes bound;
    fields(bound, record);
    std::ranges::sort(bound.members_, {}, &Member::at);
    std::string text;
    const auto begin = reinterpret_cast<std::uintptr_t>(&record);
    std::uintptr_t end = begin;
    std::string before = "the first member";
    const auto expect = [&](std::uintptr_t at, std::size_t alignment, const std::string& name) {
      if (at < end) text += before + " and " + name + " are the same bytes\n";
      if (at > (end + alignment - 1) / alignment * alignment)
        text += "no row for what stands between " + before + " and " + name + '\n';
    };
    for (const Member& m : bound.members_) {
      expect(m.at, m.alignment, m.name);
      end = m.at + m.size;
      before = m.name;
    }
    expect(begin + sizeof(R), alignof(R), "the end");
    return text;
  }

 private:
  struct Member {
    std::uintptr_t at;
    std::size_t size, alignment;
    std::string name;
  };
  std::vector<Member> members_;
};

}  // namespace outrider
