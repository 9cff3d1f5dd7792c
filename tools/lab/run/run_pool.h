#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace outrider::lab {

/// Does one item in a worker process. @return the text that the parent receives, the
/// only output allowed. @throws std::exception if the item failed
/// @param stop is called now and then; if true, give up the item and return anything
using PoolWork = std::function<std::string(std::size_t item, const std::function<bool()>& stop)>;

struct PoolFailure {
  std::size_t item = 0;
  std::string cause;  ///< "killed by signal 11 (Segmentation fault)"
};

struct PoolOptions {
  std::size_t jobs = 1;            ///< worker processes, >= 1
  std::vector<std::size_t> order;  ///< items in the order in which they are begun
  /// Is called once in each worker process, after the fork, and returns its work.
  /// Captured objects live as long as the process. @throws EnvironmentError
  std::function<PoolWork(std::size_t worker)> make_worker;
  /// Is called in the parent as results arrive.
  std::function<void(std::size_t item, std::string result)> on_result;
  /// Is called in the parent after each result and about once a second.
  std::function<void(std::size_t done, std::size_t total)> on_progress;
};

struct PoolResult {
  bool interrupted = false;           ///< a stop signal came before everything was done
  std::vector<PoolFailure> failures;  ///< items that ended without a result, sorted by item
};

/// Does all items on a pool of worker processes. It uses processes instead of threads
/// because DPDK allows one EAL per process, and because a crash then costs one item and
/// not the experiment. Workers take items by an atomic index in shared memory. A worker
/// that died is replaced.
///
/// If the parent gets SIGINT or SIGTERM (see catch_stop_signals()), workers stop at
/// their next check. Complete results still arrive.
///
/// @pre the EAL does not run in this process
/// @throws EnvironmentError if a worker process cannot be made, cannot begin, or ends outside a
/// case
PoolResult run_pool(const PoolOptions& options);

}  // namespace outrider::lab
