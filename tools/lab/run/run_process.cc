#include "tools/lab/run/run_process.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <thread>
#include <utility>

#include "common/dpdk/eal/error.h"
#include "tools/lab/run/last_words.h"

namespace outrider::lab {
namespace {

constexpr std::chrono::milliseconds kExitPoll{20};

void redirect(int descriptor, const std::filesystem::path& file, int flags) {
  const int opened = open(file.c_str(), flags | O_CLOEXEC, 0644);
  if (opened >= 0) dup2(opened, descriptor);
}

/// Turns the child process into the program. @param input its standard input; -1: none
[[noreturn]] void become(const ChildProcess::Start& start, int input) {
  constexpr int kWrite = O_WRONLY | O_CREAT | O_TRUNC;
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  redirect(STDERR_FILENO, start.log, kWrite);
  if (start.output) redirect(STDOUT_FILENO, *start.output, kWrite);
  else dup2(STDERR_FILENO, STDOUT_FILENO);
  if (input >= 0) dup2(input, STDIN_FILENO);
  else redirect(STDIN_FILENO, start.input.value_or("/dev/null"), O_RDONLY);
  std::vector<char*> argv{const_cast<char*>(start.program.c_str())};
  for (const auto& argument : start.arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  execvp(start.program.c_str(), argv.data());
  std::perror(start.program.c_str());
  _exit(127);
}

}  // namespace

ChildProcess::ChildProcess(const Start& start)
    : name_(start.name), log_(start.log), ends_by_(start.ends_by) {
  std::array<int, 2> pipe_ends{-1, -1};
  if (ends_by_ == EndsBy::kEndOfInput && pipe2(pipe_ends.data(), O_CLOEXEC) != 0)
    throw DpdkError("pipe2", name_, errno);
  input_ = pipe_ends[1];
  std::fflush(nullptr);
  pid_ = fork();
  if (pid_ == 0) become(start, pipe_ends[0]);
  if (pipe_ends[0] >= 0) close(pipe_ends[0]);
  if (pid_ >= 0) return;
  const int cause = errno;
  if (input_ >= 0) close(input_);
  throw DpdkError("fork", name_, cause);
}

ChildProcess::~ChildProcess() {
  if (input_ >= 0) close(input_);
  if (status_ || pid_ < 0) return;
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
  if (status()) return;
  if (ends_by_ == EndsBy::kSigterm) kill(pid_, SIGTERM);
  else if (input_ >= 0) close(std::exchange(input_, -1));
}

std::optional<int> ChildProcess::wait(std::chrono::milliseconds patience) {
  for (auto waited = std::chrono::milliseconds{0}; !status() && waited < patience;
       waited += kExitPoll)
    std::this_thread::sleep_for(kExitPoll);
  return status();
}

int ChildProcess::finish(std::chrono::milliseconds patience) {
  terminate();
  if (!wait(patience)) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    status_ = 128 + SIGKILL;
  }
  return *status_;
}

bool ChildProcess::has_said(std::string_view words) const {
  std::ifstream file(log_);
  for (std::string line; std::getline(file, line);)
    if (line.find(words) != std::string::npos) return true;
  return false;
}

std::string ChildProcess::last_words() const {
  std::ifstream file(log_);
  const std::string text = lab::last_words(file);
  return text.empty() ? "\n    (nothing; see " + log_.string() + ")" : text;
}

std::filesystem::path own_directory() {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path();
}

}  // namespace outrider::lab
