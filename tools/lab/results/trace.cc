#include "tools/lab/results/trace.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/core/burst_ledger.h"
#include "tools/lab/results/part_file.h"

namespace outrider::lab {

namespace {

using Json = nlohmann::ordered_json;
using Instant = std::optional<std::int64_t>;

/// The threshold of a marker that has none.
constexpr std::int64_t kNoThreshold = UINT32_MAX;

double microseconds(std::int64_t ns) { return static_cast<double>(ns) / 1e3; }

std::string of_case(std::size_t index) {
  return " WHERE case_index = " + std::to_string(index) + " AND run = 'measured'";
}

/// The array of events, one a line.
class TraceFile {
 public:
  explicit TraceFile(std::filesystem::path path) : file_(std::move(path)) {}

  /// Returns a number that no other process or thread has: Perfetto takes a process's number for
  /// that of its main thread, and names a thread by its number alone.
  int next_number() noexcept { return ++last_number_; }
  int add_process(std::string_view name) {
    const int process = next_number();
    add("M", process, process, "process_name", 0, {{"args", {{"name", name}}}});
    return process;
  }
  /// @param rest  what the kind of event has beside
  void add(const char* kind, int process, int thread, std::string_view name, std::int64_t at_ns,
           const Json& rest) {
    Json event{{"ph", kind}, {"pid", process}, {"tid", thread}, {"name", name}};
    event["ts"] = microseconds(at_ns);
    event.update(rest);
    // Labels and names come from files that may contain any byte.
    file_.write(separator_ + event.dump(-1, ' ', false, Json::error_handler_t::replace));
    separator_ = ",\n";
  }
  void finish() {
    file_.write("\n]\n");
    file_.finish();
  }

 private:
  PartFile file_;
  std::string separator_ = "[\n";
  int last_number_ = 0;
};

/// Something that lasts, and its parts, which lie within it and follow each other.
struct Span {
  struct Part {
    const char* name;
    std::int64_t begin_ns, end_ns;
  };
  std::string name;
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  Json args = Json::object();
  std::vector<Part> parts{};

  /// Adds a part that lasts, if both ends came, in this order and within the span.
  void add_part(const char* part, Instant begin, Instant end) {
    if (begin && end && begin_ns <= *begin && *begin < *end && *end <= end_ns)
      parts.push_back({part, *begin, *end});
  }
};

/// Spans of one kind in a process, on as few threads as keep them from overlapping.
class Threads {
 public:
  /// @param file  outlives this
  Threads(TraceFile& file, int process, std::string name)
      : file_(file), process_(process), name_(std::move(name)), first_(file.next_number()) {}

  /// Adds a span, none of which may begin before the one before. @return its thread
  int add(const Span& span) {
    const int thread = free_at(span.begin_ns, span.end_ns);
    write(thread, span.name, span.begin_ns, span.end_ns, span.args);
    for (const auto& part : span.parts)
      write(thread, part.name, part.begin_ns, part.end_ns, Json::object());
    return thread;
  }
  /// Returns a thread that has no span from `begin_ns` on, and takes it until `end_ns`.
  int free_at(std::int64_t begin_ns, std::int64_t end_ns) {
    auto thread = std::ranges::find_if(
        threads_, [begin_ns](const auto& t) { return t.free_from_ns <= begin_ns; });
    if (thread == threads_.end()) {
      const bool first = threads_.empty();
      const std::string name = first ? name_ : name_ + ", " + std::to_string(threads_.size() + 1);
      thread = threads_.insert(thread, {first ? first_ : file_.next_number(), end_ns});
      file_.add("M", process_, thread->number, "thread_name", 0, {{"args", {{"name", name}}}});
    }
    thread->free_from_ns = end_ns;
    return thread->number;
  }
  void add_instant(int thread, const std::string& name, Instant at_ns) {
    if (at_ns) file_.add("i", process_, thread, name, *at_ns, {{"s", "t"}});
  }

 private:
  struct Thread {
    int number;
    std::int64_t free_from_ns;
  };
  void write(int thread, std::string_view name, std::int64_t begin_ns, std::int64_t end_ns,
             const Json& args) {
    file_.add("X", process_, thread, name, begin_ns,
              {{"dur", microseconds(end_ns - begin_ns)}, {"args", args}});
  }

  TraceFile& file_;
  int process_;
  std::string name_;
  int first_;
  std::vector<Thread> threads_{};
};

// -- jobs

struct WorkerThreads {
  Threads iterations, push, pull;
  int process;
};
using Workers = std::map<std::pair<std::int64_t, std::int64_t>, WorkerThreads>;  ///< of jobs

Workers workers_of(const ResultsReader& results, std::size_t index, const std::string& title,
                   TraceFile& file) {
  const std::string where = of_case(index);
  Workers workers;
  std::map<std::int64_t, int> processes;
  for (Query row = results.query("SELECT job, worker FROM iterations" + where +
                                 " UNION SELECT job, worker FROM bursts" + where +
                                 " AND due_ns IS NOT NULL ORDER BY 1, 2");
       row.next();) {
    const std::int64_t job = *row.whole(0), worker = *row.whole(1);
    const auto [process, is_new] = processes.try_emplace(job);
    if (is_new) process->second = file.add_process("job " + row.text(0) + " of " + title);
    const std::string name = "worker " + row.text(1);
    workers.try_emplace({job, worker}, WorkerThreads{.iterations{file, process->second, name},
                                                     .push{file, process->second, name + " push"},
                                                     .pull{file, process->second, name + " pull"},
                                                     .process = process->second});
  }
  return workers;
}

void add_iterations(const ResultsReader& results, std::size_t index, Workers& workers) {
  for (Query row = results.query(
           "SELECT job, worker, iteration, begin_ns, ready_ns, end_ns, forward_wait_ns "
           "FROM iterations" +
           of_case(index) + " AND begin_ns IS NOT NULL ORDER BY job, worker, begin_ns, iteration");
       row.next();) {
    Threads& threads = workers.at({*row.whole(0), *row.whole(1)}).iterations;
    const std::int64_t begin = *row.whole(3);
    const Instant ready = row.whole(4), end = row.whole(5);
    if (!end) {  // the run was over before
      if (ready) threads.add({.name = "computing", .begin_ns = begin, .end_ns = *ready});
      continue;
    }
    Span span{.name = "iteration " + row.text(2), .begin_ns = begin, .end_ns = *end};
    span.args["forward_wait_us"] = microseconds(row.whole(6).value_or(0));
    span.add_part("computing", begin, ready);
    span.add_part("waiting for parameters", ready, end);
    threads.add(span);
  }
}

/// Adds what workers did by their lists of steps. Results of a version without them have no table.
void add_steps(const ResultsReader& results, std::size_t index, const Workers& workers,
               TraceFile& file) {
  if (!results.query("SELECT 1 FROM sqlite_master WHERE name = 'steps'").next()) return;
  std::map<std::pair<std::int64_t, std::int64_t>, Threads> steps;
  for (Query row = results.query(
           "SELECT job, worker, iteration, step, begin_ns, end_ns, kind, name FROM steps" +
           of_case(index) + " ORDER BY job, worker, begin_ns, end_ns, step");
       row.next();) {
    const std::pair worker{*row.whole(0), *row.whole(1)};
    Threads& threads = steps
                           .try_emplace(worker, file, workers.at(worker).process,
                                        "worker " + std::to_string(worker.second) + " steps")
                           .first->second;
    const std::string kind = row.text(6), name = row.text(7);
    Span span{.name = name.empty() ? kind : kind + ": " + name,
              .begin_ns = *row.whole(4),
              .end_ns = *row.whole(5)};
    span.args["iteration"] = *row.whole(2);
    span.args["step"] = *row.whole(3) + 1;
    threads.add(span);
  }
}

std::string bursts_query(std::size_t index) {
  std::string sql =
      "SELECT job, worker, direction, iteration, due_ns, start_sent_ns, ack_received_ns, "
      "first_sent_ns, delivered_ns, bytes, rtos, retransmitted_segments";
  for (const auto name : kBurstTimeNames) sql += ", time_" + std::string(name) + "_ns";
  return sql + " FROM bursts" + of_case(index) +
         " AND due_ns IS NOT NULL ORDER BY job, worker, direction, due_ns, iteration";
}

void add_bursts(const ResultsReader& results, std::size_t index, Workers& workers) {
  constexpr std::size_t kTimes = 12;
  for (Query row = results.query(bursts_query(index)); row.next();) {
    WorkerThreads& worker = workers.at({*row.whole(0), *row.whole(1)});
    Threads& threads = row.text(2) == "push" ? worker.push : worker.pull;
    const std::string name = row.text(2) + ' ' + row.text(3);
    const std::int64_t due = *row.whole(4);
    const Instant sent = row.whole(7), delivered = row.whole(8);
    int thread = 0;
    if (delivered) {
      Span span{.name = name, .begin_ns = due, .end_ns = *delivered};
      for (const auto& [key, column] : {std::pair{"bytes", 9}, {"rtos", 10}, {"retransmitted", 11}})
        span.args[key] = row.whole(static_cast<std::size_t>(column)).value_or(0);
      for (std::size_t i = 0; i < kBurstTimes; ++i)
        if (const Instant ns = row.whole(kTimes + i))
          span.args[std::string(kBurstTimeNames[i]) + "_us"] = microseconds(*ns);
      span.add_part("until the first byte", due, sent);
      span.add_part("under way", sent, delivered);
      thread = threads.add(span);
    } else {
      thread = threads.free_at(due, due);
      threads.add_instant(thread, name + " is due, and never delivered", due);
    }
    threads.add_instant(thread, "START of " + name, row.whole(5));
    threads.add_instant(thread, "ACK of " + name, row.whole(6));
  }
}

// -- queues

/// Returns the switch's clock less the generator's.
std::int64_t offset_of(const ResultsReader& results, std::size_t index) {
  Query row = results.query("SELECT switch_ahead_ns FROM runs" + of_case(index));
  return row.next() ? *row.whole(0) : 0;
}

class QueueTrace {
 public:
  QueueTrace(TraceFile& file, const std::string& name)
      : file_(file), process_(file.add_process(name)), lowered_(file, process_, "regulation") {}

  /// Adds a value of a counter, which keeps it until the next one.
  void count(const char* name, std::int64_t at_ns, double packets) {
    const auto [last, is_new] = last_.try_emplace(name, packets);
    if (!is_new && std::exchange(last->second, packets) == packets) return;
    file_.add("C", process_, process_, name, at_ns, {{"args", {{"packets", packets}}}});
  }
  /// Adds the lowest threshold of some time, which follows that of the call before.
  /// @param threshold  nothing: no packet met it
  void add_threshold(std::int64_t begin_ns, std::int64_t end_ns, Instant threshold,
                     Instant highest) {
    if (threshold && *threshold != kNoThreshold)
      count("threshold", begin_ns, static_cast<double>(*threshold));
    if (!threshold || *threshold >= *highest) return close();
    if (!open_) open_ = {.name = "threshold lowered", .begin_ns = begin_ns, .end_ns = end_ns};
    open_->end_ns = end_ns;
    Json& lowest = open_->args["lowest_packets"];
    lowest = lowest.is_null() ? *threshold : std::min(lowest.get<std::int64_t>(), *threshold);
  }
  /// Ends what the last call began.
  void close() {
    if (open_) lowered_.add(*open_);
    open_.reset();
  }

 private:
  TraceFile& file_;
  int process_;
  Threads lowered_;
  std::optional<Span> open_{};
  std::map<std::string, double> last_{};
};

/// @param measured  its name in the trace
void add_queues(const ResultsReader& results, std::size_t index, const std::string& measured,
                TraceFile& file) {
  const std::int64_t offset = offset_of(results, index);
  const auto rows_of = [&](const char* name, const char* table) {
    return std::string("SELECT ") + name +
           " AS name, begin_ns, length_ns, sojourn_ns, max_packets, min_threshold_packets FROM " +
           table + of_case(index) + " AND begin_ns >= " + std::to_string(offset);
  };
  std::optional<QueueTrace> queue;
  std::string name;
  for (Query row =
           results.query("SELECT *, MAX(min_threshold_packets) OVER (PARTITION BY name) "
                         "FROM (" +
                         rows_of("''", "queue") + " UNION ALL " +
                         rows_of("port || '.' || queue", "queues") + ") ORDER BY name, begin_ns");
       row.next();) {
    if (!queue || row.text(0) != name) {
      if (queue) queue->close();
      name = row.text(0);
      queue.emplace(file, name.empty() ? measured : "queue " + name);
    }
    const std::int64_t begin = *row.whole(1) - offset, length = *row.whole(2);
    const Instant sojourn = row.whole(3), most = row.whole(4);
    if (sojourn)
      queue->count("mean occupancy", begin,
                   static_cast<double>(*sojourn) / static_cast<double>(length));
    if (most) queue->count("largest occupancy", begin, static_cast<double>(*most));
    queue->add_threshold(begin, begin + length, row.whole(5), row.whole(6));
  }
  if (queue) queue->close();
}

/// Adds when queues were regulated or stopped, a process each.
void add_spans(const ResultsReader& results, std::size_t index, TraceFile& file) {
  const std::int64_t offset = offset_of(results, index);
  std::string of, kind;
  int process = 0;
  std::optional<Threads> threads;
  for (Query row = results.query(
           "SELECT of, kind, begin_ns, end_ns, (SELECT value FROM cases JOIN parameters USING "
           "(arm) "
           "WHERE case_index = spans.case_index AND name = 'switch.regulation.mode') FROM spans" +
           of_case(index) + " AND begin_ns >= " + std::to_string(offset) +
           " ORDER BY of, kind, begin_ns");
       row.next();) {
    if (row.text(0) != of) process = file.add_process("queue " + row.text(0));
    if (row.text(0) != of || row.text(1) != kind) threads.emplace(file, process, row.text(1));
    of = row.text(0);
    kind = row.text(1);
    const std::string mode = kind == "regulated" ? row.text(4) : "";
    threads->add({.name = mode.empty() ? kind : kind + ": " + mode,
                  .begin_ns = *row.whole(2) - offset,
                  .end_ns = *row.whole(3) - offset});
  }
}

}  // namespace

void write_trace(const ResultsReader& results, std::size_t index,
                 const std::filesystem::path& file) {
  Query row = results.query(
      "SELECT label || ', seed ' || seed, measured_switch || '.' || measured_port "
      "FROM cases WHERE case_index = " +
      std::to_string(index));
  if (!row.next())
    throw std::runtime_error("there is no case " + std::to_string(index) +
                             "; the table `cases` has their numbers");
  TraceFile trace(file);
  Workers workers = workers_of(results, index, row.text(0), trace);
  add_iterations(results, index, workers);
  add_steps(results, index, workers, trace);
  add_bursts(results, index, workers);
  add_queues(results, index, "measured queue " + row.text(1), trace);
  add_spans(results, index, trace);
  trace.finish();
}

}  // namespace outrider::lab
