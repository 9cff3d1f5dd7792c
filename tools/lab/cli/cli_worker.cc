#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>

#include "common/runtime/poll_stop.h"
#include "common/telemetry/exit_status.h"
#include "tools/lab/cli/cli.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/cli/cli_queue.h"
#include "tools/lab/cli/progress.h"
#include "tools/lab/queue/case_queue.h"
#include "tools/lab/queue/cpu_claims.h"
#include "tools/lab/run/cpus.h"
#include "tools/lab/run/run_pool.h"

namespace outrider::lab {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// Returns [cases] the place of each in the order in which they are begun.
std::vector<std::size_t> ranks_of(const std::vector<Case>& cases) {
  std::vector<std::size_t> all(cases.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  const auto order = seed_major(cases, all);
  std::vector<std::size_t> rank(cases.size());
  for (std::size_t r = 0; r < order.size(); ++r) rank[order[r]] = r;
  return rank;
}

/// Returns how often a worker looks at the queue's folders: at those of others whose lease may have
/// expired, and for a case if there was none.
std::chrono::nanoseconds look_interval(const LeaseRules& rules) {
  return std::clamp<std::chrono::nanoseconds>(rules.lease / 12, std::chrono::milliseconds(50),
                                              std::chrono::seconds(2));
}

/// Is due at once, and then each time that the interval has passed.
class Every {
 public:
  explicit Every(std::chrono::nanoseconds interval) : interval_(interval) {}
  bool due(SteadyClock::time_point now) {
    if (last_ && now - *last_ < interval_) return false;
    last_ = now;
    return true;
  }

 private:
  std::chrono::nanoseconds interval_;
  std::optional<SteadyClock::time_point> last_{};
};

/// One worker: takes cases in its child processes, and in its own keeps their leases, stores what
/// they send and puts back what others have left. Gives its cases back when it goes.
class QueueWorker {
 public:
  QueueWorker(const OpenQueue& queue, std::string name)
      : queue_(queue),
        tickets_(queue.directory, name, queue.manifest.rules),
        store_(store_of(queue, name)),
        name_(std::move(name)),
        rank_(ranks_of(queue.planned.cases)),
        renewals_(renewal_interval(queue.manifest.rules)),
        looks_(look_interval(queue.manifest.rules)),
        line_("outrider-lab: " + queue.planned.file.name) {}
  ~QueueWorker() { tickets_.give_back_all(); }
  QueueWorker(const QueueWorker&) = delete;
  QueueWorker& operator=(const QueueWorker&) = delete;

  /// @param cpus  number of cases at a time. @return exit status
  int run(std::size_t cpus) {
    RunOrder order{
        .cases = queue_.planned.cases,
        .names = queue_.planned.names,
        .wanted = {},
        .progress = [this](std::size_t, std::size_t) { look_after(SteadyClock::now()); },
        .on_run = [this](std::size_t i, const CaseRun&, const std::string& text) { keep(i, text); },
        .feed = feed()};
    order.wanted.resize(rank_.size());
    std::iota(order.wanted.begin(), order.wanted.end(), std::size_t{0});
    tickets_.join(name_ + " has begun");
    const RunOutcome outcome = run_cases_virtual(order, cpus);
    tickets_.give_back_all();
    if (!error_.empty())
      throw std::runtime_error(error_ +
                               "; its case waits in the queue again. Remove the cause, and start "
                               "the worker again");
    return tell_end(outcome.interrupted);
  }

 private:
  CaseFeed feed() {
    return {.next = [this](const std::function<bool()>& stop) { return next(stop); },
            .on_begun = [this](std::size_t i) { begun(i); },
            .on_failure = [this](std::size_t i, const std::string& cause,
                                 bool died) { failed(i, cause, died); }};
  }

  /// Runs in a child process. Waits while others have cases, as they may leave one.
  std::optional<std::size_t> next(const std::function<bool()>& stop) {
    Every looks(look_interval(queue_.manifest.rules));
    for (; !stop(); std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
      if (!looks.due(SteadyClock::now())) continue;
      while (const auto ticket = tickets_.take(rank_)) {
        if (ticket->taken == 1 || !is_done(ticket->index)) return ticket->index;
        tickets_.finish(*ticket);  // by a worker whose lease had expired
      }
      const auto counts = tickets_.counts();
      if (counts.todo + counts.running == 0) return std::nullopt;
    }
    return std::nullopt;
  }

  bool is_done(std::size_t i) const {
    return store_.load(queue_.planned.cases[i], Runtime::kVirtual).text.has_value();
  }

  void begun(std::size_t i) {
    if (const auto ticket = tickets_.own(i)) held_.insert_or_assign(i, *ticket);
    tickets_.note("begun " + queue_.planned.names[i]);
  }

  void keep(std::size_t i, const std::string& text) {
    if (!error_.empty()) return;
    try {
      store_.save(queue_.planned.cases[i], Runtime::kVirtual, text);
    } catch (const std::runtime_error& error) {
      error_ = error.what();  // the next case would meet it too
      request_stop();
      return;
    }
    ++done_;
    tickets_.note("done " + queue_.planned.names[i]);
    if (const auto node = held_.extract(i)) tickets_.finish(node.mapped());
  }

  void failed(std::size_t i, const std::string& cause, bool died) {
    say("outrider-lab: \"" + queue_.planned.names[i] + "\": " + cause);
    tickets_.note("failed " + queue_.planned.names[i] + ": " + cause);
    const auto node = held_.extract(i);
    if (!node) return;
    const Ticket& ticket = node.mapped();
    // What a case throws it throws again; a process may have died for want of memory.
    tickets_.fail(ticket, name_ + ": " + cause,
                  died ? verdict_of(ticket, queue_.manifest.rules) : TicketVerdict::kFailed);
  }

  void look_after(SteadyClock::time_point now) {
    if (renewals_.due(now))
      std::erase_if(held_, [this](const auto& held) {
        if (tickets_.renew(held.second)) return false;
        say("outrider-lab: the lease of \"" + queue_.planned.names[held.first] +
            "\" had expired; another worker may run it too");
        return true;
      });
    if (!looks_.due(now)) return;
    for (const Ticket& ticket : tickets_.expire(now))
      say("outrider-lab: \"" + queue_.planned.names.at(ticket.index) + "\" is taken from " +
          ticket.worker + ", whose lease has expired");
    const auto counts = tickets_.counts();
    const std::size_t all = queue_.planned.cases.size();
    line_.show(all - std::min(all, counts.todo + counts.running), all);
  }

  int tell_end(bool interrupted) const {
    const auto counts = tickets_.counts();
    const std::string ran = "outrider-lab: this worker ran " + std::to_string(done_) + " of " +
                            std::to_string(queue_.planned.cases.size()) + " cases";
    const std::size_t left = counts.todo + counts.running;
    if (interrupted && left != 0) {
      say(ran + "; interrupted: " + std::to_string(left) + " are not done");
      return kExitInterrupted;
    }
    say(ran + "; none is left; `outrider-lab collect --queue " + queue_.directory.string() +
        "` writes the results");
    for (const Ticket& ticket : tickets_.failed())
      say("outrider-lab: \"" + queue_.planned.names.at(ticket.index) + "\" failed:\n" +
          tickets_.history(ticket));
    return counts.failed == 0 ? kExitOk : kExitFailure;
  }

  const OpenQueue& queue_;
  CaseQueue tickets_;
  RunStore store_;
  std::string name_;
  std::vector<std::size_t> rank_;
  Every renewals_;
  Every looks_;
  ProgressLine line_;
  std::map<std::size_t, Ticket> held_{};  ///< of the cases that are being run
  std::size_t done_ = 0;
  std::string error_{};  ///< why results cannot be stored; empty: they can
};

}  // namespace

namespace {

/// Returns this process's CPUs in another order for each process, so that workers that share CPUs
/// do not all begin with the first.
std::vector<unsigned> shared_cpus(std::size_t count) {
  auto cpus = usable_cpus();
  std::ranges::shuffle(cpus, std::minstd_rand(static_cast<unsigned>(getpid())));
  cpus.resize(std::min(cpus.size(), count));
  return cpus;
}

}  // namespace

int worker_command(const LabOptions& options) {
  catch_stop_signals();  // first, so that cases are given back
  const auto queue = open_queue(options.queue);
  if (!queue) return kExitUsage;
  std::optional<CpuClaims> claims;
  if (!options.share_cpus) claims.emplace(options.cpus, usable_cpus());
  const auto cpus = claims ? claims->cpus() : shared_cpus(options.cpus);
  bind_to(cpus);
  const std::string name = new_worker_name();
  say("outrider-lab: worker " + name + " on " + cpus_text(cpus));
  return QueueWorker(*queue, name).run(options.cpus);
}

}  // namespace outrider::lab
