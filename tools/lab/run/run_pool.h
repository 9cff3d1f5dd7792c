#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace outrider::lab {

/// Does one item in a worker process. @return what the parent shall receive;
/// nothing may be said by other means. @throws std::exception: the item failed
/// @param stop asked now and then; true: give up the item and return anything
using PoolWork = std::function<std::string(std::size_t item, const std::function<bool()>& stop)>;

struct PoolOptions {
  std::size_t jobs = 1;            ///< worker processes, >= 1
  std::vector<std::size_t> order;  ///< items, in the order in which they are begun
  /// Called once in each worker process, after the fork: its work. What it
  /// captures lives as long as the process. @throws EnvironmentError
  std::function<PoolWork(std::size_t worker)> make_worker;
  /// Called in the parent, as results arrive.
  std::function<void(std::size_t item, std::string result)> on_result;
  /// Called in the parent after each result and about once a second.
  std::function<void(std::size_t done, std::size_t total)> on_progress;
};

struct PoolFailure {
  std::size_t item = 0;
  std::string cause;  ///< "killed by signal 11 (Segmentation fault)"
};

struct PoolResult {
  bool interrupted = false;           ///< a stop signal came before everything was done
  std::vector<PoolFailure> failures;  ///< items that ended without a result, by item
};

/// Processes and not threads, because DPDK allows one EAL a process, and because
/// a crash then costs one item and not the experiment. Workers take items by an
/// atomic index in shared memory; a worker that died is replaced.
///
/// SIGINT or SIGTERM of the parent (see catch_stop_signals()) lets workers stop
/// at their next check; results that are complete still arrive.
///
/// @pre the EAL does not run in this process
/// @throws EnvironmentError if a worker process cannot be made, or cannot begin
PoolResult run_pool(const PoolOptions& options);

/// CPUs that this process may use, in order.
std::vector<unsigned> usable_cpus();

}  // namespace outrider::lab
