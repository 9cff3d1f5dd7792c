#include "tools/hostagent/privileges.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

#include "tools/hostagent/agent_error.h"

namespace outrider::agent {
namespace {

[[noreturn]] void refuse(const std::string& what) {
  throw AgentError(what + ": " + std::strerror(errno));
}

std::optional<uid_t> number_of(std::string_view text) {
  uid_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
  return number;
}

const passwd* entry_of(const std::string& user) {
  if (const auto number = number_of(user)) return getpwuid(*number);
  return getpwnam(user.c_str());
}

constexpr std::uint64_t bit(unsigned capability) { return std::uint64_t{1} << capability; }
constexpr std::uint64_t kKept = bit(CAP_NET_ADMIN) | bit(CAP_BPF);

/// Keeps those of kKept that the process has, and no other capability.
void keep_capabilities() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0) refuse("cannot read the capabilities");
  for (std::size_t word = 0; word < sets.size(); ++word) {
    const auto kept = static_cast<std::uint32_t>(kKept >> (32 * word)) & sets[word].permitted;
    sets[word] = {.effective = kept, .permitted = kept, .inheritable = 0};
  }
  if (syscall(SYS_capset, &header, sets.data()) != 0) refuse("cannot drop capabilities");
}

}  // namespace

Privileges::Privileges(const std::string& user) : uid_(geteuid()), gid_(getegid()) {
  const char* const sudo = std::getenv("SUDO_UID");
  const bool by_sudo = user.empty() && uid_ == 0 && sudo != nullptr;
  const std::string wanted = by_sudo ? sudo : user;
  if (wanted.empty()) {
    name_ = std::to_string(uid_);
    if (const passwd* own = getpwuid(uid_)) name_ = own->pw_name;
    return;
  }
  const passwd* const entry = entry_of(wanted);
  if (entry == nullptr)
    throw AgentError((by_sudo ? "SUDO_UID: " : "--user: ") + wanted +
                     ": there is no such user; --user names another");
  if (uid_ != 0 && entry->pw_uid != uid_)
    throw AgentError("--user: " + wanted + ": only root can become another user");
  uid_ = entry->pw_uid;
  gid_ = entry->pw_gid;
  name_ = entry->pw_name;
}

/// @pre this process is root's
void Privileges::become() const {
  if (prctl(PR_SET_KEEPCAPS, 1, 0, 0, 0) != 0) refuse("cannot keep capabilities");
  if (initgroups(name_.c_str(), gid_) != 0 || setresgid(gid_, gid_, gid_) != 0 ||
      setresuid(uid_, uid_, uid_) != 0)
    refuse("cannot become user " + name_);
}

void Privileges::drop() const {
  const bool was_root = geteuid() == 0;
  if (was_root && uid_ != 0) become();
  keep_capabilities();
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) refuse("cannot give up new privileges");
  std::printf("goes on as user %s, with CAP_NET_ADMIN and CAP_BPF alone%s\n", name_.c_str(),
              was_root && uid_ == 0 ? "; --user NAME takes another user" : "");
}

void Privileges::give(const std::string& directory) const {
  if (geteuid() != 0 || uid_ == 0) return;
  // By descriptor: whoever may write to the directory above could exchange the name for a link.
  const int fd = open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) refuse(directory);
  const int failed = fchown(fd, uid_, gid_);
  close(fd);
  if (failed != 0) refuse(directory + ": cannot be given to " + name_);
}

void Privileges::check_may_write(const std::string& directory) const {
  if (access(directory.c_str(), W_OK | X_OK) == 0) return;
  throw AgentError(directory + ": user " + name_ +
                   " may not make files there; name its owner "
                   "with --user, or run chown " +
                   name_ + " " + directory);
}

}  // namespace outrider::agent
