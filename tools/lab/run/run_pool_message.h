#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace outrider::lab {

/// What a worker process tells its parent, through a pipe.
enum class MessageKind : std::uint32_t {
  kBegun,
  kResult,
  kStopped,      ///< the item was given up
  kFailed,       ///< text: the cause
  kCannotBegin,  ///< text: the cause; no item will do better
};

struct Message {
  MessageKind kind{};
  std::size_t item = 0;
  std::string text;
};

/// Writes all of it, blocking; ends the process if the parent is gone.
void send_message(int pipe, MessageKind kind, std::size_t item, std::string_view text);

/// Takes bytes as they come and gives out whole messages.
class MessageReader {
 public:
  /// Reads once. @return false at the end of the pipe
  bool read_some(int pipe);
  std::optional<Message> next();

 private:
  std::string buffer_;
  std::size_t taken_ = 0;  ///< bytes of buffer_ that were given out
};

}  // namespace outrider::lab
