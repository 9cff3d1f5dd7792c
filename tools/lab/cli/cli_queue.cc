#include "tools/lab/cli/cli_queue.h"

#include <stdexcept>
#include <utility>

#include "common/telemetry/exit_status.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/queue/case_queue.h"
#include "tools/lab/queue/queue_files.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDone = "done";

/// Makes the directory of a queue. @return its absolute path; nothing, after printing a message, if
/// it has something in it
std::optional<fs::path> new_directory(const std::string& name) {
  std::error_code error;
  fs::create_directories(name, error);
  const bool empty = !error && fs::is_empty(name, error);
  if (error) {
    say("outrider-lab: --queue " + name + ": " + error.message() + "; name another directory");
    return std::nullopt;
  }
  if (empty) return fs::canonical(name);
  say("outrider-lab: --queue " + name +
      (fs::exists(fs::path(name) / "queue.json")
           ? " has a queue already; start workers with `outrider-lab worker --queue " + name +
                 "`, or name another directory"
           : std::string(" is not empty; name a new directory")));
  return std::nullopt;
}

/// Returns the path of a file relative to where this process works.
fs::path relative_path(const std::string& file) {
  const fs::path path = file;
  return path.is_absolute() ? path.lexically_relative(fs::current_path()) : path.lexically_normal();
}

void say_made(const LabOptions& options, const Planned& planned) {
  say("outrider-lab: " + options.queue + " has " + std::to_string(planned.cases.size()) +
      " cases; `outrider-lab worker --queue " + options.queue + "` runs them");
}

}  // namespace

int queue_command(const LabOptions& options) {
  LabOptions here = options;
  here.file = relative_path(options.file);
  const auto planned = load(here);
  if (!planned) return kExitUsage;
  const auto files = files_of(here.file, planned->cases);
  const auto directory = new_directory(options.queue);
  if (!directory) return kExitUsage;
  const QueueManifest manifest{.program = program_identity(),
                               .given = options.file,
                               .root = copy_files(files, *directory),
                               .file = here.file,
                               .plan = plan_options(options),
                               .cases = planned->cases.size(),
                               .fingerprint = plan_fingerprint(planned->cases),
                               .rules = {.lease = from_seconds(options.lease_seconds)}};
  fs::create_directory(*directory / kDone);
  CaseQueue::make(*directory, planned->names);
  fs::current_path(*directory / manifest.root);
  const auto copied = plan_cases(manifest.file, manifest.plan);
  if (!copied || plan_fingerprint(copied->cases) != manifest.fingerprint) {
    say("outrider-lab: --queue " + options.queue + ": the copy of " + options.file +
        " has other cases: it names a file that was not copied, or one was changed meanwhile");
    return kExitFailure;
  }
  write_manifest(*directory, manifest);
  say_made(options, *planned);
  return kExitOk;
}

std::optional<OpenQueue> open_queue(const std::string& name) {
  const auto refuse = [&name](const std::string& why) {
    say("outrider-lab: --queue " + name + ": " + why);
    return std::nullopt;
  };
  OpenQueue queue;
  try {
    queue.manifest = read_manifest(name);
    queue.directory = fs::canonical(name);
  } catch (const std::runtime_error& error) {
    say(std::string("outrider-lab: ") + error.what());
    return std::nullopt;
  }
  if (queue.manifest.program != program_identity())
    return refuse(
        "was made by another build of outrider-lab, whose results may differ; use the "
        "same program everywhere, or make the queue again with this one");
  std::error_code error;
  fs::current_path(queue.directory / queue.manifest.root, error);
  if (error)
    return refuse((queue.directory / queue.manifest.root).string() + ": " + error.message());
  auto planned = plan_cases(queue.manifest.file, queue.manifest.plan);
  if (!planned) return std::nullopt;
  queue.planned = std::move(*planned);
  if (queue.planned.cases.size() != queue.manifest.cases ||
      plan_fingerprint(queue.planned.cases) != queue.manifest.fingerprint)
    return refuse("its files were changed since it was made; make it again in another directory");
  const CaseQueue tickets(queue.directory, {}, queue.manifest.rules);
  if (const auto foreign = tickets.foreign(queue.manifest.cases))
    return refuse(foreign->string() + " is no file of this queue; move it away");
  return queue;
}

RunStore store_of(const OpenQueue& queue, const std::string& worker) {
  return {queue.directory, queue.manifest.program, {.folder = kDone, .writer = worker}};
}

}  // namespace outrider::lab
