#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/dpdk/eal/eal_log.h"

namespace outrider {

struct EalOptions {
  std::string program{};                   ///< argv[0], and the prefix of runtime files
  std::vector<std::uint32_t> cpus{0};      ///< lcore i runs on cpus[i]; lcore 0 is the main one
  std::vector<std::string> pci_devices{};  ///< addresses; empty: PCI is not scanned
  std::uint32_t memory_mb = 64;            ///< for pools, rings and tables
  std::string memory_keys =
      "`rx_descriptors` and `tx_descriptors`";  ///< the settings that make it smaller
  std::uint32_t devices = 0;                    ///< that are going to be attached
  bool use_hugepages = true;                    ///< use them if enough are free
  std::vector<std::string> extra{};             ///< further EAL arguments from the user
  LineSink inform{};                            ///< takes lines for the user; may be empty
  LineSink trace{};                             ///< takes DPDK's own log; may be empty
};

/// Returns the EAL's arguments for the options. Pure.
/// @param hugepages_mb  free huge pages [MiB]
[[nodiscard]] std::vector<std::string> eal_arguments(const EalOptions& options,
                                                     std::uint64_t hugepages_mb, int pid);

/// DPDK's environment abstraction layer; may exist only once per process. The calling thread
/// becomes the main lcore, and every lcore is pinned to its CPU. Memory comes from huge pages
/// if enough are free, otherwise from ordinary pages, which need no privilege and no set-up.
/// Virtual devices are attached by Port, not here.
class Eal {
 public:
  /// @throws EnvironmentError with cause and remedy
  explicit Eal(const EalOptions& options);
  ~Eal();
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;

  /// Removes the runtime directories, for a process that ends without the destructor. Any thread.
  void remove_runtime() const noexcept;

  /// Returns the path of DPDK's telemetry socket, to which dpdk-telemetry.py connects.
  [[nodiscard]] static std::filesystem::path telemetry_socket();

 private:
  bool own_runtime_;  ///< DPDK's runtime directory has this process's id in its name
  std::filesystem::path private_runtime_;  ///< empty: the user's runtime directory is usable
};

}  // namespace outrider
