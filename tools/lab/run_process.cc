#include "tools/lab/run_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <deque>
#include <fstream>
#include <thread>

#include "common/dpdk/error.h"

namespace outrider {
namespace {

constexpr std::chrono::milliseconds kPoll{20};

[[noreturn]] void become(const std::filesystem::path& program,
                         const std::vector<std::string>& arguments,
                         const std::filesystem::path& log) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  const int out = open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
  if (out >= 0) {
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
  }
  std::vector<char*> argv{const_cast<char*>(program.c_str())};
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execv(program.c_str(), argv.data());
  std::perror(program.c_str());
  _exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const std::filesystem::path& program,
                           const std::vector<std::string>& arguments,
                           const std::filesystem::path& log)
    : name_(program.filename().string()), log_(log) {
  if (access(program.c_str(), X_OK) != 0)
    throw EnvironmentError(program.string() +
                           " is not there; build it: it belongs beside outrider-lab.");
  std::fflush(nullptr);
  pid_ = fork();
  if (pid_ < 0) throw DpdkError("fork", name_, errno);
  if (pid_ == 0) become(program, arguments, log);
}

ChildProcess::~ChildProcess() {
  if (status_) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

std::optional<int> ChildProcess::status() {
  int raw = 0;
  if (!status_ && waitpid(pid_, &raw, WNOHANG) == pid_)
    status_ = WIFSIGNALED(raw) ? 128 + WTERMSIG(raw) : WEXITSTATUS(raw);
  return status_;
}

void ChildProcess::terminate() {
  if (!status()) kill(pid_, SIGTERM);
}

int ChildProcess::finish(std::chrono::milliseconds patience) {
  terminate();
  for (auto waited = std::chrono::milliseconds{0}; !status() && waited < patience; waited += kPoll)
    std::this_thread::sleep_for(kPoll);
  if (!status()) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    status_ = 128 + SIGKILL;
  }
  return *status_;
}

std::string ChildProcess::last_words() const {
  constexpr std::size_t kLines = 5;
  std::ifstream file(log_);
  std::deque<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
    if (lines.size() > kLines) lines.pop_front();
  }
  std::string text;
  for (const auto& line : lines) text += "\n    " + line;
  return text.empty() ? "\n    (nothing; see " + log_.string() + ")" : text;
}

std::filesystem::path own_directory() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

}  // namespace outrider
