#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace outrider {

/// One error of a configuration, in the user's own terms.
struct ConfigIssue {
  std::string key;      ///< the user's key with its path, e.g. "switch[0].queue.limit_packets"
  std::string problem;  ///< the value and the rule that it breaks

  bool operator==(const ConfigIssue&) const = default;
};

/// The errors of a configuration: the first twenty that differ, and whether there are more. A file
/// may have millions, of which nobody reads more than these, so that no reader has to bound them
/// itself. What is found twice is kept once: it would hide the others.
class ConfigIssues {
 public:
  static constexpr std::size_t kMost = 20;
  using value_type = ConfigIssue;
  using iterator = std::vector<ConfigIssue>::iterator;
  using const_iterator = std::vector<ConfigIssue>::const_iterator;

  ConfigIssues() = default;
  ConfigIssues(std::initializer_list<ConfigIssue> issues) {
    for (const auto& issue : issues) push_back(issue);
  }

  void push_back(ConfigIssue issue) {
    ++found_;
    if (std::find(issues_.begin(), issues_.end(), issue) != issues_.end()) return;
    if (issues_.size() < kMost) issues_.push_back(std::move(issue));
    else more_ = true;
  }
  void add(const ConfigIssues& more) {
    for (const auto& issue : more) push_back(issue);
    count_unkept(more);
  }
  /// Counts those that `more` has not kept either, where its others are added one by one.
  void count_unkept(const ConfigIssues& more) noexcept {
    found_ += more.found_ - more.size();
    more_ |= more.more_;
  }

  /// Returns how many were found, also those that are not kept, or found again: whether there are
  /// new ones shows in this number alone.
  [[nodiscard]] std::size_t found() const noexcept { return found_; }
  /// Returns whether some were found that are not kept. A reader need not look for further ones.
  [[nodiscard]] bool has_more() const noexcept { return more_; }

  [[nodiscard]] bool empty() const noexcept { return issues_.empty(); }
  [[nodiscard]] std::size_t size() const noexcept { return issues_.size(); }
  [[nodiscard]] const ConfigIssue& operator[](std::size_t i) const { return issues_[i]; }
  [[nodiscard]] const ConfigIssue& at(std::size_t i) const { return issues_.at(i); }
  [[nodiscard]] const ConfigIssue& front() const { return issues_.front(); }
  [[nodiscard]] const ConfigIssue& back() const { return issues_.back(); }
  [[nodiscard]] iterator begin() noexcept { return issues_.begin(); }
  [[nodiscard]] iterator end() noexcept { return issues_.end(); }
  [[nodiscard]] const_iterator begin() const noexcept { return issues_.begin(); }
  [[nodiscard]] const_iterator end() const noexcept { return issues_.end(); }

 private:
  std::vector<ConfigIssue> issues_;
  std::size_t found_ = 0;
  bool more_ = false;
};

}  // namespace outrider
