#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tools/lab/experiment/case.h"
#include "tools/lab/experiment/other_fabric.h"
#include "tools/lab/experiment/search_settings.h"
#include "tools/lab/ranks/ranked_cases.h"
#include "tools/lab/run/case_part.h"
#include "tools/lab/tables/column_table.h"

namespace outrider::lab {

struct LabOptions;

/// A command: its name, and one of the functions below, which returns the exit status.
struct LabCommand {
  const char* name = "";
  int (*run)(const LabOptions&) = nullptr;
};

/// The options of the command line.
struct LabOptions {
  LabCommand command{};
  /// The experiment. For `report`, `answer`, `table`, `sql` and `trace`: the directory of its
  /// results. For `compare`: the first result. For `metrics`: the documentation to renew, or empty.
  /// For `new`: what is written, or empty.
  std::string file;
  std::string other;           ///< for `compare`: the second result
  std::string topology{};      ///< for `import`: the file that says the network; empty: FILE does
  std::string sql{};           ///< for `sql`: a query; empty: what tables and columns there are
  std::size_t case_index = 0;  ///< for `trace`
  std::vector<std::string> files{};  ///< for `convert` and `import`
  bool fail_on_change = false;
  std::vector<std::string> answers{};   ///< for `new`: to new_questions(); empty: not given
  bool new_file = false;                ///< for `advise`: write FILE, to begin from
  double minutes = 10;                  ///< for `advise`: about how long it may take
  Runtime runtime = Runtime::kVirtual;  ///< for `advise`: where advice is confirmed as well
  std::string testbed{};                ///< for `testbed`: the testbed's file
  std::uint64_t first_seed = 1;
  std::optional<std::uint32_t> seeds{};  ///< absent: the experiment's number
  std::optional<CasePart> part{};        ///< for `run`: runs this part alone
  bool list_cases = false;  ///< for `run`: prints how many there are, and runs none; for `suite`
  std::vector<std::string> tests{};  ///< for `suite`: the names; empty: all
  std::string fabric{};  ///< for `suite`: file of the network of all tests; empty: each has its own
  std::shared_ptr<const OtherFabric> other_fabric{};  ///< of that file; empty: none
  std::vector<std::string> parts{};                   ///< for `merge` and `best`: their directories
  bool partial = false;                               ///< for `merge`: also if cases are missing
  std::string out{};     ///< empty: results/NAME of the experiment; of `trace`, DIR/trace.json; of
                         ///< `import`, FILE with the ending .toml
  std::size_t jobs = 0;  ///< processes; 0: one per CPU
  RankOptions ranks{};   ///< virtual time only
  bool ranks_given = false;                          ///< by --ranks, also 1
  ReferenceRuns references = ReferenceRuns::kOfAll;  ///< for `run`
  std::string filter{};
  std::string configs{};            ///< for `plan`: the folder that gets the cases' configurations
  std::vector<std::string> arms{};  ///< PlanOptions::arms; for `best` also "A*"
  bool fresh = false;               ///< repeat runs that an interrupted session has finished
  bool force = false;               ///< replace results that would be lost, see lost_results()
  bool exclude_flagged = false;     ///< leave out iterations that the machine disturbed
  bool quick = false;               ///< PlanOptions::quick
  bool json = false;
  bool brief = false;        ///< print the answer instead of the table
  bool quiet = false;        ///< print neither: whoever runs tests prints what they are about
  TableRequest table{};      ///< for `table`
  bool collectives = false;  ///< for `table`: jobs' collectives instead of columns
  BestRule best{};           ///< for `best`, of results without a search
};

struct ParsedCommandLine {
  LabOptions options;
  std::optional<int>
      exit_status;  ///< set if there is nothing to do: --help, or a fault that was printed
};

ParsedCommandLine parse_lab_command_line(int argc, const char* const* argv);

/// Runs `outrider-lab new`, which writes an experiment from a few answers. @return exit status
int new_command(const LabOptions& options);

/// Runs `outrider-lab import`, which makes an experiment of files of other simulators. @return exit
/// status
int import_command(const LabOptions& options);

/// Runs `outrider-lab convert`, which rewrites experiments of the earlier language. @return exit
/// status
int convert_command(const LabOptions& options);

/// Runs `outrider-lab plan`, which lists the cases. @return exit status
int plan_command(const LabOptions& options);

/// Runs `outrider-lab report`, which writes report.html from the other files of a result
/// directory. @return exit status
int report_command(const LabOptions& options);

/// Runs `outrider-lab answer`, which prints what the results in a directory say.
/// @return exit status
int answer_command(const LabOptions& options);

/// Writes the report at the end of a run. If it cannot, it prints a message; the run still counts
/// as successful.
void write_report_of_run(const std::filesystem::path& directory);

/// Runs `outrider-lab check`, which prints every fault of the file. @return exit status
int check_command(const LabOptions& options);

/// Runs `outrider-lab compare`. @return exit status
int compare_command(const LabOptions& options);

/// Runs `outrider-lab table`, which prints chosen metrics, a line per arm. @return exit status
int table_command(const LabOptions& options);

/// Runs `outrider-lab sql`, which prints what a query over results gives. @return exit status
int sql_command(const LabOptions& options);

/// Runs `outrider-lab trace`, which writes a case as a timeline. @return exit status
int trace_command(const LabOptions& options);

/// Runs `outrider-lab metrics`, which lists all metrics or renews their documentation.
/// @return exit status
int metrics_command(const LabOptions& options);

/// Runs `outrider-lab search`, which searches the best arms or settings of an experiment.
/// @return exit status
int search_command(const LabOptions& options);

/// Runs `outrider-lab best`, which says of results which arm is best. @return exit status
int best_command(const LabOptions& options);

/// Runs `outrider-lab advise`, which says what helps a cluster. @return exit status
int advise_command(const LabOptions& options);

/// Runs `outrider-lab suite`, which runs and judges the tests of a plan. @return exit status
int suite_command(const LabOptions& options);

/// Runs `outrider-lab run`. @return exit status
int run_command(const LabOptions& options);

/// Runs `outrider-lab merge`, which writes the results of all parts as `run` does.
/// @return exit status
int merge_command(const LabOptions& options);

}  // namespace outrider::lab
