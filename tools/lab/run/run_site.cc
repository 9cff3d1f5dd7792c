#include "tools/lab/run/run_site.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "common/dpdk/eal/error.h"

namespace outrider::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kCopyPatience{60};

/// Returns a shell command that runs `command` and kills it when the shell's standard input ends,
/// which happens whenever the connection ends. The shell gives background processes no standard
/// input, so the command that watches for the end reads descriptor 3.
std::string until_input_ends(const std::string& command) {
  return "exec 3<&0; " + command +
         " </dev/null & p=$!; (read x <&3; kill $p) >/dev/null 2>&1 & w=$!; "
         "wait $p; s=$?; kill $w 2>/dev/null; exit $s";
}

}  // namespace

std::string shell_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += "'\\''";
    else out += c;
  }
  return out + "'";
}

SiteProgram::SiteProgram(const ProgramSite& site, std::string remote_shell, std::string program,
                         std::string stem, fs::path directory)
    : site_(site),
      remote_shell_(std::move(remote_shell)),
      program_(std::move(program)),
      stem_(std::move(stem)),
      directory_(std::move(directory)) {}

fs::path SiteProgram::here(const char* extension) const { return directory_ / (stem_ + extension); }

std::string SiteProgram::name_there(const fs::path& file) {
  if (!site_.host) return fs::absolute(file).string();
  const auto known = std::ranges::find(files_, file, &File::here);
  if (known != files_.end()) return known->there;
  files_.push_back({file, std::to_string(files_.size()) + '-' + file.filename().string()});
  return files_.back().there;
}

void SiteProgram::start_here(const std::vector<std::string>& more, const std::string& command) {
  const fs::path program =
      site_.program.empty() ? own_directory() / program_ : fs::path(site_.program);
  if (access(program.c_str(), X_OK) != 0)
    throw EnvironmentError(program.string() + " is not there; " +
                           (site_.program.empty() ? "build it: it belongs beside outrider-lab."
                                                  : "mend the testbed's \"program\"."));
  std::vector<std::string> arguments{"--config",    here(".toml"), "--report",
                                     here(".json"), "--lcore",     std::to_string(site_.lcore)};
  if (!site_.eal.empty()) arguments.insert(arguments.end(), {"--eal", site_.eal});
  arguments.insert(arguments.end(), more.begin(), more.end());
  if (!command.empty()) arguments.insert(arguments.begin(), command);
  process_.emplace(ChildProcess::Start{
      .name = program_, .program = program, .arguments = arguments, .log = here(".log")});
}

/// Returns the process that runs `command` in the site's directory on its machine.
ChildProcess::Start SiteProgram::remote(const std::string& command) const {
  std::istringstream words(remote_shell_);
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) arguments.push_back(word);
  const std::string shell = arguments.front();
  arguments.erase(arguments.begin());
  const std::string directory = shell_quoted(site_.directory);
  arguments.push_back(*site_.host);
  arguments.push_back("mkdir -p " + directory + " && cd " + directory + " && { " + command + "; }");
  return {.name = program_ + " on " + *site_.host,
          .program = shell,
          .arguments = arguments,
          .log = here(".log")};
}

void SiteProgram::do_there(const std::string& what, const ChildProcess::Start& start) const {
  ChildProcess process(start);
  const int status = process.wait(kCopyPatience).value_or(128);
  if (status == 0) return;
  throw std::runtime_error(remote_shell_ + ' ' + *site_.host + ": cannot " + what + ", status " +
                           std::to_string(status) + ':' + process.last_words());
}

void SiteProgram::start(const std::vector<std::string>& more, const std::string& command) {
  if (!site_.host) return start_here(more, command);
  files_.push_back({here(".toml"), stem_ + ".toml"});
  for (const auto& file : files_) {
    auto copy = remote("umask 077; cat > " + shell_quoted(file.there));  // some hold secrets
    copy.input = file.here;
    do_there("write " + file.there, copy);
  }
  const std::string program = site_.program.empty() ? program_ : site_.program;
  std::string line = shell_quoted(program) + (command.empty() ? "" : ' ' + command) + " --config " +
                     shell_quoted(stem_ + ".toml") + " --report " + shell_quoted(stem_ + ".json") +
                     " --lcore " + std::to_string(site_.lcore);
  if (!site_.eal.empty()) line += " --eal " + shell_quoted(site_.eal);
  for (const auto& argument : more) line += ' ' + shell_quoted(argument);
  auto started = remote("rm -f " + shell_quoted(stem_ + ".json") + "; " + until_input_ends(line));
  started.ends_by = EndsBy::kEndOfInput;
  process_.emplace(started);
}

std::string SiteProgram::report() {
  if (site_.host) {
    auto fetch = remote("cat " + shell_quoted(stem_ + ".json"));
    fetch.output = here(".json");
    fetch.log = here("-fetch.log");
    do_there("read " + stem_ + ".json", fetch);
  }
  std::ifstream file(here(".json"), std::ios::binary);
  if (!file) throw std::runtime_error(here(".json").string() + " is missing");
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace outrider::lab
