#include "common/runtime/poll_stop.h"

#include <signal.h>

#include <atomic>

namespace outrider {
namespace {

std::atomic<bool> stop{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set in a signal handler");

void on_signal(int) { stop.store(true, std::memory_order_relaxed); }

std::atomic<bool> reload{false};

void on_hangup(int) { reload.store(true, std::memory_order_relaxed); }

}  // namespace

void catch_stop_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // a second signal has its default effect
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
