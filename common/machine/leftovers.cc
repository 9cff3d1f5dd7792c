#include "common/machine/leftovers.h"

#include <unistd.h>

#include <algorithm>
#include <set>
#include <sstream>

namespace outrider {
namespace {

namespace fs = std::filesystem;

constexpr const char* kTemporary = "/tmp";

/// Returns the real path of a runtime directory: processes may name it through /var/run.
std::string canonical(std::string path) {
  constexpr std::string_view kOld = "/var/run/";
  if (path.starts_with(kOld)) path.replace(0, kOld.size(), "/run/");
  return path;
}

/// Records what living processes visibly use.
class Usage {
 public:
  explicit Usage(const MachineTree& tree) : tree_(tree) {
    std::istringstream lines(tree.text("/proc/net/unix"));
    for (std::string line; std::getline(lines, line);)
      if (const auto slash = line.find(" /"); slash != std::string::npos)
        sockets_.insert(canonical(line.substr(slash + 1)));
    for (const auto& name : tree.names("/proc"))
      if (to_number(name)) commands_ += tree.text("/proc/" + name + "/cmdline") + '\n';
  }

  bool listens(const std::string& path) const { return sockets_.contains(canonical(path)); }

  bool uses(const std::string& directory) const {
    const std::string prefix = canonical(directory) + "/";
    const auto socket = sockets_.lower_bound(prefix);
    return (socket != sockets_.end() && socket->starts_with(prefix)) || process_of(directory) ||
           commands_.find(directory) != std::string::npos;
  }

 private:
  /// Returns whether the process in the name lives: 1234 in "outrider-switch-1234".
  bool process_of(const std::string& path) const {
    const std::size_t digits = path.find_last_not_of("0123456789") + 1;
    return digits < path.size() && tree_.exists("/proc/" + path.substr(digits));
  }

  const MachineTree& tree_;
  std::set<std::string> sockets_;
  std::string commands_;
};

bool readable(const MachineTree& tree, const std::string& directory) {
  return ::access(tree.at(directory).c_str(), R_OK | X_OK) == 0;
}

bool is_directory(const MachineTree& tree, const std::string& path) {
  std::error_code ignored;
  return fs::is_directory(fs::symlink_status(tree.at(path), ignored));
}

/// Finds unused runtime directories of the EAL: one per process below `base`.
void find_runtimes(const MachineTree& tree, const Usage& usage, const std::string& base,
                   Leftovers& found) {
  for (const auto& name : tree.names(base)) {
    const std::string path = base + "/" + name;
    if (is_directory(tree, path) && readable(tree, path) && !usage.uses(path))
      found.directories.push_back(path);
  }
}

/// Returns whether a scratch directory of ours holds runtime directories of the EAL in use.
bool runs_inside(const MachineTree& tree, const Usage& usage, const std::string& directory) {
  const std::string runtimes = directory + "/dpdk";
  for (const auto& name : tree.names(runtimes))
    if (usage.uses(runtimes + "/" + name)) return true;
  return usage.uses(directory);
}

void find_temporary(const MachineTree& tree, const Usage& usage, Leftovers& found) {
  std::error_code ignored;
  for (const auto& name : tree.names(kTemporary)) {
    if (!name.starts_with("outrider-")) continue;
    const std::string path = std::string(kTemporary) + "/" + name;
    if (fs::is_socket(fs::symlink_status(tree.at(path), ignored))) {
      if (!usage.listens(path)) found.sockets.push_back(path);
    } else if (is_directory(tree, path) && readable(tree, path) &&
               !runs_inside(tree, usage, path)) {
      found.directories.push_back(path);
    }
  }
}

/// Finds sockets in a directory that holds nothing else of ours.
void find_sockets(const MachineTree& tree, const Usage& usage, const std::string& directory,
                  Leftovers& found) {
  if (!is_directory(tree, directory)) return;
  std::error_code ignored;
  for (const auto& name : tree.names(directory)) {
    const std::string path = directory + "/" + name;
    if (fs::is_socket(fs::symlink_status(tree.at(path), ignored)) && !usage.listens(path))
      found.sockets.push_back(path);
  }
}

/// Returns text such as "2 (A, B)" or "12 (A, B and more)".
std::string examples(const std::vector<std::string>& paths) {
  constexpr std::size_t kShown = 2;
  const auto shown = std::min(paths.size(), kShown);
  return std::to_string(paths.size()) + " (" +
         joined({paths.begin(), paths.begin() + static_cast<std::ptrdiff_t>(shown)}) +
         (paths.size() > shown ? " and more)" : ")");
}

}  // namespace

Leftovers find_leftovers(const Machine& machine) {
  const MachineTree tree(machine.root);
  const Usage usage(tree);
  Leftovers found;
  // The EAL's choices: root's directory, the user's, or the last resort.
  std::vector<std::string> bases{"/var/run/dpdk", "/tmp/dpdk"};
  if (!machine.runtime_directory.empty()) bases.push_back(machine.runtime_directory + "/dpdk");
  for (const auto& base : bases) find_runtimes(tree, usage, base, found);
  find_temporary(tree, usage, found);
  // See socket_directory(). What is in /tmp was found before.
  find_sockets(tree, usage, "/run/outrider", found);
  if (!machine.runtime_directory.empty())
    find_sockets(tree, usage, machine.runtime_directory + "/outrider", found);
  return found;
}

Findings check_leftovers(const MachineTree&, const Machine& machine) {
  const Leftovers left = find_leftovers(machine);
  constexpr const char* kRemedy = "outrider-doctor --leftovers | xargs -r -d '\\n' rm -r --";
  Findings found;
  if (left.directories.empty())
    found.push_back({"leftovers.directories", Severity::kOk, "no directory that nobody uses"});
  else
    found.push_back({"leftovers.directories", Severity::kNote,
                     "directories that no process is seen to use: " + examples(left.directories),
                     "none: a new process has a directory of its own; they take space", kRemedy});
  if (left.sockets.empty())
    found.push_back({"leftovers.sockets", Severity::kOk, "no socket that nobody listens on"});
  else
    found.push_back({"leftovers.sockets", Severity::kNote,
                     "sockets that nobody listens on: " + examples(left.sockets),
                     "the programs of this project remove them; another program that binds the "
                     "path fails with `Address already in use`",
                     kRemedy});
  return found;
}

}  // namespace outrider
