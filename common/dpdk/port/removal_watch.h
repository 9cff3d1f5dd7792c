#pragma once

#include <atomic>
#include <string>

namespace outrider {

/// Hears when somebody unplugs a PCI device: the kernel then asks the process that uses it to
/// give it up, and waits. A device whose driver cannot tell never leaves.
class RemovalWatch {
 public:
  /// @param device  PCI address with domain, of a device that EAL knows
  explicit RemovalWatch(std::string device);
  ~RemovalWatch();
  RemovalWatch(const RemovalWatch&) = delete;
  RemovalWatch& operator=(const RemovalWatch&) = delete;

  /// Any thread.
  [[nodiscard]] bool leaving() const noexcept { return leaving_.load(std::memory_order_relaxed); }

 private:
  std::string device_;
  std::atomic<bool> leaving_{false};  ///< set by EAL's interrupt thread
};

}  // namespace outrider
