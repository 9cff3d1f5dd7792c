#include "tools/lab/ranks/mpi_module.h"

#include <dlfcn.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>

#include "common/dpdk/eal/error.h"
#include "common/runtime/poll_stop.h"
#include "tools/lab/run/run_process.h"

namespace outrider::lab {
namespace {

constexpr const char* kOpenMpi = "outrider-lab-openmpi.so";
constexpr const char* kMpich = "outrider-lab-mpich.so";
constexpr const char* kOther = "outrider-lab-mpi.so";  ///< of an MPI that is neither

struct Launcher {
  const char* size_variable = nullptr;   ///< in which it says how many ranks it has started
  std::array<const char*, 3> modules{};  ///< its own first: others say that they do not fit
};

/// PMI is what MPICH and its kin are started by, and Slurm starts any MPI.
constexpr std::array kLaunchers{
    Launcher{"OMPI_COMM_WORLD_SIZE", {kOpenMpi, kOther, kMpich}},
    Launcher{"PMI_SIZE", {kMpich, kOther, kOpenMpi}},
};

struct Launch {
  std::uint32_t ranks = 0;
  const Launcher* by = nullptr;
};

/// @return nothing if no launcher has started this process
std::optional<Launch> launch() {
  for (const Launcher& launcher : kLaunchers) {
    const char* const text = std::getenv(launcher.size_variable);
    if (text == nullptr) continue;
    std::uint32_t ranks = 0;
    const char* const end = text + std::strlen(text);
    if (std::from_chars(text, end, ranks).ptr == end && ranks > 0) return Launch{ranks, &launcher};
  }
  return std::nullopt;
}

/// Loads the module of the launcher's MPI; if that was not built, another. @throws EnvironmentError
void* load_module(const Launcher& launcher) {
  const char* name = launcher.modules.front();
  for (const char* const one : launcher.modules) {
    if (!std::filesystem::exists(own_directory() / one)) continue;
    name = one;
    break;
  }
  // Open MPI looks for its own symbols among the global ones.
  void* const module = dlopen((own_directory() / name).c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr)
    throw EnvironmentError(
        std::string("started by a launcher of MPI, but the module for it cannot be loaded: ") +
        dlerror() +
        ". `tools/setup --mpi` installs Open MPI, `tools/setup --mpich` MPICH, and building again "
        "makes the module; `--ranks` needs none of it");
  return module;
}

/// @throws EnvironmentError
template <class Function>
Function function_of(void* module, const char* name) {
  void* const found = dlsym(module, name);
  if (found == nullptr)
    throw EnvironmentError(std::string("the module for MPI is of another version: it lacks ") +
                           name);
  return reinterpret_cast<Function>(found);
}

}  // namespace

std::optional<std::uint32_t> launched_ranks() {
  const auto launched = launch();
  return launched ? std::optional(launched->ranks) : std::nullopt;
}

MpiRanks join_mpi(std::uint32_t launched) {
  const auto by = launch();
  if (!by) throw EnvironmentError("no launcher of MPI has started this process");
  void* const module = load_module(*by->by);
  const MpiJob job{.stop_requested = stop_requested};
  Peers* const peers = function_of<decltype(&outrider_join_mpi)>(module, "outrider_join_mpi")(&job);
  if (peers == nullptr) throw EnvironmentError("MPI_Init failed");
  if (peers->size() != launched) {
    std::array<char, 256> version{};
    function_of<decltype(&outrider_mpi_version)>(module, "outrider_mpi_version")(version.data(),
                                                                                 version.size());
    throw EnvironmentError("the launcher has started " + std::to_string(launched) +
                           " ranks, but MPI (" + version.data() + ") says " +
                           std::to_string(peers->size()) +
                           ": each would run the whole alone. Use the launcher of that MPI");
  }
  return {std::unique_ptr<Peers>(peers),
          function_of<decltype(&outrider_abort_mpi)>(module, "outrider_abort_mpi")};
}

}  // namespace outrider::lab
