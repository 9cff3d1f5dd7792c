#pragma once

#include <rte_lpm.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace outrider {

/// IPv4 longest-prefix match by rte_lpm. A lookup takes one read for prefixes up to /24 and two
/// for longer ones, however many there are. Takes 64 MiB of EAL memory, however few there are.
///
/// Filled at start-up; lookups are const. Needs an initialised EAL.
class LpmTable {
 public:
  /// @param name unique in the process. @param prefixes the largest number that is inserted
  /// @throws DpdkError
  LpmTable(const std::string& name, std::uint32_t prefixes);

  /// @param length 0 to 32. @param value below 2^24
  /// @throws DpdkError
  void insert(std::uint32_t address, unsigned length, std::uint32_t value);

  /// @param address host byte order
  [[nodiscard]] std::optional<std::uint16_t> lookup(std::uint32_t address) const noexcept {
    if (default_value_ == kNone) [[likely]]
      return found(address);
    const auto longer = found(address);
    return longer ? longer : std::optional(static_cast<std::uint16_t>(default_value_));
  }
  /// Prefetches what lookup(address) reads first.
  void prefetch(std::uint32_t address) const noexcept {
    __builtin_prefetch(&lpm_->tbl24[address >> 8]);
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Deleter {
    void operator()(rte_lpm* lpm) const noexcept { rte_lpm_free(lpm); }
  };
  [[nodiscard]] std::optional<std::uint16_t> found(std::uint32_t address) const noexcept {
    std::uint32_t value = 0;
    if (rte_lpm_lookup(lpm_.get(), address, &value) != 0) return std::nullopt;
    return static_cast<std::uint16_t>(value);
  }

  std::string name_;
  std::unique_ptr<rte_lpm, Deleter> lpm_;
  std::uint32_t default_value_ = kNone;  ///< value of 0.0.0.0/0, which rte_lpm does not accept
};

}  // namespace outrider
