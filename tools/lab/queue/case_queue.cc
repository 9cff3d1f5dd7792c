#include "tools/lab/queue/case_queue.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <stdexcept>
#include <utility>

#include "common/core/clock.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTodo = "todo";
constexpr const char* kRunning = "running";
constexpr const char* kFailed = "failed";
constexpr const char* kWorkers = "workers";

[[noreturn]] void fail_at(const fs::path& path, const char* action, int error) {
  throw std::runtime_error(path.string() + ": cannot be " + action + ": " + std::strerror(error) +
                           " (errno " + std::to_string(error) + ")");
}

/// A file that is open as long as it lives. To open a file makes NFS ask its server for the file's
/// time, which a machine otherwise remembers for up to a minute.
class OpenFile {
 public:
  OpenFile(const fs::path& path, int flags) : fd_(open(path.c_str(), flags | O_CLOEXEC, 0666)) {}
  ~OpenFile() {
    if (fd_ >= 0) close(fd_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[nodiscard]] bool is_open() const noexcept { return fd_ >= 0; }
  /// Sets the file's time to that of its file system. @return whether it could
  [[nodiscard]] bool touch() const noexcept { return futimens(fd_, nullptr) == 0; }
  /// Returns the file's time [ns].
  [[nodiscard]] std::int64_t stamp() const noexcept {
    struct stat s {};
    fstat(fd_, &s);
    return s.st_mtim.tv_sec * std::int64_t{kNsPerSecond} + s.st_mtim.tv_nsec;
  }
  /// Makes what was written survive a loss of power.
  void sync() const noexcept { fsync(fd_); }
  /// Appends one line in one write. @return whether it could
  bool append(const std::string& line) const noexcept {
    const std::string text = line + '\n';
    return ::write(fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  }

 private:
  int fd_;
};

/// Returns the tickets in a folder. Files with a dot before their name belong to the file system.
std::vector<Ticket> tickets_in(const fs::path& folder) {
  std::vector<Ticket> tickets;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error))
    if (auto ticket = ticket_from(at->path().filename().string()))
      tickets.push_back(std::move(*ticket));
  if (error) fail_at(folder, "read", error.value());
  return tickets;
}

/// Moves a file. @return false if it is not there: another worker was faster
bool moved(const fs::path& from, const fs::path& to) {
  if (std::rename(from.c_str(), to.c_str()) == 0) return true;
  const int error = errno;
  if (error == ENOENT) return false;
  fail_at(from, ("moved to " + to.string()).c_str(), error);
}

Ticket unheld(const Ticket& ticket) { return {.index = ticket.index, .taken = ticket.taken}; }

const char* folder_of(TicketVerdict verdict) {
  return verdict == TicketVerdict::kFailed ? kFailed : kTodo;
}

}  // namespace

CaseQueue::CaseQueue(fs::path directory, std::string worker, const LeaseRules& rules)
    : directory_(std::move(directory)),
      worker_(std::move(worker)),
      rules_(rules),
      watch_(rules.lease) {}

void CaseQueue::make(const fs::path& directory, const std::vector<std::string>& names) {
  for (const char* folder : {kTodo, kRunning, kFailed, kWorkers}) {
    std::error_code error;
    fs::create_directories(directory / folder, error);
    if (error) fail_at(directory / folder, "made", error.value());
  }
  const CaseQueue queue(directory, {}, {});
  for (std::size_t i = 0; i < names.size(); ++i) queue.add(i, names[i]);
  const OpenFile todo(directory / kTodo, O_RDONLY | O_DIRECTORY);
  if (todo.is_open()) todo.sync();
}

void CaseQueue::add(std::size_t index, const std::string& name) const {
  const fs::path path = directory_ / kTodo / file_name({.index = index});
  const OpenFile file(path, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.is_open() && errno == EEXIST) return;
  if (!file.is_open() || !file.append(name)) fail_at(path, "written", errno);
}

void CaseQueue::join(const std::string& text) const {
  const fs::path path = directory_ / kWorkers / worker_;
  const OpenFile file(path, O_WRONLY | O_CREAT | O_EXCL);
  if (!file.is_open() || !file.append(text)) fail_at(path, "written", errno);
}

void CaseQueue::note(const std::string& line) const {
  const OpenFile file(directory_ / kWorkers / worker_, O_WRONLY | O_APPEND);
  if (file.is_open()) file.append(line);  // for people: nothing depends on it
}

bool CaseQueue::move_to_running(const Ticket& waiting, const Ticket& taken) const {
  const fs::path to = directory_ / kRunning / file_name(taken);
  // An NFS server whose answer was lost is asked again, and then says that the file is not there.
  return moved(directory_ / kTodo / file_name(waiting), to) || fs::exists(to);
}

std::optional<Ticket> CaseQueue::take(const std::vector<std::size_t>& rank) {
  constexpr std::size_t kTries = 8;  // after which the last look into `todo` is too old
  if (auto taken = take_waiting(kTries)) return taken;
  auto tickets = tickets_in(directory_ / kTodo);
  std::erase_if(tickets, [&rank](const Ticket& t) { return t.index >= rank.size(); });
  std::ranges::sort(tickets, {}, [&rank](const Ticket& t) { return rank[t.index]; });
  waiting_.assign(tickets.begin(), tickets.end());
  return take_waiting(waiting_.size());
}

/// Takes the first of the waiting tickets that no other worker has taken since the look.
std::optional<Ticket> CaseQueue::take_waiting(std::size_t tries) {
  for (; tries > 0 && !waiting_.empty(); --tries) {
    const Ticket waiting = std::move(waiting_.front());
    waiting_.pop_front();
    Ticket taken{.index = waiting.index, .taken = waiting.taken + 1, .worker = worker_};
    if (move_to_running(waiting, taken)) return taken;
  }
  return std::nullopt;
}

std::vector<Ticket> CaseQueue::own_tickets() const {
  auto tickets = tickets_in(directory_ / kRunning);
  std::erase_if(tickets, [this](const Ticket& t) { return t.worker != worker_; });
  return tickets;
}

std::optional<Ticket> CaseQueue::own(std::size_t index) const {
  for (auto& ticket : own_tickets())
    if (ticket.index == index) return std::move(ticket);
  return std::nullopt;
}

bool CaseQueue::renew(const Ticket& ticket) const {
  const fs::path path = directory_ / kRunning / file_name(ticket);
  const OpenFile file(path, O_WRONLY);
  if (!file.is_open() && errno == ENOENT) return false;
  if (!file.is_open() || !file.touch()) fail_at(path, "touched", errno);
  return true;
}

void CaseQueue::finish(const Ticket& ticket) const {
  const fs::path path = directory_ / kRunning / file_name(ticket);
  if (unlink(path.c_str()) != 0 && errno != ENOENT) fail_at(path, "removed", errno);
}

void CaseQueue::fail(const Ticket& ticket, const std::string& cause, TicketVerdict verdict) const {
  const fs::path from = directory_ / kRunning / file_name(ticket);
  const OpenFile file(from, O_WRONLY | O_APPEND);
  if (!moved(from, directory_ / folder_of(verdict) / file_name(unheld(ticket)))) return;
  if (file.is_open()) file.append(cause);
}

void CaseQueue::give_back_all() const noexcept {
  try {
    for (const Ticket& ticket : own_tickets()) {
      const Ticket back{.index = ticket.index, .taken = ticket.taken - 1};
      moved(directory_ / kRunning / file_name(ticket), directory_ / kTodo / file_name(back));
    }
  } catch (const std::exception&) {
    return;  // their leases expire
  }
}

std::vector<Ticket> CaseQueue::expire(LeaseWatch::Clock::time_point now) {
  std::vector<HeldTicket> held;
  for (Ticket& ticket : tickets_in(directory_ / kRunning)) {
    const OpenFile file(directory_ / kRunning / file_name(ticket), O_RDONLY);
    if (file.is_open()) held.push_back({std::move(ticket), file.stamp()});  // else done meanwhile
  }
  auto silent = watch_.look(held, now);
  for (const Ticket& ticket : silent)
    fail(ticket, "the lease of " + ticket.worker + " has expired", verdict_of(ticket, rules_));
  return silent;
}

CaseQueue::Counts CaseQueue::counts() const {
  return {.todo = tickets_in(directory_ / kTodo).size(),
          .running = tickets_in(directory_ / kRunning).size(),
          .failed = tickets_in(directory_ / kFailed).size()};
}

std::vector<Ticket> CaseQueue::failed() const {
  auto tickets = tickets_in(directory_ / kFailed);
  std::ranges::sort(tickets, {}, &Ticket::index);
  return tickets;
}

std::set<std::size_t> CaseQueue::with_tickets() const {
  std::set<std::size_t> cases;
  for (const char* folder : {kTodo, kRunning, kFailed})
    for (const Ticket& ticket : tickets_in(directory_ / folder)) cases.insert(ticket.index);
  return cases;
}

std::string CaseQueue::history(const Ticket& failed) const {
  const fs::path path = directory_ / kFailed / file_name(failed);
  std::string text;
  std::array<char, 4096> part{};
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) fail_at(path, "read", errno);
  for (ssize_t n = 0; (n = read(fd, part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<std::size_t>(n));
  close(fd);
  const auto after_name = text.find('\n');
  text.erase(0, after_name == std::string::npos ? text.size() : after_name + 1);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::optional<fs::path> CaseQueue::foreign(std::size_t cases) const {
  for (const char* folder : {kTodo, kRunning, kFailed}) {
    std::error_code error;
    for (fs::directory_iterator at(directory_ / folder, error), end; !error && at != end;
         at.increment(error)) {
      const std::string name = at->path().filename().string();
      const auto ticket = ticket_from(name);
      const bool held = std::string_view(folder) == kRunning;
      if (name.starts_with('.')) continue;
      if (!ticket || ticket->index >= cases || ticket->worker.empty() == held) return at->path();
    }
    if (error) fail_at(directory_ / folder, "read", error.value());
  }
  return std::nullopt;
}

std::string new_worker_name() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) std::strcpy(host.data(), "unknown");
  std::string name;
  for (const char c : std::string_view(host.data()).substr(0, 64))
    name += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' ? c : '-';
  std::array<char, 16> number{};
  std::snprintf(number.data(), number.size(), "%08x", std::random_device{}());
  return name + '-' + std::to_string(getpid()) + '-' + number.data();
}

}  // namespace outrider::lab
