#include "tools/lab/run/run_pool.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <new>
#include <optional>

#include "common/dpdk/eal/error.h"
#include "common/runtime/poll_stop.h"
#include "tools/lab/run/forked_child.h"
#include "tools/lab/run/run_pool_message.h"

namespace outrider::lab {
namespace {

constexpr int kPoll_ms = 200;

/// The memory that all processes share.
struct Shared {
  std::atomic<std::uint64_t> next{0};  ///< position in PoolOptions::order
  std::atomic<bool> stop{false};
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

class SharedMemory {
 public:
  SharedMemory() {
    void* memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw DpdkError("mmap", "shared memory of the workers", errno);
    shared_ = new (memory) Shared;
  }
  ~SharedMemory() { munmap(shared_, sizeof(Shared)); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  Shared* operator->() const noexcept { return shared_; }

 private:
  Shared* shared_;
};

struct Worker {
  pid_t pid = -1;
  int pipe = -1;  ///< read end for the worker's messages; -1: closed
  MessageReader reader;
  std::optional<std::size_t> item;  ///< the item that has begun and not ended
};

/// The parent's state during one run_pool().
class Pool {
 public:
  explicit Pool(const PoolOptions& options) : options_(options) {}

  ~Pool() {
    for (auto& worker : workers_) {  // workers are left only after an exception
      if (worker.pid > 0) {
        kill(worker.pid, SIGKILL);
        waitpid(worker.pid, nullptr, 0);
      }
      if (worker.pipe >= 0) close(worker.pipe);
    }
  }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  PoolResult run() {
    const std::size_t jobs = std::min(options_.jobs, options_.order.size());
    for (std::size_t w = 0; w < jobs; ++w) workers_.emplace_back();
    for (std::size_t w = 0; w < jobs; ++w) start(w);
    while (std::ranges::any_of(workers_, [](const Worker& w) { return w.pipe >= 0; })) {
      if (stop_requested()) shared_->stop.store(true);
      wait_for_messages();
      if (options_.on_progress) options_.on_progress(done_, options_.order.size());
    }
    result_.interrupted = shared_->stop.load();
    std::ranges::sort(result_.failures, {}, &PoolFailure::item);
    return std::move(result_);
  }

 private:
  void start(std::size_t index) {
    const ForkedChild child = fork_child("worker", [this, index](int out) {
      for (const auto& other : workers_)
        if (other.pipe >= 0) close(other.pipe);
      return be_worker(index, out);
    });
    workers_[index] = Worker{.pid = child.pid, .pipe = child.pipe, .reader = {}, .item = {}};
  }

  /// Does a worker's work. @return status of its process
  int be_worker(std::size_t index, int out) {
    try {
      work_off(options_.make_worker(index), out);
      return 0;
    } catch (const std::exception& error) {
      send_message(out, MessageKind::kCannotBegin, 0, error.what());
      return 1;
    }
  }

  void work_off(const PoolWork& work, int out) {
    const auto stop = [this] { return shared_->stop.load(std::memory_order_relaxed); };
    while (!stop()) {
      const std::uint64_t position = shared_->next.fetch_add(1);
      if (position >= options_.order.size()) return;
      const std::size_t item = options_.order[position];
      send_message(out, MessageKind::kBegun, item, {});
      try {
        const std::string text = work(item, stop);
        send_message(out, stop() ? MessageKind::kStopped : MessageKind::kResult, item, text);
      } catch (const std::exception& error) {
        send_message(out, MessageKind::kFailed, item, error.what());
      }
    }
  }

  void wait_for_messages() {
    std::vector<pollfd> waiting;
    std::vector<std::size_t> whose;
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      if (workers_[w].pipe < 0) continue;
      waiting.push_back({workers_[w].pipe, POLLIN, 0});
      whose.push_back(w);
    }
    if (poll(waiting.data(), waiting.size(), kPoll_ms) <= 0) return;  // time-out or a signal
    for (std::size_t i = 0; i < waiting.size(); ++i)
      if (waiting[i].revents != 0) receive(whose[i]);
  }

  void receive(std::size_t index) {
    Worker& worker = workers_[index];
    const bool open = worker.reader.read_some(worker.pipe);
    while (auto message = worker.reader.next()) handle(worker, std::move(*message));
    if (!open) reap(index);
  }

  void handle(Worker& worker, Message message) {
    switch (message.kind) {
      case MessageKind::kBegun:
        worker.item = message.item;
        return;
      case MessageKind::kCannotBegin:
        throw EnvironmentError("a worker cannot begin: " + message.text);
      case MessageKind::kFailed:
        result_.failures.push_back({.item = message.item, .cause = message.text});
        break;
      case MessageKind::kStopped:
        break;
      case MessageKind::kResult:
        options_.on_result(message.item, std::move(message.text));
        break;
    }
    worker.item.reset();
    ++done_;
  }

  void reap(std::size_t index) {
    Worker& worker = workers_[index];
    int status = 0;
    waitpid(worker.pid, &status, 0);
    close(worker.pipe);
    worker.pipe = -1;
    worker.pid = -1;
    if (!worker.item) {
      const bool done = WIFEXITED(status) && WEXITSTATUS(status) == 0;
      if (!done && !shared_->stop.load())
        throw EnvironmentError("a worker ended outside any case: " + describe_end(status));
      return;
    }
    result_.failures.push_back({.item = *worker.item, .cause = describe_end(status)});
    ++done_;
    const bool left = shared_->next.load() < options_.order.size();
    if (left && !shared_->stop.load()) start(index);
  }

  static std::string describe_end(int status) {
    if (WIFSIGNALED(status))
      return "its process was killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
             strsignal(WTERMSIG(status)) + ')';
    return "its process ended with status " + std::to_string(WEXITSTATUS(status));
  }

  const PoolOptions& options_;
  SharedMemory shared_;
  std::vector<Worker> workers_;
  PoolResult result_;
  std::size_t done_ = 0;
};

}  // namespace

PoolResult run_pool(const PoolOptions& options) { return Pool(options).run(); }

}  // namespace outrider::lab
