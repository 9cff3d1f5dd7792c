#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "tools/lab/case.h"

namespace outrider {

enum class LabCommand : std::uint8_t { kRun, kPlan };

/// What the command line says.
struct LabOptions {
  LabCommand command = LabCommand::kRun;
  std::string file;
  Runtime runtime = Runtime::kVirtual;
  std::uint64_t first_seed = 1;
  std::optional<std::uint32_t> seeds{};  ///< absent: the file's
  std::string out{};                     ///< empty: results/NAME of the experiment
  std::size_t jobs = 0;                  ///< 0: one a CPU
  std::string filter{};
  bool json = false;
};

struct ParsedCommandLine {
  LabOptions options;
  std::optional<int>
      exit_status;  ///< set if there is nothing to do: --help, or a fault that was printed
};

ParsedCommandLine parse_lab_command_line(int argc, const char* const* argv);

/// outrider-lab plan: lists the cases. @return exit status
int plan_command(const LabOptions& options);

/// outrider-lab run. @return exit status
int run_command(const LabOptions& options);

}  // namespace outrider
