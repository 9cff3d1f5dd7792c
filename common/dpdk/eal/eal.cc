#include "common/dpdk/eal/eal.h"

#include <rte_eal.h>
#include <rte_errno.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <system_error>

#include "common/dpdk/eal/eal_check.h"
#include "common/dpdk/eal/eal_log.h"
#include "common/dpdk/eal/error.h"
#include "common/dpdk/eal/stale_runtimes.h"
#include "common/dpdk/eal/this_machine.h"
#include "common/machine/advice.h"
#include "common/machine/network_devices.h"
#include "common/machine/numa_nodes.h"

namespace outrider {
namespace {

namespace fs = std::filesystem;

bool names(const std::vector<std::string>& arguments, std::string_view option) {
  return std::any_of(arguments.begin(), arguments.end(), [option](const std::string& a) {
    return a == option || a.starts_with(std::string(option) + "=");
  });
}

/// Makes a runtime directory if necessary: the EAL of an unprivileged user keeps files in
/// XDG_RUNTIME_DIR, which a service, a container or `su` may not have.
fs::path make_private_runtime() {
  if (getuid() == 0) return {};
  const char* given = std::getenv("XDG_RUNTIME_DIR");
  if (given != nullptr && access(given, W_OK | X_OK) == 0) return {};
  std::string made = private_runtime_template(fs::temp_directory_path());
  if (mkdtemp(made.data()) == nullptr)
    throw EnvironmentError("XDG_RUNTIME_DIR is not writable and no directory can be made in " +
                           fs::temp_directory_path().string() +
                           "; set XDG_RUNTIME_DIR to a directory of yours.");
  setenv("XDG_RUNTIME_DIR", made.c_str(), 1);
  return made;
}

std::string remedy_for(const std::string& said) {
  const auto has = [&said](std::string_view part) { return said.find(part) != std::string::npos; };
  if (has("Cannot get hugepage") || has("not enough memory") || has("Cannot init memory") ||
      has("mmap"))
    return "Memory could not be had: free some, lower `mbufs` or the descriptors, or check "
           "`ulimit -v` and the container's limit.";
  if (has("unrecognized option") || has("invalid option") || has("Invalid") || has("ignored"))
    return "An EAL argument was refused: check what was given with --eal or before `--`.";
  if (has("Permission denied")) return "Run as a user who may access what is named above.";
  return "Run again with --verbose for DPDK's whole log.";
}

/// Returns DPDK's log and the lines that DPDK printed directly, without repetitions.
std::string with_printed(std::string logged, const std::string& printed) {
  std::istringstream lines(printed);
  for (std::string line; std::getline(lines, line);)
    if (!line.empty() && logged.find(line) == std::string::npos) logged += "\n    " + line;
  return logged;
}

void remove_quietly(const fs::path& path) noexcept {
  std::error_code ignored;
  if (!path.empty()) fs::remove_all(path, ignored);
}

/// Removes what killed processes have left where this one has its runtime directory.
void remove_leftovers() noexcept {
  std::error_code failed;
  const fs::path own = rte_eal_get_runtime_dir();
  const auto now = fs::last_write_time(own, failed);
  if (failed) return;
  remove_stale_runtimes(own.parent_path(), now);
  const fs::path temporary = fs::temp_directory_path(failed);
  if (!failed) remove_stale_private_runtimes(temporary, now);
}

/// Returns the argument "0@2,1@3"; two lcores may share a CPU.
std::string lcore_map(const std::vector<std::uint32_t>& cpus) {
  std::string map;
  for (std::size_t i = 0; i < cpus.size(); ++i)
    map += (i == 0 ? "" : ",") + std::to_string(i) + "@" + std::to_string(cpus[i]);
  return map;
}

bool wants_hugepages(const EalOptions& options, std::uint64_t free_mb) {
  return options.use_hugepages && free_mb >= options.memory_mb &&
         !names(options.extra, "--no-huge");
}

/// Returns what is wrong with the places of the huge pages, see nodes_without_huge_pages().
std::vector<std::string> missing_at_nodes(const EalOptions& options) {
  const bool own_lcores =
      names(options.extra, "-l") || names(options.extra, "-c") || names(options.extra, "--lcores");
  std::vector<std::string> addresses;
  for (const auto& device : options.pci_devices) addresses.push_back(with_pci_domain(device));
  std::optional<std::uint32_t> main_cpu;
  if (!own_lcores) main_cpu = options.cpus.front();
  return nodes_without_huge_pages(MachineTree("/"), main_cpu, addresses);
}

/// Returns the free huge pages [MiB], or 0 if a program without a NIC had better not use them.
/// @throws EnvironmentError if they would be used for NICs, and a node has none
std::uint64_t usable_hugepages_mb(const EalOptions& options) {
  const std::uint64_t free_mb = free_hugepages_mb();
  if (!wants_hugepages(options, free_mb)) return free_mb;
  const auto missing = missing_at_nodes(options);
  if (missing.empty()) return free_mb;
  if (options.pci_devices.empty()) return 0;
  std::string message = "huge pages: " + std::to_string(free_mb) + " MiB are free, but";
  for (const auto& line : missing) message += "\n  " + line;
  throw EnvironmentError(message);
}

}  // namespace

std::vector<std::string> eal_arguments(const EalOptions& options, std::uint64_t hugepages_mb,
                                       int pid) {
  std::vector<std::string> arguments{options.program, "--single-file-segments"};
  const auto add = [&](std::string_view option, std::string value) {
    if (names(options.extra, option)) return;  // the user's arguments take precedence
    arguments.emplace_back(option);
    if (!value.empty()) arguments.push_back(std::move(value));
  };
  if (!names(options.extra, "-l") && !names(options.extra, "-c"))
    add("--lcores", lcore_map(options.cpus));
  add("--file-prefix", options.program + "-" + std::to_string(pid));
  if (wants_hugepages(options, hugepages_mb)) {
    add("--in-memory", "");
  } else {
    add("--no-huge", "");
    add("--no-shconf", "");
    add("-m", std::to_string(options.memory_mb));
  }
  if (options.pci_devices.empty() && !names(options.extra, "-a")) add("--no-pci", "");
  for (const auto& address : options.pci_devices) {
    arguments.emplace_back("-a");
    arguments.push_back(address);
  }
  arguments.insert(arguments.end(), options.extra.begin(), options.extra.end());
  return arguments;
}

Eal::Eal(const EalOptions& options) : own_runtime_(!names(options.extra, "--file-prefix")) {
  for (const std::uint32_t cpu : options.cpus) check_cpu(cpu);
  for (const auto& address : options.pci_devices) check_pci_device(address);
  constexpr std::size_t kFilesOfEal = 32, kFilesOfLcore = 4, kFilesOfDevice = 8;  // generous
  check_open_files(kFilesOfEal + kFilesOfLcore * options.cpus.size() +
                   kFilesOfDevice * options.devices);

  const std::uint64_t huge_mb = usable_hugepages_mb(options);
  std::vector<std::string> arguments = eal_arguments(options, huge_mb, getpid());
  const bool ordinary_pages = names(arguments, "--no-huge");
  if (ordinary_pages) check_free_memory(options.memory_mb, options.memory_keys, MachineTree("/"));
  private_runtime_ = make_private_runtime();
  if (ordinary_pages && options.inform)
    options.inform("memory: " + std::to_string(options.memory_mb) + " MiB of ordinary pages (" +
                   std::to_string(huge_mb) +
                   " MiB of huge pages can be used; more make it faster)");
  std::string line;
  std::vector<char*> argv;
  argv.reserve(arguments.size());
  for (auto& argument : arguments) {
    argv.push_back(argument.data());
    line += " " + argument;
  }
  if (options.trace) options.trace("EAL arguments:" + line);

  capture_dpdk_log(options.trace);
  OutputCapture output;
  const int used = rte_eal_init(static_cast<int>(argv.size()), argv.data());
  const int error = rte_errno;
  const std::string printed = output.finish();
  if (used >= 0) {
    if (own_runtime_) remove_leftovers();
    return;
  }
  remove_quietly(private_runtime_);
  const std::string said = with_printed(last_dpdk_lines(), printed);
  throw EnvironmentError(DpdkError("rte_eal_init", options.program, error).what() +
                         (". DPDK's last lines:" + said) + "\n  " + remedy_for(said) +
                         advice_for(check_machine(this_machine()), said));
}

fs::path Eal::telemetry_socket() {
  return fs::path(rte_eal_get_runtime_dir()) / "dpdk_telemetry.v2";
}

Eal::~Eal() {
  rte_eal_cleanup();
  remove_runtime();
}

void Eal::remove_runtime() const noexcept {
  if (own_runtime_) remove_quietly(rte_eal_get_runtime_dir());
  remove_quietly(private_runtime_);
}

}  // namespace outrider
