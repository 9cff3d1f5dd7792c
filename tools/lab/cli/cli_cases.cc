#include "tools/lab/cli/cli_cases.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "common/telemetry/exit_status.h"
#include "tools/lab/cli/progress.h"

namespace outrider::lab {
void say(const std::string& text) { std::fputs((text + '\n').c_str(), stderr); }

bool prepare(const std::filesystem::path& directory) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (!error && access(directory.c_str(), W_OK | X_OK) == 0) return true;
  say("outrider-lab: --out " + directory.string() + ": " +
      (error ? error.message() : std::string("no permission to write")) +
      "; name another directory");
  return false;
}

RunOutcome run_session(const CaseSession& s, const std::vector<std::size_t>& wanted) {
  std::vector<CaseRun> kept;
  ProgressLine line("outrider-lab: " + s.name);
  std::vector<std::string> not_kept;
  const auto keep = [&](std::size_t i, const std::string& text) {
    try {
      s.store.save(s.cases[i], s.runtime, text);
    } catch (const std::runtime_error& error) {
      not_kept.push_back("\"" + s.names[i] + "\": " + error.what());
    }
  };
  RunOrder order{
      .cases = s.cases,
      .names = s.names,
      .wanted = {},
      .progress = [&line](std::size_t done, std::size_t total) { line.show(done, total); },
      .on_run = keep};
  for (const std::size_t i : wanted) {
    const auto text = s.store.load(s.cases[i], s.runtime);
    if (text) kept.push_back(deserialize(s.cases[i], *text));
    else order.wanted.push_back(i);
  }
  if (!kept.empty())
    say("outrider-lab: " + std::to_string(kept.size()) + " of " + std::to_string(wanted.size()) +
        " cases are there already (--fresh runs all)");
  RunOutcome outcome;
  if (!order.wanted.empty()) outcome = s.run(order);
  outcome.not_kept = std::move(not_kept);
  std::ranges::move(kept, std::back_inserter(outcome.runs));
  std::ranges::sort(outcome.runs, {}, &CaseRun::definition);
  return outcome;
}

bool balanced(const RunOutcome& outcome, const std::vector<std::string>& names,
              const std::vector<Case>& cases) {
  bool all = true;
  for (const auto& run : outcome.runs) {
    for (const RunResult* r : {&run.result, run.alone ? &*run.alone : nullptr}) {
      if (r == nullptr) continue;
      if (r->switches.ledger_balanced && r->traffic.ledger_balanced && r->mbufs_leaked == 0)
        continue;
      all = false;
      say("outrider-lab: packets are not accounted for in \"" +
          names[static_cast<std::size_t>(run.definition - cases.data())] + "\"" +
          (r == &run.result ? "" : " without background") + " (switch " +
          (r->switches.ledger_balanced ? "ok" : "not balanced") + ", generator " +
          (r->traffic.ledger_balanced ? "ok" : "not balanced") + ", buffers leaked " +
          std::to_string(r->mbufs_leaked) + ")");
    }
  }
  return all;
}

int status_of(const RunOutcome& outcome, bool ledger) {
  if (outcome.interrupted) return kExitInterrupted;
  if (!ledger) return kExitLedger;
  return outcome.failures.empty() && outcome.not_kept.empty() ? kExitOk : kExitFailure;
}

void tell_failures(const RunOutcome& outcome) {
  for (const auto& failure : outcome.failures)
    say("outrider-lab: \"" + failure.name + "\": " + failure.cause);
  if (outcome.not_kept.empty()) return;
  say("outrider-lab: " + std::to_string(outcome.not_kept.size()) +
      " finished runs could not be kept for a later session; the first: " +
      outcome.not_kept.front());
}

}  // namespace outrider::lab
