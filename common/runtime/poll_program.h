#pragma once

#include <unistd.h>

#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/dpdk/eal/eal.h"
#include "common/dpdk/port/port.h"
#include "common/runtime/live_report.h"

namespace outrider {

/// Options of the command line that all real-time programs share.
struct ProgramOptions {
  std::string config;
  bool check = false;
  bool devices = false;  ///< with `check`: open them, too
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

/// Splits "EAL-ARGS -- ARGS", as DPDK programs are called, or ARGS alone.
SplitArguments split_arguments(int argc, const char* const* argv);
/// Returns the words of --eal, after the EAL arguments that preceded `--`.
std::vector<std::string> eal_words(std::vector<std::string> before_dashes, std::string_view text);

/// Returns "CPU 2" or "CPUs 2, 3".
std::string named_cpus(const std::vector<std::uint32_t>& cpus);

/// Memory of a buffer for a frame of 1518 bytes: mbuf, meta data, headroom, frame, pool header.
inline constexpr std::uint32_t kBytesPerPlainMbuf = 2560;

/// Returns EalOptions for a pool of `mbufs` full frames; the EAL's lines go to the log. May go on
/// in another process first, see leave_taken_fanout_groups(): it is the last moment for that.
EalOptions eal_options(std::string program, std::vector<std::uint32_t> cpus, std::uint64_t mbufs,
                       const std::vector<PortConfig>& ports, std::vector<std::string> extra);

/// Returns the configuration of a port. It limits the time that an exclusive device waits for
/// the other end of its socket; stop signals end that wait, too. A socket without a directory is
/// in socket_directory(). @throws EnvironmentError if that is not safe
PortConfig port_config(std::string name, const std::string& device, std::uint16_t rx_descriptors,
                       std::uint16_t tx_descriptors, const ProgramOptions& options);

/// @throws UsageError if the directory of `path` does not exist or is not writable, or if `path` is
/// no place for a file
void check_report_path(const std::string& path, const std::string& option = "--report");

/// A file that an option asks for; empty: it was not given.
struct OutputPath {
  std::string option;
  std::string path;
};

/// Checks all files that a program will write, which must not be one.
/// @throws UsageError as check_report_path() does
void check_report_paths(std::span<const OutputPath> outputs);

/// The command line asks for something impossible.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Returns the live view that the options ask for, on stderr; nullptr if none.
/// @pre the EAL runs
template <class Snapshot>
std::unique_ptr<LiveReport<Snapshot>> live_report(const ProgramOptions& options) {
  if (!options.live) return nullptr;
  return std::make_unique<LiveReport<Snapshot>>(std::cerr, isatty(STDERR_FILENO) == 1);
}

/// Calls `body`, writes what it printed, and logs an exception as one line with cause and remedy.
/// @return its status, or the kExit... of the exception
int run_program(const std::function<int()>& body);

}  // namespace outrider
