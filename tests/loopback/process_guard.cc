#include "tests/loopback/process_guard.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <thread>
#include <utility>

namespace outrider {
namespace {

constexpr std::chrono::milliseconds kStep{10};

/// Asks until `holds` or the time is over: other processes have no event to wait for.
template <class Holds>
bool eventually(std::chrono::milliseconds timeout, Holds holds) {
  for (std::chrono::milliseconds waited{}; !holds(); waited += kStep) {
    if (waited >= timeout) return false;
    std::this_thread::sleep_for(kStep);
  }
  return true;
}

}  // namespace

ScratchDirectory::ScratchDirectory() {
  path_ = std::filesystem::temp_directory_path() / "outrider-loopback-XXXXXX";
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("mkdtemp " + path_);
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ScratchDirectory::write(const std::string& name, const std::string& text) const {
  std::ofstream(*this / name) << text;
  return *this / name;
}

std::string read_whole(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

ProcessGuard::ProcessGuard(const std::vector<std::string>& arguments, std::string log)
    : log_(std::move(log)) {
  std::vector<char*> argv;
  argv.reserve(arguments.size() + 1);
  for (const auto& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ > 0) return;
  const int fd = open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  dup2(fd, STDOUT_FILENO);
  dup2(fd, STDERR_FILENO);
  execv(argv[0], argv.data());
  _exit(127);
}

ProcessGuard::~ProcessGuard() { kill_now(); }

void ProcessGuard::send(int signal) const {
  if (!status_) kill(pid_, signal);
}

void ProcessGuard::kill_now() {
  if (!running()) return;
  kill(pid_, SIGKILL);
  int status = 0;
  waitpid(pid_, &status, 0);
  status_ = 128 + SIGKILL;
}

bool ProcessGuard::running() {
  int status = 0;
  if (status_ || waitpid(pid_, &status, WNOHANG) != pid_) return !status_;
  status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return false;
}

std::optional<int> ProcessGuard::wait(std::chrono::milliseconds timeout) {
  eventually(timeout, [this] { return !running(); });
  return status_;
}

bool ProcessGuard::says(const std::string& text, std::chrono::milliseconds timeout) {
  return eventually(timeout, [&] { return output().find(text) != std::string::npos; });
}

bool ProcessGuard::says(const std::regex& pattern, std::chrono::milliseconds timeout) {
  return eventually(timeout, [&] { return std::regex_search(output(), pattern); });
}

}  // namespace outrider
