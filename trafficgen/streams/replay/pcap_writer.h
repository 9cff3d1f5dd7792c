#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "common/core/clock.h"

namespace outrider::tg {

/// Writes Ethernet frames, without FCS, into a pcap file with nanoseconds. Time zero is 1970. The
/// complete file appears at close(); without close() nothing is left behind.
class PcapWriter {
 public:
  /// @throws std::runtime_error naming the file and the cause
  explicit PcapWriter(std::string path);
  ~PcapWriter();
  PcapWriter(const PcapWriter&) = delete;
  PcapWriter& operator=(const PcapWriter&) = delete;

  void write(Time at, std::span<const std::uint8_t> frame);
  /// @throws std::runtime_error
  void close();
  [[nodiscard]] std::uint64_t frames() const noexcept { return frames_; }

 private:
  struct File;
  std::string path_;
  std::unique_ptr<File> file_;
  std::uint64_t frames_ = 0;
};

}  // namespace outrider::tg
