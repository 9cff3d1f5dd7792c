#include "common/runtime/poll_stop.h"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string_view>

namespace outrider {
namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set in a signal handler");

std::atomic<int> stop_signals{0};
static_assert(std::atomic<int>::is_always_lock_free);

/// The second signal mostly comes from impatience, while results are being written: it says so, and
/// the third ends the process.
void on_signal(int number) {
  stop.store(true, std::memory_order_relaxed);
  const int before = stop_signals.fetch_add(1, std::memory_order_relaxed);
  if (before == 0) return;
  if (before == 1) {
    constexpr std::string_view kText =
        "ending, results are being written; once more ends it without them\n";
    const int error = errno;
    [[maybe_unused]] const ssize_t n = write(STDERR_FILENO, kText.data(), kText.size());
    errno = error;
    return;
  }
  signal(number, SIG_DFL);
  raise(number);  // takes effect as the handler returns
}

std::atomic<bool> reload{false};

void on_hangup(int) { reload.store(true, std::memory_order_relaxed); }

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = 0;  // a wait that a signal interrupts ends
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  signal(SIGPIPE, SIG_IGN);
}

void catch_reload_signal() {
  struct sigaction action {};
  action.sa_handler = on_hangup;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(SIGHUP, &action, nullptr);
}

bool take_reload_request() noexcept { return reload.exchange(false, std::memory_order_relaxed); }

void request_stop() noexcept { stop.store(true, std::memory_order_relaxed); }

bool stop_requested() noexcept { return stop.load(std::memory_order_relaxed); }

}  // namespace outrider
