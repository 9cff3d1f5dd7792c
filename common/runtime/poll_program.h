#pragma once

#include <unistd.h>

#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/dpdk/eal.h"
#include "common/dpdk/port.h"
#include "common/runtime/live_report.h"

namespace outrider {

/// What the command lines of the real-time programs have in common.
struct ProgramOptions {
  std::string config;
  bool check = false;
  std::string duration;  ///< as given; empty: none
  std::string report;    ///< file; empty: none
  std::string eal;       ///< further EAL arguments
  std::optional<std::uint32_t> lcore{};
  bool verbose = false;
  bool live = false;  ///< show figures on stderr while running
  double wait_for_peer_seconds = 30;
};

struct SplitArguments {
  std::vector<std::string> eal;
  std::vector<std::string> own;  ///< without argv[0]
};

/// "EAL-ARGS -- ARGS", as DPDK programs are called, or ARGS alone.
SplitArguments split_arguments(int argc, const char* const* argv);
/// The words of --eal, after those that stood before `--`.
std::vector<std::string> eal_words(std::vector<std::string> before_dashes, std::string_view text);

/// Memory of a buffer for a frame of 1518 bytes: mbuf, meta data, headroom, frame, pool header.
inline constexpr std::uint32_t kBytesPerPlainMbuf = 2560;

/// EalOptions for a pool of `mbufs` full frames; lines go to the log.
EalOptions eal_options(std::string program, std::vector<std::uint32_t> cpus, std::uint32_t mbufs,
                       const std::vector<PortConfig>& ports, std::vector<std::string> extra);

/// The exclusive end of a device's socket waits at most so long; signals end it.
PortConfig port_config(std::string name, std::string device, std::uint16_t rx_descriptors,
                       std::uint16_t tx_descriptors, const ProgramOptions& options);

/// @throws UsageError if the directory of `path` does not exist or is not writable
void check_report_path(const std::string& path, const std::string& option = "--report");
/// The whole file or none. @throws std::runtime_error
void write_report_file(const std::string& path, const std::string& text);

/// The command line asks for something that cannot be.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The live view that the options ask for, on stderr; null: none.
/// @pre the EAL runs
template <class Snapshot>
std::unique_ptr<LiveReport<Snapshot>> live_report(const ProgramOptions& options) {
  if (!options.live) return nullptr;
  return std::make_unique<LiveReport<Snapshot>>(std::cerr, isatty(STDERR_FILENO) == 1);
}

/// Calls `body` and turns what it throws into a line of cause and remedy.
/// @return its status, or kExit...
int run_program(const std::function<int()>& body);

}  // namespace outrider
