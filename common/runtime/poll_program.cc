#include "common/runtime/poll_program.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <new>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "common/core/clock.h"
#include "common/dpdk/eal/eal_check.h"
#include "common/dpdk/eal/error.h"
#include "common/dpdk/port/socket_directory.h"
#include "common/runtime/another_process.h"
#include "common/runtime/poll_stop.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/log.h"
#include "common/telemetry/standard_output.h"
#include "common/telemetry/whole_file.h"

namespace outrider {

namespace fs = std::filesystem;

SplitArguments split_arguments(int argc, const char* const* argv) {
  SplitArguments split;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--" && split.eal.empty()) split.eal = std::exchange(split.own, {});
    else split.own.push_back(argument);
  }
  return split;
}

std::vector<std::string> eal_words(std::vector<std::string> before_dashes, std::string_view text) {
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) before_dashes.push_back(word);
  return before_dashes;
}

std::string named_cpus(const std::vector<std::uint32_t>& cpus) {
  std::string text = cpus.size() == 1 ? "CPU " : "CPUs ";
  for (std::size_t i = 0; i < cpus.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::to_string(cpus[i]);
  return text;
}

EalOptions eal_options(std::string program, std::vector<std::uint32_t> cpus, std::uint64_t mbufs,
                       const std::vector<PortConfig>& ports, std::vector<std::string> extra) {
  constexpr std::uint64_t kFixed_mb = 64;  // rings, queues, DPDK itself
  std::vector<std::string> devices(ports.size());
  std::ranges::transform(ports, devices.begin(), &PortConfig::device);
  leave_taken_fanout_groups(devices);
  EalOptions options{.program = std::move(program), .cpus = std::move(cpus)};
  for (const auto& port : ports)
    if (is_pci_address(port.device)) options.pci_devices.push_back(port.device);
  options.memory_mb = static_cast<std::uint32_t>((mbufs * kBytesPerPlainMbuf >> 20) + kFixed_mb);
  options.devices = static_cast<std::uint32_t>(ports.size());
  options.extra = std::move(extra);
  options.inform = [](std::string_view line) { log_info(line); };
  options.trace = [](std::string_view line) { log_debug("dpdk: " + std::string(line)); };
  return options;
}

PortConfig port_config(std::string name, const std::string& device, std::uint16_t rx_descriptors,
                       std::uint16_t tx_descriptors, const ProgramOptions& options) {
  return {.name = std::move(name),
          .device = with_private_socket(device),
          .rx_descriptors = rx_descriptors,
          .tx_descriptors = tx_descriptors,
          .peer_timeout = from_seconds(options.wait_for_peer_seconds),
          .cancelled = stop_requested,
          .inform = [](std::string_view line) { log_info(line); }};
}

void check_report_path(const std::string& path, const std::string& option) {
  if (path.empty()) return;
  if (const std::string why = why_no_file(path); !why.empty())
    throw UsageError(option + ' ' + path + ": " + why + '.');
}

void check_report_paths(std::span<const OutputPath> outputs) {
  std::map<std::string, std::string> option_of;
  for (const auto& [option, path] : outputs) {
    if (path.empty()) continue;
    check_report_path(path, option);
    std::error_code ignored;
    const auto [first, added] =
        option_of.try_emplace(fs::weakly_canonical(fs::absolute(path), ignored).string(), option);
    if (!added)
      throw UsageError(option + " " + path + ": is the file of " + first->second + " already.");
  }
}

int run_program(const std::function<int()>& body) {
  keep_cause_of_failed_writes();
  try {
    const int status = body();
    flush_standard_output();
    return status;
  } catch (const UsageError& error) {
    log_error(error.what());
    return kExitUsage;
  } catch (const Interrupted& error) {
    log_info(error.what());
    return kExitInterrupted;
  } catch (const EnvironmentError& error) {
    log_error(error.what());
    return kExitEnvironment;
  } catch (const std::bad_alloc&) {
    log_error("out of memory; lower mbufs, max_bins or max_burst_records");
    return kExitEnvironment;
  } catch (const std::exception& error) {
    log_error(error.what());
    return kExitFailure;
  }
}

}  // namespace outrider
