#include "tools/lab/ranks/mpi_module.h"

#include <dlfcn.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

#include "common/dpdk/error.h"
#include "common/runtime/poll_stop.h"
#include "tools/lab/run/run_process.h"

namespace outrider::lab {
namespace {

constexpr const char* kModule = "outrider-lab-mpi.so";

/// @throws EnvironmentError
template <class Function>
Function function_of(void* module, const char* name) {
  void* const found = dlsym(module, name);
  if (found == nullptr)
    throw EnvironmentError(std::string(kModule) + " is of another version: it lacks " + name);
  return reinterpret_cast<Function>(found);
}

}  // namespace

std::optional<std::uint32_t> launched_ranks() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    const char* const text = std::getenv(name);
    if (text == nullptr) continue;
    std::uint32_t ranks = 0;
    const char* const end = text + std::strlen(text);
    if (std::from_chars(text, end, ranks).ptr == end && ranks > 0) return ranks;
  }
  return std::nullopt;
}

MpiRanks join_mpi(std::uint32_t launched) {
  const std::string path = (own_directory() / kModule).string();
  // Open MPI looks for its own symbols among the global ones.
  void* const module = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr)
    throw EnvironmentError(
        std::string("started by a launcher of MPI, but the module for it cannot be loaded: ") +
        dlerror() +
        ". `tools/setup --mpi` installs MPI, and building again makes the module; "
        "`--ranks` needs none of it");
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
