#pragma once

namespace outrider::lab {

// What --help says of the program and of its commands, above their options.

inline constexpr const char* kHelp =
    R"(Runs an experiment: a topology, a training job, background traffic, and the
arms to compare, from one TOML file (see conf/experiments). All arms share the
same seeds. Without options it runs in virtual time, which needs no NIC, no
privileges and no huge pages, and gives the same results on every machine.)";

inline constexpr const char* kRunHelp =
    R"(Runs every case of FILE, prints the comparison and writes into DIR:
  summary.json                  all metrics of all cases (schema_version inside)
  table.txt                     the comparison as printed
  report.html                   the same to look at, in any browser, offline
  results.sqlite                all tables, for `sql` and for other programs
  bursts.csv iterations.csv queue.csv flows.csv histograms.csv counters.csv runs.csv
  spans.csv                     when queues were regulated or stopped, if any was
  links.csv link_slices.csv     of experiments with [fabric]
  connections.csv               with connection_sample_seconds
  queues.csv captures/          of the ports that [observe] names
  config/                       resolved configurations of both programs, per case
  environment.json              machine, versions, wall time
The results that are complete are written on Ctrl-C, too. After Ctrl-C, a crash or a
power cut the same command goes on with the cases that are missing: finished ones are
packed in DIR/unfinished until all are. One session at a time has DIR.

Examples:
  outrider-lab run conf/experiments/quick.toml
  outrider-lab run conf/experiments/pcn-paper.toml --repeat 30 --jobs 4
  outrider-lab run conf/experiments/quick.toml --runtime loopback --filter "on "
  outrider-lab run conf/experiments/quick.toml --runtime testbed --testbed rack.toml
  outrider-lab run conf/experiments/quick.toml --case 2/3 --out parts/2
  outrider-lab run conf/experiments/quick.toml --json | jq '.cases[].label')";

inline constexpr const char* kSuiteHelp =
    R"(Runs the tests of a plan, each an experiment, judges them by what the plan expects, and
writes into DIR:
  suite.html                    the report, in the order of its sections, in any browser, offline
  suite.json junit.xml          the same for programs
  TEST/                         what `run` writes of each test
The exit status is 1 if a test fails. After Ctrl-C the same command goes on.

Examples:
  outrider-lab suite collectives --list
  outrider-lab suite collectives
  outrider-lab suite conf/suites/incast.toml --tests burst-absorption
  outrider-lab suite collectives --fabric conf/experiments/fabric.toml)";

inline constexpr const char* kMergeHelp =
    R"(Writes the results of all parts that `run --case I/N` has left in the directories, byte for
byte as one `run` of the same file, seeds and options writes them. Names what is missing, there
twice, damaged, or of another run, and then merges nothing. Run it where the parts were run.

Example:
  outrider-lab merge parts/* --out results/pcn)";

inline constexpr const char* kSearchHelp =
    R"(Searches the best of FILE's [[search.family]] tables: runs every arm with a few seeds, those
that may still win with more, and those that are worth it with other seeds, until their intervals
are narrow enough. Figures are of the other seeds alone. With pick = "front" it prints of each
family the front of communication time against background's loss, for the median and the 99th
percentile, the area that it dominates, and what our families gain over the best tuned baseline;
with pick = "best" the quickest arm, the quickest that costs background little, and the one that
spares short flows.
Writes into DIR, beside what `run` writes of the other seeds:
  search.json search.csv search.txt
  screening: what `run` writes of the first seeds
After Ctrl-C the same command goes on.

Examples:
  outrider-lab search conf/experiments/front.toml
  outrider-lab search conf/experiments/verdict/rate-25g.toml --jobs 4)";

inline constexpr const char* kBestHelp =
    R"(Says for each point of each result which arm is best: the quickest that costs background
little, what is as quick and as cheap, the quickest at any cost, and the quickest that spares short
flows. Results of a search are judged by its own rule and metric, and have the best of each family.

Examples:
  outrider-lab best results/verdict/*
  outrider-lab best results/remedies --arms on-there*,off-there* --markdown)";

inline constexpr const char* kAdviseHelp =
    R"(Says what helps a cluster, what it costs, how sure that is, and what to set. FILE is an
experiment without arms, over TCP or RoCEv2, with [change], what may be changed, and [goal], what a
remedy may cost. Tries every remedy that may be used with a few seeds, the best of each kind with
others, and these again with half and twice the load, round trip and buffer. Makes bursts smaller,
and says so, if there is no time for all of them. Writes into DIR:
  advice.txt            what is printed
  outrider-switch.toml  the switch's configuration, as the recommendation has it
  sonic*.json           over RoCEv2: what changes on switches with SONiC
  screen, verify, what-if: an experiment and its results each
After Ctrl-C it prints what is known, and the same command goes on.

Examples:
  outrider-lab advise --new cluster.toml
  outrider-lab advise cluster.toml
  outrider-lab advise cluster.toml --confirm loopback)";

inline constexpr const char* kNewHelp =
    R"(Writes an experiment of at most fifteen lines from five answers: the link's rate, its round
trip and buffer, what a worker sends, and the background. Asks on a terminal for what no option
says; elsewhere the answers in brackets hold. The experiment compares five arms, of which one does
nothing. Prints it if there is no FILE.

Examples:
  outrider-lab new mine.toml
  outrider-lab new mine.toml --rate 25gbit --rtt 40us --burst 8xresnet50 --background 30%)";

inline constexpr const char* kImportHelp =
    R"(Says what a file of another simulator is, what of it is understood and what is left out, and
writes an experiment that `run` takes. Known are topologies and lists of flows of HPCC's simulator
and of those that come from it, connection matrices and topologies of htsim, and traces of jobs:
workloads of SimAI and AICB and execution traces of Chakra, of which NAME.0.et stands for all ranks.
Flows need --topology; for a job without it a network is assumed. Never replaces a file.

Examples:
  outrider-lab import flow.txt --topology topology.txt
  outrider-lab import alltoall.cm --topology leaf_spine.topo --out mine.toml
  outrider-lab import all_reduce.0.et
  outrider-lab import gpt.txt llama.csv --topology topology.txt --out two.toml)";

inline constexpr const char* kConvertHelp =
    R"(Rewrites experiments of the earlier language, and files of arms, in place: parameters that
were one setting of a program become overlays on it (regulation is switch.regulation.mode), [[vary]]
and [[cross]] become [[sweep]], [front] becomes [search]. Comments and the order stay. Says what a
person has to rewrite.

Example:
  outrider-lab convert mine.toml)";

inline constexpr const char* kCheckHelp =
    "Reads FILE, plans its cases, and says every fault by its key; runs nothing.";

inline constexpr const char* kPlanHelp =
    R"(Lists the cases that `run` would run, runs none, and estimates how long they would
take: from the first one, which it begins and lets go after two seconds.)";

inline constexpr const char* kReportHelp = "Writes DIR/report.html anew, from the files of a run.";

inline constexpr const char* kAnswerHelp =
    R"(Prints what the results in DIR say: the sentences and the warnings that `run` prints below
its table, and that the report begins with. Runs nothing.

Example:
  outrider-lab answer results/quick)";

inline constexpr const char* kTableHelp =
    R"(Prints metrics of choice from the results in DIR: a line per arm and point.
`outrider-lab metrics` lists the names.

Example:
  outrider-lab table results/quick --columns communication_seconds_median,rtos_per_burst
  outrider-lab table results/ring-all-reduce --collectives)";

inline constexpr const char* kSqlHelp =
    R"(Prints what a query over the results in DIR gives. Their tables are in DIR/results.sqlite,
which sqlite3, DuckDB, R and pandas read without us. Without a query it lists tables and columns.

Examples:
  outrider-lab sql results/quick
  outrider-lab sql results/quick "SELECT label, AVG(delivered_ns - due_ns) / 1e6 AS ms
    FROM bursts WHERE run = 'measured' AND direction = 'push' GROUP BY label")";

inline constexpr const char* kTraceHelp =
    R"(Writes a case of the results in DIR as a timeline for https://ui.perfetto.dev, which shows
files without sending them anywhere, and for chrome://tracing: iterations, pushes and pulls of each
worker, and the queues that the results have over time. docs/report.md says what is in it.

Example:
  outrider-lab trace results/quick --case 2)";

inline constexpr const char* kMetricsHelp = "Lists all metrics: name, unit, what it is.";

inline constexpr const char* kCompareHelp =
    R"(Says what changed from result A to result B beyond noise: for every arm of both, each
metric seed by seed if they share seeds (a sign-flip test), else by exchanging values. The
p-values are adjusted for the number of comparisons (Holm): equal results show a change
in at most 5 of 100 comparisons of whole results.

Examples:
  outrider-lab compare results/before results/after
  outrider-lab compare results/before results/after --fail-on-change)";

}  // namespace outrider::lab
