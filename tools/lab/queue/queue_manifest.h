#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "tools/lab/plan/plan.h"
#include "tools/lab/queue/lease.h"

namespace outrider::lab {

/// Names the program, the experiment and the cases of a queue: `queue.json` in its directory. It is
/// written last, so that a directory with it has everything that workers need.
struct QueueManifest {
  std::string program;         ///< program_identity() of the program that made the queue
  std::string given;           ///< the experiment's file as it was named
  std::filesystem::path root;  ///< where its files are, below the queue's directory
  std::filesystem::path file;  ///< the experiment's file, below `root`
  PlanOptions plan;
  std::size_t cases = 0;
  std::string fingerprint;  ///< plan_fingerprint() of the cases
  LeaseRules rules;
};

/// @throws std::runtime_error naming the file and the cause
void write_manifest(const std::filesystem::path& directory, const QueueManifest& manifest);
/// @throws std::runtime_error naming the directory, the cause and a remedy
QueueManifest read_manifest(const std::filesystem::path& directory);

/// Returns a hash of all that makes the runs of these cases, including the files that they name.
std::string plan_fingerprint(const std::vector<Case>& cases);

}  // namespace outrider::lab
