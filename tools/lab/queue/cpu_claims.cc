#include "tools/lab/queue/cpu_claims.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "common/dpdk/error.h"

namespace outrider::lab {
namespace {

/// @return the socket that has this name as long as it is open; -1: another one has it
/// @throws EnvironmentError
int claimed(const std::string& name) {
  const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) throw DpdkError("socket", name, errno);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  // The first byte stays 0: the name is in the kernel alone.
  const std::size_t length = std::min(name.size(), sizeof(address.sun_path) - 1);
  std::memcpy(address.sun_path + 1, name.data(), length);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), size) == 0) return fd;
  const int error = errno;
  close(fd);
  if (error == EADDRINUSE) return -1;
  throw DpdkError("bind", name, error);
}

/// Lets one worker at a time choose: of two that each take half of what is left, neither would
/// have enough.
class Turn {
 public:
  explicit Turn(const std::string& name) {
    constexpr int kTries = 500;  // of 10 ms. Without its turn a worker may choose in vain, no more
    for (int i = 0; i < kTries && (fd_ = claimed(name + "turn")) < 0; ++i) usleep(10'000);
  }
  ~Turn() {
    if (fd_ >= 0) close(fd_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  int fd_ = -1;
};

}  // namespace

CpuClaims::CpuClaims(std::size_t count, const std::vector<unsigned>& allowed,
                     const std::string& name) {
  try {
    choose(count, allowed, name);
  } catch (const EnvironmentError&) {
    release();
    throw;
  }
}

void CpuClaims::choose(std::size_t count, const std::vector<unsigned>& allowed,
                       const std::string& name) {
  const Turn turn(name);
  for (const unsigned cpu : allowed) {
    if (cpus_.size() == count) break;
    const int fd = claimed(name + std::to_string(cpu));
    if (fd < 0) continue;
    sockets_.push_back(fd);
    cpus_.push_back(cpu);
  }
  if (cpus_.size() == count) return;
  throw EnvironmentError("--cpus " + std::to_string(count) + ": of the " +
                         std::to_string(allowed.size()) + " CPUs that this process may use, " +
                         std::to_string(cpus_.size()) +
                         " have no worker; start fewer workers on this machine, or share CPUs with "
                         "--share-cpus");
}

CpuClaims::~CpuClaims() { release(); }

void CpuClaims::release() noexcept {
  for (const int fd : sockets_) close(fd);
  sockets_.clear();
  cpus_.clear();
}

}  // namespace outrider::lab
