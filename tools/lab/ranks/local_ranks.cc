#include "tools/lab/ranks/local_ranks.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/dpdk/eal/error.h"
#include "tools/lab/ranks/shared_lanes.h"
#include "tools/lab/ranks/shared_peers.h"
#include "tools/lab/run/cpus.h"
#include "tools/lab/run/forked_child.h"
#include "tools/lab/run/run_pool.h"
#include "tools/lab/run/run_pool_message.h"

namespace outrider::lab {
namespace {

/// The others have this time to end by themselves once one has failed.
constexpr int kPatience_ms = 5000;
/// A rank that has a processor of its own asks so often before it sleeps: some 50 us, which is what
/// sleeping and waking cost.
constexpr std::uint32_t kSpins = 1000;

/// One rank's process as its parent sees it.
struct RankProcess {
  pid_t pid = -1;
  int pipe = -1;  ///< read end for its one message; -1: closed
  MessageReader reader{};
  std::optional<Message> said{};
  std::optional<int> status{};
};

/// The processes of one piece of work, and the memory between them.
class LocalRanks {
 public:
  explicit LocalRanks(std::uint32_t ranks)
      : processes_(ranks), lanes_(ranks), spins_(usable_cpus().size() < ranks ? 0 : kSpins) {}
  ~LocalRanks() {
    for (auto& p : processes_) {
      if (p.pipe >= 0) close(p.pipe);
      if (p.pid <= 0 || p.status) continue;
      kill(p.pid, SIGKILL);
      waitpid(p.pid, nullptr, 0);
    }
  }
  LocalRanks(const LocalRanks&) = delete;
  LocalRanks& operator=(const LocalRanks&) = delete;

  std::string run(const RankWork& work) {
    for (std::uint32_t r = 0; r < processes_.size(); ++r) start(r, work);
    bool failed = false;
    for (int patience_ms = -1; receive(patience_ms);)
      for (const auto& p : processes_) {
        failed |= p.pipe < 0 && (!p.said || p.said->kind != MessageKind::kResult);
        if (failed) patience_ms = kPatience_ms;
      }
    if (failed) throw std::runtime_error(cause());
    return std::move(processes_.front().said->text);
  }

 private:
  void start(std::uint32_t rank, const RankWork& work) {
    const ForkedChild child = fork_child("rank", [&](int out) { return be_rank(rank, work, out); });
    processes_[rank].pid = child.pid;
    processes_[rank].pipe = child.pipe;
  }

  /// Does a rank's work. @return status of its process
  int be_rank(std::uint32_t rank, const RankWork& work, int out) {
    prctl(PR_SET_NAME, ("rank " + std::to_string(rank)).c_str());  // as `top` shows it
    try {
      SharedPeers peers(rank, lanes_, spins_);
      const std::string text = work(peers);
      send_message(out, MessageKind::kResult, rank, rank == 0 ? text : std::string());
    } catch (const PeerGone& error) {
      send_message(out, MessageKind::kStopped, rank, error.what());
    } catch (const std::exception& error) {
      send_message(out, MessageKind::kFailed, rank, error.what());
    }
    return 0;
  }

  /// Waits for messages and ends. @return false if all ranks have ended, or patience is over
  bool receive(int patience_ms) {
    std::vector<pollfd> waiting;
    std::vector<std::size_t> whose;
    for (std::size_t r = 0; r < processes_.size(); ++r) {
      if (processes_[r].pipe < 0) continue;
      waiting.push_back({processes_[r].pipe, POLLIN, 0});
      whose.push_back(r);
    }
    if (waiting.empty()) return false;
    const int ready = poll(waiting.data(), waiting.size(), patience_ms);
    if (ready == 0) return false;
    for (std::size_t i = 0; ready > 0 && i < waiting.size(); ++i) {
      RankProcess& p = processes_[whose[i]];
      if (waiting[i].revents == 0) continue;
      const bool open = p.reader.read_some(p.pipe);
      if (auto message = p.reader.next()) p.said = std::move(message);
      if (open) continue;
      close(std::exchange(p.pipe, -1));
      int status = 0;
      waitpid(p.pid, &status, 0);
      p.status = status;
      lanes_.end(static_cast<std::uint32_t>(whose[i]));
    }
    return true;
  }

  /// Returns what ended the work: a rank that was killed, else one that failed. Ranks that only say
  /// that another has ended are no cause.
  [[nodiscard]] std::string cause() const {
    const auto name = [&](std::size_t r) {
      return "rank " + std::to_string(r) + " of " + std::to_string(processes_.size());
    };
    for (std::size_t r = 0; r < processes_.size(); ++r) {
      const auto& status = processes_[r].status;
      if (status && WIFSIGNALED(*status))
        return name(r) + " was killed by signal " + std::to_string(WTERMSIG(*status)) + " (" +
               strsignal(WTERMSIG(*status)) + ")";
    }
    for (std::size_t r = 0; r < processes_.size(); ++r)
      if (const auto& said = processes_[r].said; said && said->kind == MessageKind::kFailed)
        return name(r) + ": " + said->text;
    for (std::size_t r = 0; r < processes_.size(); ++r)
      if (!processes_[r].said) return name(r) + " ended without a result";
    return name(0) + ": another rank has ended";
  }

  std::vector<RankProcess> processes_;
  SharedLanes lanes_;
  std::uint32_t spins_;
};

}  // namespace

std::string run_on_local_ranks(std::uint32_t ranks, const RankWork& work) {
  return LocalRanks(ranks).run(work);
}

}  // namespace outrider::lab
