#include "tools/lab/ranks/local_ranks.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/dpdk/error.h"
#include "tools/lab/ranks/socket_peers.h"
#include "tools/lab/run/forked_child.h"
#include "tools/lab/run/run_pool_message.h"

namespace outrider::lab {
namespace {

/// The others have this time to end by themselves once one has failed.
constexpr int kPatience_ms = 5000;

/// One rank's process as its parent sees it.
struct RankProcess {
  pid_t pid = -1;
  int pipe = -1;  ///< read end for its one message; -1: closed
  MessageReader reader{};
  std::optional<Message> said{};
  std::optional<int> status{};
};

/// The processes of one piece of work, and the sockets between them.
class LocalRanks {
 public:
  explicit LocalRanks(std::uint32_t ranks)
      : processes_(ranks), sockets_(ranks, std::vector<int>(ranks, -1)) {
    for (std::uint32_t a = 0; a < ranks; ++a)
      for (std::uint32_t b = a + 1; b < ranks; ++b) {
        int ends[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
          throw DpdkError("socketpair", "ranks", errno);
        sockets_[a][b] = ends[0];
        sockets_[b][a] = ends[1];
      }
  }
  ~LocalRanks() {
    close_sockets();
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
    close_sockets();  // so that a rank hears of the end of another
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
  void close_sockets() {
    for (auto& of_rank : sockets_)
      for (int& socket : of_rank)
        if (socket >= 0) close(std::exchange(socket, -1));
  }

  void start(std::uint32_t rank, const RankWork& work) {
    const ForkedChild child = fork_child("rank", [&](int out) { return be_rank(rank, work, out); });
    processes_[rank].pid = child.pid;
    processes_[rank].pipe = child.pipe;
  }

  /// Does a rank's work. @return status of its process
  int be_rank(std::uint32_t rank, const RankWork& work, int out) {
    prctl(PR_SET_NAME, ("rank " + std::to_string(rank)).c_str());  // as `top` shows it
    std::vector<int> own = std::exchange(sockets_[rank], {});
    close_sockets();
    try {
      SocketPeers peers(rank, std::move(own));
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
  std::vector<std::vector<int>> sockets_;  ///< [ranks][ranks] ends
};

}  // namespace

std::string run_on_local_ranks(std::uint32_t ranks, const RankWork& work) {
  return LocalRanks(ranks).run(work);
}

}  // namespace outrider::lab
