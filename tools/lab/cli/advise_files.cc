#include "tools/lab/cli/advise_files.h"

#include <cstdio>
#include <stdexcept>

#include "common/config/config_file.h"
#include "common/config/shipped_file.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/whole_file.h"
#include "tools/lab/advise/cluster_file.h"
#include "tools/lab/cli/cli_cases.h"
#include "tools/lab/run/run_process.h"

namespace outrider::lab {

namespace fs = std::filesystem;

fs::path conf_of_program() {
  if (auto conf = conf_directory()) return *conf;
  throw std::runtime_error("no folder conf with remedies.toml is above " +
                           own_directory().string());
}

bool is_free(const fs::path& directory, const Cluster& cluster, bool force) {
  const fs::path kept = directory / "cluster.toml";
  if (force || !fs::exists(kept)) return true;
  const auto earlier = load_config<Cluster>(kept);
  if (earlier && write_config(*earlier.config) == write_config(cluster)) return true;
  say("outrider-lab: " + directory.string() +
      " has the advice for another cluster.toml: give --out DIR, or --force to replace it");
  return false;
}

int write_new_cluster(const std::string& file) {
  if (file.empty()) {
    std::fputs(new_cluster().c_str(), stdout);
    return kExitOk;
  }
  if (fs::exists(file)) {
    say("outrider-lab: " + file + " is there: give another name");
    return kExitUsage;
  }
  write_whole_file(file, new_cluster());
  say("outrider-lab: " + file + " is a cluster to put your own numbers in");
  return kExitOk;
}

}  // namespace outrider::lab
