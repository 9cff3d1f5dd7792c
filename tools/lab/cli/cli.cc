#include "tools/lab/cli/cli.h"

#include <CLI/CLI.hpp>
#include <stdexcept>
#include <utility>

#include "common/telemetry/exit_status.h"
#include "common/telemetry/option_checks.h"
#include "common/telemetry/parse_end.h"
#include "common/telemetry/version.h"
#include "tools/lab/cli/cli_help.h"
#include "tools/lab/editing/new_experiment.h"

namespace outrider::lab {
namespace {

/// Adds an option that takes one of these words.
template <class Value>
void add_choice(CLI::App& app, const std::string& name, Value& into,
                const std::vector<std::pair<std::string, Value>>& words, const std::string& help) {
  std::string all;
  for (const auto& choice : words) all += (all.empty() ? "" : "|") + choice.first;
  const auto take = [&into, name, words, all](const std::string& word) {
    for (const auto& [choice, value] : words)
      if (word == choice) return void(into = value);
    throw CLI::ValidationError(name, word + ": must be one of " + all);
  };
  app.add_option_function<std::string>(name, take, help)->type_name(all)->option_text(all);
}

void add_jobs(CLI::App& app, LabOptions& options,
              const char* help = "Worker processes [one per CPU]") {
  app.add_option("--jobs", options.jobs, help)->check(CLI::Range(1U, 1024U));
}

/// @return the option --repeat
CLI::Option* add_seeds(CLI::App& app, LabOptions& options, const char* first, const char* many) {
  app.add_option("--seed", options.first_seed, first)
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 62));
  return app.add_option("--repeat", options.seeds, many)->check(CLI::Range(1U, 1'000'000U));
}

void add_selection(CLI::App& app, LabOptions& options) {
  app.add_flag("--quick", options.quick,
               "Only to see that it runs: one seed, the first point, two iterations; into\n"
               "results/NAME-quick, and marked so in table and summary");
  app.add_option("FILE", options.file, "Experiment, e.g. conf/experiments/quick.toml")->required();
  add_seeds(app, options, "First seed [1]",
            "Seeds per case, counted up from --seed [the file's seeds]")
      ->excludes("--quick");
  app.add_option("--filter", options.filter,
                 "Only cases whose name, as `plan` lists it, holds TEXT")
      ->type_name("TEXT");
  app.add_option("--arms", options.arms,
                 "Only these arms, and what they are compared with: A,B,...")
      ->delimiter(',')
      ->type_name("LABELS");
}

void add_plan(CLI::App& app, LabOptions& options) {
  add_selection(app, options);
  app.add_option("--configs", options.configs,
                 "Write both programs' configurations of each arm at each point into DIR, with\n"
                 "the first seed")
      ->type_name("DIR");
}

constexpr const char* kReplace =
    "Replace what DIR has of another experiment or runtime, or of more seeds or cases";

void add_replacing(CLI::App& app, LabOptions& options, const std::string& replaced = kReplace) {
  app.add_flag("--fresh", options.fresh,
               "Run everything, also what an interrupted run has left in DIR");
  app.add_flag("--force", options.force, replaced);
}

void add_printing(CLI::App& app, LabOptions& options) {
  app.add_flag("--json", options.json, "Print summary.json instead of the table");
  app.add_flag("--brief", options.brief,
               "Print the answer and a row an arm; the table is in table.txt")
      ->excludes("--json");
}

void add_part(CLI::App& app, LabOptions& options) {
  app.add_option_function<std::string>(
         "--case",
         [&options](const std::string& text) {
           try {
             options.part = case_part_from(text);
           } catch (const std::invalid_argument& error) {
             throw CLI::ValidationError("--case", error.what());
           }
         },
         "Run part I of N of the cases alone, virtual runtime only, and leave its finished runs\n"
         "in DIR for `merge`, see docs/scale.md")
      ->type_name("I/N");
  app.add_flag("--list-cases", options.list_cases,
               "Print the number of cases, the largest N of --case, and run none")
      ->excludes("--case");
}

void add_ranks(CLI::App& app, LabOptions& options) {
  app.add_option_function<std::uint32_t>(
         "--ranks",
         [&options](std::uint32_t ranks) {
           options.ranks.ranks = ranks;
           options.ranks_given = true;
         },
         "Cut each case across N processes, virtual runtime only [1; under mpirun: as many\n"
         "as it starts], see docs/ranks.md")
      ->check(CLI::Range(1U, 1024U))
      ->type_name("N");
  add_choice<CutKind>(
      app, "--cut", options.ranks.cut,
      {{"blocks", CutKind::kBlocks}, {"turns", CutKind::kTurns}, {"metis", CutKind::kMetis}},
      "How switches and hosts are dealt to ranks: neighbours of the file together [blocks],\n"
      "in turn, or so that METIS cuts few wires");
  app.add_option(
         "--tiles", options.ranks.tiles,
         "Run each rank in at most N tiles, virtual runtime only [as many as make it quickest]")
      ->check(CLI::Range(1U, 65'536U))
      ->type_name("N");
  app.add_option("--least-work", options.ranks.least_work,
                 "Refuse ranks that can send fewer packets in a window [" +
                     std::to_string(RankOptions::kLeastWork) + "]")
      ->type_name("PACKETS");
  app.add_flag("--profile", options.ranks.profile, "Print what each rank waited for");
}

/// Adds where the cases or tests of a file run.
void add_runtime(CLI::App& app, LabOptions& options) {
  add_choice<Runtime>(
      app, "--runtime", options.runtime,
      {{"virtual", Runtime::kVirtual},
       {"loopback", Runtime::kLoopback},
       {"testbed", Runtime::kTestbed}},
      "virtual: simulated clock, one process (default)\n"
      "loopback: outrider-switch and outrider-trafficgen as two processes in real time,\n"
      "joined by vhost and virtio-user; one case after another\n"
      "testbed: the same on the devices, and the machines, that --testbed names");
  app.add_option("--testbed", options.testbed, "Devices and machines, see docs/testbed.md")
      ->type_name("FILE");
}

void add_run(CLI::App& app, LabOptions& options) {
  add_selection(app, options);
  add_runtime(app, options);
  app.add_option("--out", options.out,
                 "Directory of the results [results/NAME; loopback and testbed:\n"
                 "results/NAME-RUNTIME]")
      ->type_name("DIR");
  add_jobs(app, options, "Worker processes, virtual runtime only [one per CPU]");
  add_choice<ReferenceRuns>(
      app, "--references", options.references,
      {{"all", ReferenceRuns::kOfAll},
       {"off", ReferenceRuns::kOfOff},
       {"none", ReferenceRuns::kNone}},
      "Cases that are also run without background: all [default], which a slowdown in each\n"
      "arm needs; off, of the first baseline: enough for times over `alone`; none");
  add_part(app, options);
  add_ranks(app, options);
  add_replacing(app, options,
                std::string(kReplace) +
                    ";\nrun what DIR has complete results of, which are otherwise only printed");
  app.add_flag("--exclude-flagged", options.exclude_flagged,
               "Leave out iterations during which a poll loop was away too long (real time)");
  add_printing(app, options);
  exclude_all(app, "--list-cases",
              {"--runtime", "--testbed", "--out", "--jobs", "--references", "--ranks", "--cut",
               "--tiles", "--least-work", "--profile", "--fresh", "--force", "--exclude-flagged",
               "--json", "--brief"});
}

void add_suite(CLI::App& app, LabOptions& options) {
  app.add_option("FILE", options.file, "Suite: a file, or the name of one in conf/suites")
      ->required();
  app.add_flag("--list", options.list_cases, "Print what each test asks, and run none");
  app.add_option("--tests", options.tests, "Only these tests: A,B,... [all]")
      ->delimiter(',')
      ->type_name("NAMES");
  app.add_option("--fabric", options.fabric,
                 "Run the tests on the network of this experiment [each on its own]")
      ->type_name("FILE");
  add_seeds(app, options, "First seed [1]", "Seeds per case [those of each experiment]");
  app.add_option("--out", options.out, "Directory of the results [results/suite-NAME]")
      ->type_name("DIR");
  add_jobs(app, options);
  add_runtime(app, options);
  add_replacing(app, options);
  exclude_all(app, "--list",
              {"--tests", "--fabric", "--testbed", "--out", "--jobs", "--fresh", "--force"});
}

void add_merge(CLI::App& app, LabOptions& options) {
  app.add_option("DIR", options.parts, "Directories of the parts, in any order")->required();
  app.add_option("--out", options.out, "Directory of the results [results/NAME]")->type_name("OUT");
  app.add_flag("--partial", options.partial, "Merge what there is, also if cases are missing");
  app.add_flag("--force", options.force,
               "Replace what OUT has of another experiment or runtime, or of more seeds or cases");
  add_printing(app, options);
}

void add_search(CLI::App& app, LabOptions& options) {
  app.add_option("FILE", options.file, "Experiment with [search], e.g. conf/experiments/front.toml")
      ->required();
  add_seeds(app, options, "First seed of the screening [1]",
            "Seeds that verify, at most [search.verifying_seeds of the file]");
  app.add_option("--out", options.out, "Directory of the results [results/NAME]")->type_name("DIR");
  add_jobs(app, options);
  add_replacing(app, options);
  app.add_flag("--json", options.json, "Print search.json instead of the table");
}

void add_best(CLI::App& app, LabOptions& options) {
  app.add_option("DIR", options.parts, "Directories of results")->required();
  app.add_option("--arms", options.arms,
                 "Only these arms, and the first baseline: A,B,...; A* is all that begin with A "
                 "[all]")
      ->delimiter(',')
      ->type_name("LABELS");
  app.add_option("--cheap", options.best.cheap,
                 "Bytes that background may lose per byte of bursts [those of the search, or 0.1]")
      ->check(usable_number())
      ->type_name("X");
  app.add_option("--spared", options.best.spared,
                 "How many times as long short flows may take, by their p99 [the same, or 1.1]")
      ->check(CLI::Range(1.0, 1e6))
      ->check(usable_number())
      ->type_name("X");
  app.add_flag_function(
      "--markdown", [&options](std::int64_t) { options.table.form = TableForm::kMarkdown; },
      "Print tables for a page, as docs/experiments has them");
}

void add_advise(CLI::App& app, LabOptions& options) {
  app.add_option("FILE", options.file, "Experiment, see docs/advise.md");
  app.add_flag("--new", options.new_file, "Write FILE, to begin from, and do nothing else");
  app.add_option("--minutes", options.minutes, "About how long it may take [10]")
      ->check(CLI::Range(0.1, 1e5))
      ->check(usable_number())
      ->type_name("M");
  add_choice<Runtime>(
      app, "--confirm", options.runtime, {{"loopback", Runtime::kLoopback}},
      "Try it between two processes too, at rates that this machine carries: loopback");
  app.add_option("--out", options.out, "Directory of the results [results/advise]")
      ->type_name("DIR");
  add_jobs(app, options);
  add_replacing(app, options);
}

void add_report(CLI::App& app, LabOptions& options) {
  app.add_option("DIR", options.file, "Where `run` left its results, e.g. results/quick")
      ->required();
}

void add_answer(CLI::App& app, LabOptions& options) {
  app.add_option("DIR", options.file, "Directory of results, or a results.sqlite")->required();
}

void add_table(CLI::App& app, LabOptions& options) {
  app.add_option("DIR", options.file, "Directory of results, or a results.sqlite")->required();
  app.add_option(
         "--columns", options.table.columns,
         "Names of metrics, with commas [those that `compare` tests]; NAME:range has the 95 % "
         "interval too, NAME:change the change against the baseline")
      ->delimiter(',')
      ->type_name("NAME,...");
  app.add_option("--arms", options.table.arms, "Labels, in the order of the table [all]")
      ->delimiter(',')
      ->type_name("LABEL,...");
  app.add_option_function<std::vector<std::string>>(
         "--where",
         [&options](const std::vector<std::string>& all) {
           for (const auto& one : all) {
             const auto equals = one.find('=');
             if (equals == std::string::npos)
               throw CLI::ValidationError("--where", one + ": give PARAMETER=VALUE");
             options.table.where.emplace_back(one.substr(0, equals), one.substr(equals + 1));
           }
         },
         "Only the lines with these values, with commas [all]")
      ->delimiter(',')
      ->type_name("PARAMETER=VALUE,...");
  app.add_flag("--collectives", options.collectives,
               "Instead of metrics, size, time, algbw and busbw of each job's collective, as\n"
               "nccl-tests prints them")
      ->excludes("--columns");
  const auto form = [&options](TableForm of) {
    return [&options, of](std::int64_t) { options.table.form = of; };
  };
  auto* csv = app.add_flag_function("--csv", form(TableForm::kCsv),
                                    "Print CSV, in the units of `outrider-lab metrics`");
  app.add_flag_function("--markdown", form(TableForm::kMarkdown),
                        "Print a table for a page, as docs/experiments has them")
      ->excludes(csv);
}

void add_sql(CLI::App& app, LabOptions& options) {
  app.add_option("DIR", options.file, "Directory of results")->required();
  app.add_option("QUERY", options.sql, "One SELECT [what tables and columns there are]");
  app.add_flag_function(
      "--csv", [&options](std::int64_t) { options.table.form = TableForm::kCsv; }, "Print CSV");
}

void add_trace(CLI::App& app, LabOptions& options) {
  app.add_option("DIR", options.file, "Directory of results")->required();
  app.add_option("--case", options.case_index,
                 "The case, by its number in the table `cases` of results.sqlite [0]")
      ->check(CLI::Range(std::size_t{0}, std::size_t{1} << 62))
      ->type_name("N");
  app.add_option("--out", options.out, "The file to write [DIR/trace.json]")->type_name("FILE");
}

void add_metrics(CLI::App& app, LabOptions& options) {
  app.add_option("--renew", options.file,
                 "Write anew what measurement.md and summary.schema.json in DOCS say of them")
      ->type_name("DOCS");
}

void add_new(CLI::App& app, LabOptions& options) {
  app.add_option("FILE", options.file, "The experiment to write");
  const auto questions = new_questions();
  options.answers.resize(questions.size());
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const NewQuestion& q = questions[i];
    app.add_option(std::string(q.option), options.answers[i],
                   std::string(q.asks) + " [" + std::string(q.usual) + "]")
        ->type_name(std::string(q.type));
  }
}

void add_import(CLI::App& app, LabOptions& options) {
  app.add_option("FILE", options.files, "Of another simulator; several traces are several jobs")
      ->required();
  app.add_option("--topology", options.topology, "File that says the network [FILE]")
      ->type_name("FILE");
  app.add_option("--out", options.out, "The experiment to write [FILE with the ending .toml]")
      ->type_name("OUT");
}

void add_convert(CLI::App& app, LabOptions& options) {
  app.add_option("FILE", options.files, "Experiments")->required();
}

void add_check(CLI::App& app, LabOptions& options) {
  app.add_option("FILE", options.file, "Experiment")->required();
}

void add_compare(CLI::App& app, LabOptions& options) {
  app.add_option("A", options.file, "Directory of results, or a results.sqlite")->required();
  app.add_option("B", options.other, "The same, later or with other settings")->required();
  app.add_flag("--json", options.json, "Print JSON instead of the table");
  app.add_flag("--fail-on-change", options.fail_on_change,
               "End with status 6 if anything changed beyond noise");
}

}  // namespace

ParsedCommandLine parse_lab_command_line(int argc, const char* const* argv) {
  ParsedCommandLine parsed;
  CLI::App app(kHelp, "outrider-lab");
  app.require_subcommand(1);
  add_version_option(app);
  app.footer(kExitStatusHelp);
  LabOptions& options = parsed.options;
  const auto add = [&](const char* name, const char* help, int (*run)(const LabOptions&),
                       auto add_options) {
    CLI::App* sub = app.add_subcommand(name, help);
    sub->footer(kExitStatusHelp);
    sub->callback([&options, name, run] { options.command = {name, run}; });
    add_options(*sub, options);
  };
  add("run", kRunHelp, run_command, add_run);
  add("suite", kSuiteHelp, suite_command, add_suite);
  add("merge", kMergeHelp, merge_command, add_merge);
  add("search", kSearchHelp, search_command, add_search);
  add("best", kBestHelp, best_command, add_best);
  add("advise", kAdviseHelp, advise_command, add_advise);
  add("new", kNewHelp, new_command, add_new);
  add("import", kImportHelp, import_command, add_import);
  add("convert", kConvertHelp, convert_command, add_convert);
  add("check", kCheckHelp, check_command, add_check);
  add("plan", kPlanHelp, plan_command, add_plan);
  add("report", kReportHelp, report_command, add_report);
  add("answer", kAnswerHelp, answer_command, add_answer);
  add("table", kTableHelp, table_command, add_table);
  add("sql", kSqlHelp, sql_command, add_sql);
  add("trace", kTraceHelp, trace_command, add_trace);
  add("metrics", kMetricsHelp, metrics_command, add_metrics);
  add("compare", kCompareHelp, compare_command, add_compare);
  try {
    parse_arguments(app, {argv + 1, argv + argc});
  } catch (const CLI::ParseError& error) {
    parsed.exit_status = end_of_parsing(app, error);
  }
  return parsed;
}

}  // namespace outrider::lab
