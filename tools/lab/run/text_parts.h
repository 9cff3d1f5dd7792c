#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/lab/simulation/run_result.h"

namespace outrider::lab {

// A text of several parts, each after its length: how processes of a session send each other
// results. A result is the bytes of ByteFieldWriter, as all of them are the same program.

void append_part(std::string& out, const std::string& part);
void append_result(std::string& out, const RunResult& result);

/// Return numbers as text, and those of a text, without loss.
std::string text_of_numbers(const std::vector<double>& numbers);
std::vector<double> numbers_of(const std::string& text);

/// Reads what append_part() has written, part by part.
class PartReader {
 public:
  /// @param text must outlive this
  explicit PartReader(const std::string& text) : text_(text) {}
  /// @throws std::runtime_error
  std::string next() { return std::string(next_view()); }
  RunResult next_result();
  [[nodiscard]] bool at_end() const noexcept { return at_ == text_.size(); }

 private:
  std::string_view next_view();

  const std::string& text_;
  std::size_t at_ = 0;
};

}  // namespace outrider::lab
