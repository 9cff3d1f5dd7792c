#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/lab/plan/testbed.h"
#include "tools/lab/run/run_process.h"

namespace outrider::lab {

/// Returns `text` quoted as one shell word, whatever characters it contains.
std::string shell_quoted(const std::string& text);

/// One of the two programs at its site in a testbed: on this machine, or on another machine
/// through a shell there, which ends the program when our end of the connection closes.
class SiteProgram {
 public:
  /// A file that the configuration names: its path on this machine and its name at the site.
  struct File {
    std::filesystem::path here;
    std::string there;
  };

  /// @param stem  stem of the program's files: STEM.toml, STEM.json and STEM.log in
  ///              `directory`, which is on this machine
  SiteProgram(const ProgramSite& site, std::string remote_shell, std::string program,
              std::string stem, std::filesystem::path directory);

  /// Returns the name that a configuration has to use for a file of this machine, and keeps
  /// the file for start().
  [[nodiscard]] std::string name_there(const std::filesystem::path& here);
  /// Copies the files and STEM.toml to the site and starts the program.
  /// @throws EnvironmentError if a program is missing, std::runtime_error if the files cannot
  /// be copied to the other machine
  /// @param more     arguments of the program
  /// @param command  of the program, before all of them; empty: it has none
  void start(const std::vector<std::string>& more = {}, const std::string& command = {});
  [[nodiscard]] ChildProcess& process() { return *process_; }
  /// Returns the report after the program has ended. @throws std::runtime_error
  std::string report();

 private:
  [[nodiscard]] std::filesystem::path here(const char* extension) const;
  void start_here(const std::vector<std::string>& more, const std::string& command);
  [[nodiscard]] ChildProcess::Start remote(const std::string& command) const;
  void do_there(const std::string& what, const ChildProcess::Start& start) const;

  ProgramSite site_;
  std::string remote_shell_;
  std::string program_;
  std::string stem_;
  std::filesystem::path directory_;
  std::vector<File> files_;
  std::optional<ChildProcess> process_;
};

}  // namespace outrider::lab
