// The ranks of an MPI job as Peers. A module of its own: outrider-lab loads it if a launcher of MPI
// started it, so that nothing else of the program needs MPI.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tools/lab/ranks/mpi_module.h"

namespace outrider::lab {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kBatchTag = 1;
constexpr int kResultTag = 2;
/// A launcher sends SIGTERM to all when one rank has died, and SIGKILL a second later. Ranks that
/// live agree on a stop within a window.
constexpr std::chrono::milliseconds kPatience{300};
/// Ranks may be more than processors: one that waits for longer than kSpin sleeps between two
/// looks.
constexpr std::chrono::microseconds kSpin{20};
constexpr std::chrono::microseconds kSleep{20};

class MpiPeers final : public Peers {
 public:
  explicit MpiPeers(const MpiJob& job) : stop_(job.stop_requested) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~MpiPeers() override {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
  }

  [[nodiscard]] std::uint32_t rank() const noexcept override {
    return static_cast<std::uint32_t>(rank_);
  }
  [[nodiscard]] std::uint32_t size() const noexcept override {
    return static_cast<std::uint32_t>(size_);
  }

  std::int64_t exchange(std::span<const std::string> send, const std::vector<bool>& neighbours,
                        std::int64_t mine, std::vector<std::string>& received) override {
    const auto began = Clock::now();
    received.resize(neighbours.size());
    for (auto& text : received) text.clear();
    std::vector<MPI_Request> requests;
    for (int r = 0; r < size_; ++r) {
      if (!neighbours[static_cast<std::size_t>(r)]) continue;
      const std::string& batch = send[static_cast<std::size_t>(r)];
      MPI_Isend(batch.data(), static_cast<int>(batch.size()), MPI_BYTE, r, kBatchTag,
                MPI_COMM_WORLD, &requests.emplace_back());
      costs_.sent_bytes += batch.size();
    }
    std::int64_t least = mine;
    MPI_Iallreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD,
                   &requests.emplace_back());
    for (int r = 0; r < size_; ++r)
      if (neighbours[static_cast<std::size_t>(r)])
        receive(r, kBatchTag, received[static_cast<std::size_t>(r)]);
    finish(requests, true);
    count(began);
    return least;
  }

  std::int64_t least(std::int64_t mine) override {
    const auto began = Clock::now();
    std::int64_t least = mine;
    std::vector<MPI_Request> requests(1);
    MPI_Iallreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD, requests.data());
    finish(requests, false);
    count(began);
    return least;
  }

  std::vector<std::string> gather(const std::string& mine) override {
    if (rank_ != 0) {
      std::vector<MPI_Request> requests(1);
      MPI_Isend(mine.data(), static_cast<int>(mine.size()), MPI_BYTE, 0, kResultTag, MPI_COMM_WORLD,
                requests.data());
      finish(requests, false);
      return {};
    }
    std::vector<std::string> texts{mine};
    for (int r = 1; r < size_; ++r) receive(r, kResultTag, texts.emplace_back());
    return texts;
  }

  [[nodiscard]] PeerCosts costs() const noexcept override { return costs_; }

 private:
  void count(Clock::time_point began) {
    ++costs_.rounds;
    costs_.seconds_waited += std::chrono::duration<double>(Clock::now() - began).count();
  }

  /// Asks `done` until it says yes. @param in_window  whether all ranks are in the same window, so
  /// that none takes long: rank 0 may write results while others wait for its next case
  /// @throws PeerGone
  template <class Done>
  void wait(bool in_window, Done done) {
    const auto began = Clock::now();
    Clock::time_point since{};
    while (!done()) {
      if (Clock::now() - began < kSpin) continue;
      std::this_thread::sleep_for(kSleep);
      if (!in_window || !stop_()) continue;
      if (since == Clock::time_point{}) since = Clock::now();
      if (Clock::now() - since > kPatience)
        throw PeerGone("another rank has ended, or the launcher ends all");
    }
  }

  void finish(std::vector<MPI_Request>& requests, bool in_window) {
    wait(in_window, [&] {
      int all = 0;
      MPI_Testall(static_cast<int>(requests.size()), requests.data(), &all, MPI_STATUSES_IGNORE);
      return all != 0;
    });
  }

  void receive(int from, int tag, std::string& text) {
    MPI_Message message{};
    MPI_Status status{};
    wait(tag == kBatchTag, [&] {
      int found = 0;
      MPI_Improbe(from, tag, MPI_COMM_WORLD, &found, &message, &status);
      return found != 0;
    });
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    text.resize(static_cast<std::size_t>(bytes));
    MPI_Mrecv(text.data(), bytes, MPI_BYTE, &message, MPI_STATUS_IGNORE);
  }

  bool (*stop_)() noexcept;
  int rank_ = 0;
  int size_ = 1;
  PeerCosts costs_;
};

}  // namespace
}  // namespace outrider::lab

extern "C" {

outrider::lab::Peers* outrider_join_mpi(const outrider::lab::MpiJob* job) {
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS)
    return nullptr;
  return new outrider::lab::MpiPeers(*job);
}

void outrider_abort_mpi(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

void outrider_mpi_version(char* text, std::size_t room) {
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(version, &length);
  std::replace(version, version + length, '\t', ' ');  // MPICH's
  std::snprintf(text, room, "%.*s", static_cast<int>(std::strcspn(version, ",\n")), version);
}
}
