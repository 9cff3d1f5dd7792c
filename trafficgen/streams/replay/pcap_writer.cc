#include "trafficgen/streams/replay/pcap_writer.h"

#include <pcap/pcap.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/telemetry/whole_file.h"

namespace outrider::tg {
namespace {

constexpr int kSnapLength = 65535;

}  // namespace

struct PcapWriter::File {
  explicit File(const std::string& p)
      : partial(partial_name(p)),
        format(pcap_open_dead_with_tstamp_precision(DLT_EN10MB, kSnapLength,
                                                    PCAP_TSTAMP_PRECISION_NANO)),
        out(pcap_dump_open(format, partial.c_str())) {}
  ~File() {
    if (out != nullptr) pcap_dump_close(out);
    pcap_close(format);
    std::remove(partial.c_str());  // no such file after close()
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string partial;
  pcap_t* format;
  pcap_dumper_t* out;
  int error = 0;  ///< errno of the first write that failed
};

PcapWriter::PcapWriter(std::string path)
    : path_(std::move(path)), file_(std::make_unique<File>(path_)) {
  if (file_->out == nullptr)
    throw std::runtime_error(path_ + ": cannot be written: " + pcap_geterr(file_->format));
}

PcapWriter::~PcapWriter() = default;

void PcapWriter::write(Time at, std::span<const std::uint8_t> frame) {
  constexpr std::int64_t kPerSecond_ns = 1'000'000'000;
  const std::int64_t ns = at.time_since_epoch().count();
  pcap_pkthdr header{};
  header.ts.tv_sec = ns / kPerSecond_ns;
  header.ts.tv_usec = ns % kPerSecond_ns;  // nanoseconds, by the precision above
  header.caplen = header.len = static_cast<bpf_u_int32>(frame.size());
  pcap_dump(reinterpret_cast<u_char*>(file_->out), &header, frame.data());
  // pcap_dump() does not report errors, but the stream below it keeps that there was one.
  if (file_->error == 0 && std::ferror(pcap_dump_file(file_->out)) != 0) file_->error = errno;
  ++frames_;
}

void PcapWriter::close() {
  int error = file_->error;
  if (error == 0 && pcap_dump_flush(file_->out) != 0) error = errno;
  if (error == 0) error = publish_file(file_->partial, path_);
  if (error != 0)
    throw std::runtime_error(path_ + ": cannot be written: " + std::strerror(error) + " (errno " +
                             std::to_string(error) + ")");
  file_.reset();
}

}  // namespace outrider::tg
