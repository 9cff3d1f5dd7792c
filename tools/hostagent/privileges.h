#pragma once

#include <sys/types.h>

#include <string>

namespace outrider::agent {

/// The user that the agent goes on as, once its programs are attached and its files are open.
///
/// An agent needs root, or capabilities, to load programs and attach them. Afterwards it reads
/// maps and sends signals for as long as a job runs, and must not be worth an attack.
class Privileges {
 public:
  /// @param user  name or number; empty: that of $SUDO_UID, so that the agent belongs to who
  /// has called sudo, otherwise the user that it was started by
  /// @throws AgentError if there is no such user, or only root could become that user
  explicit Privileges(const std::string& user);

  /// Becomes that user for good and keeps the capabilities that the end needs: CAP_NET_ADMIN to
  /// detach programs, CAP_BPF to read their counts. Children and later programs gain nothing.
  /// Says so on stdout. @pre this process has one thread. @throws AgentError
  void drop() const;

  /// Gives a directory that root has just made to the user. @throws AgentError
  void give(const std::string& directory) const;
  /// @throws AgentError if this process may not make files there. For after drop()
  void check_may_write(const std::string& directory) const;

 private:
  void become() const;

  uid_t uid_;
  gid_t gid_;
  std::string name_;
};

}  // namespace outrider::agent
