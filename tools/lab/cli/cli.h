#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/experiment/case.h"

namespace outrider::lab {

enum class LabCommand : std::uint8_t {
  kRun,
  kFront,
  kPlan,
  kCheck,
  kReport,
  kCompare,
  kTable,
  kMetrics
};

/// What the command line says.
struct LabOptions {
  LabCommand command = LabCommand::kRun;
  /// Experiment; kReport, kTable: the directory of its results; kCompare: the first result;
  /// kMetrics: the documentation to renew, or nothing.
  std::string file;
  std::string other;  ///< kCompare: the second
  bool fail_on_change = false;
  Runtime runtime = Runtime::kVirtual;
  std::string testbed{};  ///< kTestbed: its file
  std::uint64_t first_seed = 1;
  std::optional<std::uint32_t> seeds{};  ///< absent: the file's
  std::string out{};                     ///< empty: results/NAME of the experiment
  std::size_t jobs = 0;                  ///< 0: one a CPU
  std::string filter{};
  bool fresh = false;            ///< runs that an interrupted session has left are made anew
  bool exclude_flagged = false;  ///< iterations that the machine disturbed
  bool quick = false;            ///< PlanOptions::quick
  bool json = false;
  bool brief = false;                  ///< the answer instead of the table
  bool csv = false;                    ///< kTable
  std::vector<std::string> columns{};  ///< kTable: names of metrics
  std::string chart_library{};         ///< kReport; empty: where Debian's package has it
};

struct ParsedCommandLine {
  LabOptions options;
  std::optional<int>
      exit_status;  ///< set if there is nothing to do: --help, or a fault that was printed
};

ParsedCommandLine parse_lab_command_line(int argc, const char* const* argv);

/// outrider-lab plan: lists the cases. @return exit status
int plan_command(const LabOptions& options);

/// outrider-lab report: writes report.html from the other files of a result directory.
/// @return exit status
int report_command(const LabOptions& options);

/// At the end of a run. A report that cannot be made is said, and is no fault of the run.
void write_report_of_run(const std::filesystem::path& directory);

/// outrider-lab check: says every fault of the file. @return exit status
int check_command(const LabOptions& options);

/// outrider-lab compare. @return exit status
int compare_command(const LabOptions& options);

/// outrider-lab table: metrics of choice, a line per arm. @return exit status
int table_command(const LabOptions& options);

/// outrider-lab metrics: lists them, or renews what docs say of them. @return exit status
int metrics_command(const LabOptions& options);

/// outrider-lab front: searches settings, reports the front of gain against cost. @return exit
/// status
int front_command(const LabOptions& options);

/// outrider-lab run. @return exit status
int run_command(const LabOptions& options);

}  // namespace outrider::lab
