#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/lab/plan/testbed.h"
#include "tools/lab/run/run_process.h"

namespace outrider::lab {

/// A shell word that stands for `text` whatever is in it.
std::string shell_quoted(const std::string& text);

/// One of the two programs, where a testbed says that it runs: on this machine, or on
/// another through a shell there that ends it when our end of the connection goes.
class SiteProgram {
 public:
  /// A file that the configuration names, and by which name it is to find it there.
  struct File {
    std::filesystem::path here;
    std::string there;
  };

  /// @param stem  of its files: STEM.toml, STEM.json and STEM.log in `directory`, which is
  ///              on this machine
  SiteProgram(const ProgramSite& site, std::string remote_shell, std::string program,
              std::string stem, std::filesystem::path directory);

  /// What a configuration has to call a file of this machine.
  [[nodiscard]] std::string name_there(const std::filesystem::path& here);
  /// Takes the files and STEM.toml there and starts the program.
  /// @throws EnvironmentError if a program is missing, std::runtime_error if the other
  /// machine does not take them
  void start();
  [[nodiscard]] ChildProcess& process() { return *process_; }
  /// The report, after the program has ended. @throws std::runtime_error
  std::string report();

 private:
  [[nodiscard]] std::filesystem::path here(const char* extension) const;
  void start_here();
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
