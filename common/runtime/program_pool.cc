#include "common/runtime/program_pool.h"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "common/runtime/poll_stop.h"
#include "common/telemetry/exit_status.h"
#include "common/telemetry/log.h"

namespace outrider {
namespace {

/// Ends the process at a stop signal that comes while this exists.
class EndsAtStop {
 public:
  explicit EndsAtStop(const Eal& eal) : thread_([this, &eal] { watch(eal); }) {}
  ~EndsAtStop() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    wake_.notify_one();
    thread_.join();
  }
  EndsAtStop(const EndsAtStop&) = delete;
  EndsAtStop& operator=(const EndsAtStop&) = delete;

 private:
  void watch(const Eal& eal) {
    constexpr auto kStep = std::chrono::milliseconds(20);
    std::unique_lock lock(mutex_);
    while (!wake_.wait_for(lock, kStep, [this] { return over_; })) {
      if (!stop_requested()) continue;
      log_info("interrupted while packet buffers were made.");
      eal.remove_runtime();
      _exit(kExitInterrupted);
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool over_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace

Mempool make_program_pool(const Eal& eal, const PacketPoolConfig& config) {
  const EndsAtStop guard(eal);
  return make_packet_pool(config);
}

}  // namespace outrider
