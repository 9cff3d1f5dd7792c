#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tools/lab/queue/lease.h"

namespace outrider::lab {

/// The tickets of a queue: one file for each case, in one of the folders `todo`, `running` and
/// `failed` of a directory that the workers share. A ticket moves by an atomic rename, so that one
/// worker alone has it. Its file's text is the case's name and what has happened to it. A case that
/// is done has no ticket.
///
/// All methods throw std::runtime_error naming the file and the cause, unless they say otherwise.
/// A ticket that another worker has moved is no error. One thread; each process may have one.
class CaseQueue {
 public:
  /// @param worker  a name that no other worker of the queue has; empty: only looks
  CaseQueue(std::filesystem::path directory, std::string worker, const LeaseRules& rules);

  /// Makes the folders and a ticket for each case. @param names  [cases]
  static void make(const std::filesystem::path& directory, const std::vector<std::string>& names);

  /// Adds a ticket for a case that waits for a worker. @param name  of the case
  void add(std::size_t index, const std::string& name) const;

  /// Makes the worker's own file in `workers`, its journal.
  void join(const std::string& text) const;
  /// Appends a line to the worker's journal.
  void note(const std::string& line) const;

  /// Takes the case of the lowest rank that nobody has. @param rank  [cases]
  std::optional<Ticket> take(const std::vector<std::size_t>& rank);
  /// Returns the ticket of a case that this worker has taken.
  [[nodiscard]] std::optional<Ticket> own(std::size_t index) const;
  /// Renews a lease. @return false if the ticket is this worker's no longer
  [[nodiscard]] bool renew(const Ticket& ticket) const;
  /// Removes the ticket of a case that is done.
  void finish(const Ticket& ticket) const;
  /// Puts a case back for another worker, or aside.
  /// @param verdict  kAgain or kFailed
  void fail(const Ticket& ticket, const std::string& cause, TicketVerdict verdict) const;
  /// Gives back all cases that this worker has; they do not count as taken. Never throws.
  void give_back_all() const noexcept;

  /// Puts back, or aside, each case whose worker's lease has expired: of this worker too, as one
  /// of its processes may have died between taking a case and telling so. @return these
  std::vector<Ticket> expire(LeaseWatch::Clock::time_point now);

  struct Counts {
    std::size_t todo = 0;
    std::size_t running = 0;
    std::size_t failed = 0;
  };
  [[nodiscard]] Counts counts() const;
  [[nodiscard]] std::vector<Ticket> failed() const;
  /// Returns the cases that have a ticket in any folder.
  [[nodiscard]] std::set<std::size_t> with_tickets() const;
  /// Returns what the ticket of a failed case says has happened to it.
  [[nodiscard]] std::string history(const Ticket& failed) const;
  /// Returns the first file in the tickets' folders that is no ticket of a queue of so many cases.
  [[nodiscard]] std::optional<std::filesystem::path> foreign(std::size_t cases) const;

 private:
  std::optional<Ticket> take_waiting(std::size_t tries);
  [[nodiscard]] bool move_to_running(const Ticket& waiting, const Ticket& taken) const;
  [[nodiscard]] std::vector<Ticket> own_tickets() const;

  std::filesystem::path directory_;
  std::string worker_;
  LeaseRules rules_;
  LeaseWatch watch_;
  std::deque<Ticket> waiting_{};  ///< of the last look into `todo`, in order
};

/// Returns a name that no other worker has: of this machine, this process and a random number.
std::string new_worker_name();

}  // namespace outrider::lab
