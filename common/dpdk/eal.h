#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/dpdk/eal_log.h"

namespace outrider {

struct EalOptions {
  std::string program{};                   ///< argv[0] and the prefix of runtime files
  std::vector<std::uint32_t> cpus{0};      ///< lcore i runs on cpus[i]; 0 is the main one
  std::vector<std::string> pci_devices{};  ///< addresses; empty: PCI is not even scanned
  std::uint32_t memory_mb = 64;            ///< pools, rings and tables
  bool use_hugepages = true;               ///< if enough are free
  std::vector<std::string> extra{};        ///< further EAL arguments, as given by the user
  LineSink inform{};                       ///< what the user should know; may be empty
  LineSink trace{};                        ///< DPDK's own log; may be empty
};

/// The arguments that follow from the options. Pure.
/// @param hugepages_mb  free huge pages [MiB]
[[nodiscard]] std::vector<std::string> eal_arguments(const EalOptions& options,
                                                     std::uint64_t hugepages_mb, int pid);

/// DPDK's environment abstraction layer; one a process and once. The calling
/// thread becomes the main lcore; every lcore is pinned to its CPU. With enough free
/// huge pages memory comes from there, else from ordinary pages: no privilege,
/// no set-up. Virtual devices are attached by Port, not here.
class Eal {
 public:
  /// @throws EnvironmentError with cause and remedy
  explicit Eal(const EalOptions& options);
  ~Eal();
  Eal(const Eal&) = delete;
  Eal& operator=(const Eal&) = delete;

  /// Of DPDK's telemetry: what dpdk-telemetry.py connects to.
  [[nodiscard]] static std::filesystem::path telemetry_socket();

 private:
  bool own_runtime_;  ///< DPDK's runtime directory has our process id in its name
  std::filesystem::path private_runtime_;  ///< empty: the user's is fine
};

}  // namespace outrider
