#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tools/lab/ranks/peers.h"

namespace outrider::lab {

/// Functions of the program that its MPI module calls.
struct MpiJob {
  bool (*stop_requested)() noexcept = nullptr;
};

/// Returns the number of ranks that a launcher of MPI has started, as its variables say; nothing if
/// none has.
[[nodiscard]] std::optional<std::uint32_t> launched_ranks();

/// Peers of an MPI job, and what else its end needs.
struct MpiRanks {
  std::unique_ptr<Peers> peers;
  /// Ends all ranks at once. Does not return.
  std::function<void(int status)> abort;
};

/// Loads the module for the launcher's MPI from the program's directory, and joins the job.
/// @param launched  launched_ranks()
/// @throws EnvironmentError if there is no module, or MPI says another number of ranks than the
///         launcher: each rank would run the whole alone
[[nodiscard]] MpiRanks join_mpi(std::uint32_t launched);

}  // namespace outrider::lab

extern "C" {
/// The module's functions. @return nullptr if MPI cannot begin
outrider::lab::Peers* outrider_join_mpi(const outrider::lab::MpiJob* job);
void outrider_abort_mpi(int status);
void outrider_mpi_version(char* text, std::size_t room);
}
