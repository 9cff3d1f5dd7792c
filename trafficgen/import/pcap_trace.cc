#include "trafficgen/import/pcap_trace.h"

#include <pcap/pcap.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>

#include "common/config/text_file.h"
#include "common/core/units.h"

namespace outrider::tg {
namespace {

constexpr std::uint32_t kMaxFrameBytes = 9014;

struct PcapCloser {
  void operator()(pcap_t* file) const noexcept { pcap_close(file); }
};
using PcapFile = std::unique_ptr<pcap_t, PcapCloser>;

/// Stamps within 146 years of 1970 fit a Duration.
constexpr std::int64_t kMaxStampSeconds = std::numeric_limits<std::int64_t>::max() / 2'000'000'000;
/// Longest capture. A period of all its packets and the gap to the next round fit a Duration.
constexpr Duration kMaxSpan = std::chrono::hours(24 * 365 * 10);

/// Returns when the packet was captured, since 1970; nothing if no clock gives such a stamp.
std::optional<Duration> stamp_of(const pcap_pkthdr& header) {
  const std::int64_t seconds = header.ts.tv_sec;
  // The file is opened with nanosecond precision, so tv_usec holds nanoseconds.
  const std::int64_t nanoseconds = header.ts.tv_usec;
  if (seconds < 0 || seconds >= kMaxStampSeconds) return std::nullopt;
  if (nanoseconds < 0 || nanoseconds >= static_cast<std::int64_t>(kNsPerSecond))
    return std::nullopt;
  return std::chrono::seconds(seconds) + Duration{nanoseconds};
}

/// Adds a packet. @return its fault, or empty
std::string add(PcapTrace& trace, const pcap_pkthdr& header, const std::uint8_t* bytes,
                const PcapLimits& limits, Duration& first) {
  if (header.caplen < header.len && !limits.pad_cut)
    return "was cut to " + std::to_string(header.caplen) + " of " + std::to_string(header.len) +
           " bytes by the capture's snap length" +
           (limits.options ? "; --pad-cut pads it with zeros" : "");
  if (header.len > kMaxFrameBytes && limits.skip_long) {
    ++trace.skipped;
    return {};
  }
  if (header.len > kMaxFrameBytes)
    return "has " + std::to_string(header.len) + " bytes, more than " +
           std::to_string(kMaxFrameBytes) +
           ": the kernel or the NIC had joined packets. Capture with that off (ethtool -K IFACE "
           "gro off lro off tso off gso off)" +
           (limits.options ? ", or leave such packets out with --skip-long" : "");
  const std::optional<Duration> stamp = stamp_of(header);
  if (!stamp)
    return "has a time stamp of " + std::to_string(header.ts.tv_sec) + " s and " +
           std::to_string(header.ts.tv_usec) +
           " ns since 1970: seconds must be from 0, and below " + std::to_string(kMaxStampSeconds) +
           ", nanoseconds below 1000000000. Set the stamps anew (editcap -t)";
  if (trace.packets.empty()) first = *stamp;
  Duration at = *stamp - first;
  if (at > kMaxSpan)
    return "came " + std::to_string(seconds(at)) + " s after the first, more than ten years";
  if (!trace.packets.empty() && at < trace.packets.back().at) {
    if (trace.backwards++ == 0) trace.first_backwards = trace.packets.size();
    at = trace.packets.back().at;
  }
  const std::uint32_t size = std::max(header.len, kMinFrameBytes);
  const std::uint64_t needed =
      trace.bytes.size() + size + (trace.packets.size() + 1) * sizeof(PcapTrace::Packet);
  if (needed > limits.max_bytes)
    return "does not fit into " + std::to_string(limits.max_bytes) +
           " bytes of memory any more; --max-memory raises that";
  trace.padded += header.caplen < header.len ? 1 : 0;
  trace.packets.push_back({at, trace.bytes.size(), size});
  const std::uint32_t present = std::min(header.caplen, header.len);
  trace.bytes.insert(trace.bytes.end(), bytes, bytes + present);
  trace.bytes.resize(trace.bytes.size() + (size - present));
  return {};
}

}  // namespace

PcapResult load_pcap(const std::string& path, const PcapLimits& limits) {
  if (std::string fault = fault_of_file(path); !fault.empty()) return {{}, fault};
  PcapResult result;
  char error[PCAP_ERRBUF_SIZE] = {};
  const PcapFile file(
      pcap_open_offline_with_tstamp_precision(path.c_str(), PCAP_TSTAMP_PRECISION_NANO, error));
  if (!file) return {{}, error};
  if (const int type = pcap_datalink(file.get()); type != DLT_EN10MB) {
    const char* name = pcap_datalink_val_to_name(type);
    return {{},
            std::string("its link type is ") + (name == nullptr ? "unknown" : name) +
                ", not Ethernet (EN10MB)"};
  }
  Duration first{};
  pcap_pkthdr* header = nullptr;
  const std::uint8_t* bytes = nullptr;
  int status = 0;
  while ((status = pcap_next_ex(file.get(), &header, &bytes)) == 1) {
    const std::uint64_t before = result.trace.packets.size() + result.trace.skipped;
    std::string problem = add(result.trace, *header, bytes, limits, first);
    if (!problem.empty()) return {{}, "packet " + std::to_string(before + 1) + ' ' + problem};
  }
  if (status == PCAP_ERROR)
    return {{},
            "after packet " + std::to_string(result.trace.packets.size()) + ": " +
                pcap_geterr(file.get())};
  if (result.trace.packets.empty() && result.trace.skipped > 0)
    return {{}, "holds only packets that are too long, " + std::to_string(result.trace.skipped)};
  if (result.trace.packets.empty()) return {{}, "holds no packet"};
  return result;
}

}  // namespace outrider::tg
