#include "switch/control/capture_file.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <limits>
#include <span>

#include "common/dpdk/eal/error.h"
#include "common/runtime/poll_program.h"
#include "common/telemetry/log.h"

namespace outrider::sw {

std::string comment_of(const CaptureNote& note) {
  const bool has_threshold =
      note.background_threshold_packets != std::numeric_limits<std::uint32_t>::max();
  return "queue " + std::to_string(note.queue) + ", class " +
         std::string(name_of(note.traffic_class)) + ", waited " +
         std::to_string(note.sojourn.count()) + " ns, left " +
         std::to_string(note.resident_packets) + " packets " + std::to_string(note.resident_bytes) +
         " bytes, held " + std::to_string(note.held_packets) + ", threshold " +
         (has_threshold ? std::to_string(note.background_threshold_packets) : "none") +
         ", regulations " + std::to_string(note.entries);
}

CaptureFile::CaptureFile(const CaptureOptions& options, std::uint64_t base_ns)
    : options_(options),
      base_ns_(base_ns),
      packets_(options.snap_bytes, kRecords),
      claim_(options.file) {
  if (!claim_.problem().empty()) throw EnvironmentError("--capture " + claim_.problem());
  file_.open(options.file, std::ios::binary | std::ios::trunc);
  pcapng::section_header(block_, "outrider-switch");
  pcapng::interface_description(block_, options.port, options.snap_bytes);
  file_.write(reinterpret_cast<const char*>(block_.data()),
              static_cast<std::streamsize>(block_.size()));
  if (!file_.flush())
    throw EnvironmentError("--capture " + options.file +
                           ": cannot be written: " + std::strerror(errno));
  whole_bytes_ = written_bytes_ = block_.size();
  thread_ = std::make_unique<ControlThread>("capture", std::chrono::milliseconds(5),
                                            [this] { write_out(); });
}

CaptureFile::~CaptureFile() {
  thread_.reset();
  write_out();
  log_info("capture of " + options_.port + ": " + std::to_string(written_packets_) +
           " packets in " + options_.file + ", missed " + std::to_string(packets_.missed()));
}

void CaptureFile::write_out() {
  packets_.drain([this](const CaptureNote& note, const std::uint8_t* bytes) {
    if (!packets_.finished()) write(note, bytes);
  });
  if (file_.flush()) {
    whole_bytes_ = written_bytes_;
    whole_packets_ = written_packets_;
  } else if (file_.is_open()) {
    end_after_failure(errno);
  }
}

void CaptureFile::end_after_failure(int error) {
  packets_.finish();
  file_.close();
  std::error_code ignored;  // a pipe has no end to cut off
  std::filesystem::resize_file(options_.file, whole_bytes_, ignored);
  written_packets_ = whole_packets_;
  log_error("--capture " + options_.file + ": " + std::strerror(error) + " (errno " +
            std::to_string(error) + "); it ends here");
}

void CaptureFile::write(const CaptureNote& note, const std::uint8_t* bytes) {
  block_.clear();
  const std::string comment = comment_of(note);
  pcapng::enhanced_packet(
      block_, {.at_ns = base_ns_ + static_cast<std::uint64_t>(note.at.time_since_epoch().count()),
               .frame_bytes = note.frame_bytes,
               .captured = std::span(bytes, note.captured_bytes),
               .comment = comment});
  if (written_bytes_ + block_.size() > options_.max_bytes) return packets_.finish();
  file_.write(reinterpret_cast<const char*>(block_.data()),
              static_cast<std::streamsize>(block_.size()));
  if (!file_) return end_after_failure(errno);  // the next call of the library forgets why
  written_bytes_ += block_.size();
  if (++written_packets_ == options_.max_packets) packets_.finish();
}

std::vector<CaptureOptions> captures_of(const std::vector<std::string>& texts,
                                        const CaptureOptions& bounds,
                                        const SwitchProcessConfig& config) {
  std::string ports;
  for (const auto& sw : config.switches)
    for (const auto& port : sw.ports) ports += " " + sw.name + "." + port.name;
  std::vector<CaptureOptions> captures;
  for (const auto& text : texts) {
    const auto equals = text.find('=');
    CaptureOptions own = bounds;
    own.port = text.substr(0, equals);
    own.file = equals == text.npos ? "" : text.substr(equals + 1);
    const auto same = [&](const CaptureOptions& c) {
      return c.port == own.port || c.file == own.file;
    };
    if (own.file.empty()) throw UsageError("--capture " + text + ": must be SWITCH.PORT=FILE");
    if ((ports + " ").find(" " + own.port + " ") == ports.npos)
      throw UsageError("--capture " + text + ": no such port; there are" + ports);
    if (std::ranges::any_of(captures, same))
      throw UsageError("--capture " + text + ": the port or the file is captured already");
    check_report_path(own.file, "--capture");
    captures.push_back(std::move(own));
  }
  return captures;
}

}  // namespace outrider::sw
