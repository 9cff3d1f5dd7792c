// Files that a user is given by others: flow-size distributions, flow lists, model profiles and
// captures. A file is either refused with a reason or gives values within the rules that its
// reader states. The first byte of an input says which reader gets the rest.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/fuzz/fuzz_main.h"
#include "trafficgen/background/capture_frames.h"
#include "trafficgen/background/flow_sizes.h"
#include "trafficgen/import/flow_list.h"
#include "trafficgen/import/pcap_trace.h"
#include "trafficgen/workload/config/model_profile.h"

namespace outrider::fuzz {
using namespace tg;
namespace {

/// A file in memory that is read by its path.
class MemoryFile {
 public:
  explicit MemoryFile(std::string_view text) : descriptor_(memfd_create("fuzz", 0)) {
    FUZZ_REQUIRE(descriptor_ >= 0);
    FUZZ_REQUIRE(write(descriptor_, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
  }
  ~MemoryFile() { close(descriptor_); }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void read_flow_sizes(std::string_view text) {
  const auto result = parse_flow_sizes(text);
  FUZZ_REQUIRE(result.config.has_value() == result.issues.empty());
  if (!result) return;
  std::uint64_t before = 0;
  for (int i = 0; i < 32; ++i) {
    const std::uint64_t bytes = result.config->at(i / 32.0);
    FUZZ_REQUIRE(bytes >= 1 && bytes >= before);
    before = bytes;
  }
  const double most = result.config->points().back().bytes;
  FUZZ_REQUIRE(static_cast<double>(before) <= most + 1);
  FUZZ_REQUIRE(result.config->mean_bytes() >= 0 && result.config->mean_bytes() <= most);
}

void read_flow_list(std::string_view text) {
  constexpr std::size_t kHosts = 16;
  const auto result = parse_flow_list(text, kHosts);
  FUZZ_REQUIRE(result.config.has_value() == result.issues.empty());
  if (!result) return;
  Duration before{};
  for (const ListedFlow& flow : *result.config) {
    FUZZ_REQUIRE(flow.from < kHosts && flow.to < kHosts && flow.at >= before);
    before = flow.at;
  }
}

void read_model(std::string_view text) {
  const auto result = load_model_profile(MemoryFile(text).path());
  FUZZ_REQUIRE(result.config.has_value() == result.issues.empty());
  if (!result) return;
  FUZZ_REQUIRE(validate(*result.config).empty());
  const std::string written = to_toml(*result.config);
  const auto again = load_model_profile(MemoryFile(written).path());
  FUZZ_REQUIRE(again && to_toml(*again.config) == written);
}

void read_capture(std::string_view bytes, bool pad_cut) {
  constexpr std::uint64_t kMost = 1 << 20;
  const auto result = load_pcap(MemoryFile(bytes).path(), {.max_bytes = kMost, .pad_cut = pad_cut});
  if (!result.problem.empty()) return;
  const PcapTrace& trace = result.trace;
  FUZZ_REQUIRE(!trace.packets.empty() && trace.bytes.size() <= kMost);
  FUZZ_REQUIRE(trace.packets.front().at == Duration::zero());
  FUZZ_REQUIRE(pad_cut || trace.padded == 0);
  Duration before{};
  for (std::size_t i = 0; i < trace.packets.size(); ++i) {
    const auto& packet = trace.packets[i];
    FUZZ_REQUIRE(packet.at >= before && packet.size >= 60 && packet.size <= 9014);
    FUZZ_REQUIRE(packet.offset + packet.size <= trace.bytes.size());
    before = packet.at;
  }
  constexpr std::uint32_t kMtuBytes = 1500;
  const auto played = frames_of(trace, kMtuBytes);
  FUZZ_REQUIRE(played.config.has_value() == played.issues.empty());
  if (!played) return;
  FUZZ_REQUIRE(played.config->frames.size() == trace.packets.size());
  for (const auto& frame : played.config->frames) FUZZ_REQUIRE(frame.bytes <= 14 + kMtuBytes);
}

}  // namespace

void run(FuzzInput in) {
  const std::uint8_t reader = in.byte();
  const std::string_view text = in.text();
  if (reader == 's') return read_flow_sizes(text);
  if (reader == 'f') return read_flow_list(text);
  if (reader == 'm') return read_model(text);
  if (reader == 'c' || reader == 'C') return read_capture(text, reader == 'C');
}

}  // namespace outrider::fuzz
