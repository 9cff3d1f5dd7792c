#pragma once

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "common/dpdk/eal/control_thread.h"
#include "common/telemetry/sole_writer.h"
#include "switch/config/config.h"
#include "switch/control/pcapng.h"
#include "switch/egress/parts/port_capture.h"

namespace outrider::sw {

/// The options of one --capture.
struct CaptureOptions {
  std::string port;  ///< "switch.port"
  std::string file;
  std::uint64_t max_packets = 100'000;
  std::uint64_t max_bytes = 100'000'000;  ///< largest size of the file
  std::uint16_t snap_bytes = 128;         ///< bytes kept of each packet
};

/// Returns the captures that `texts` ask for, each written PORT=FILE, all with the same bounds.
/// @throws UsageError that names the mistake and the ports that exist
std::vector<CaptureOptions> captures_of(const std::vector<std::string>& texts,
                                        const CaptureOptions& bounds,
                                        const SwitchProcessConfig& config);

/// Returns the comment that describes a packet in the file.
std::string comment_of(const CaptureNote& note);

/// Writes the packets that leave a port to a pcapng file, in its own thread, until one of the
/// bounds is reached. The file is complete whenever the thread is between two packets.
class CaptureFile {
 public:
  /// @param base_ns  time since 1970 at which the run's time was zero
  /// @throws EnvironmentError if the file cannot be made; DpdkError if the thread cannot
  CaptureFile(const CaptureOptions& options, std::uint64_t base_ns);
  /// Writes the remaining packets. @pre PortCapture::note() is not called any more
  ~CaptureFile();
  CaptureFile(const CaptureFile&) = delete;
  CaptureFile& operator=(const CaptureFile&) = delete;

  [[nodiscard]] PortCapture& packets() noexcept { return packets_; }
  [[nodiscard]] const CaptureOptions& options() const noexcept { return options_; }

 private:
  static constexpr std::uint32_t kRecords = 16'384;

  void write_out();
  void write(const CaptureNote& note, const std::uint8_t* bytes);
  /// Cuts off the block that was not written whole.
  void end_after_failure(int error);

  CaptureOptions options_;
  std::uint64_t base_ns_;
  PortCapture packets_;
  SoleWriter claim_;
  std::ofstream file_;
  pcapng::Bytes block_;
  std::uint64_t written_packets_ = 0;
  std::uint64_t written_bytes_ = 0;
  std::uint64_t whole_packets_ = 0;  ///< of them in the file for certain
  std::uint64_t whole_bytes_ = 0;
  std::unique_ptr<ControlThread> thread_;  ///< last, so that it ends before the parts it uses
};

}  // namespace outrider::sw
