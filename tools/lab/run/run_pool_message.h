#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace outrider::lab {

/// The kinds of messages that a worker process sends to its parent through a pipe.
enum class MessageKind : std::uint32_t {
  kBegun,
  kResult,
  kStopped,      ///< the item was given up
  kFailed,       ///< the text is the cause
  kCannotBegin,  ///< the text is the cause; every other item would fail too
};

struct Message {
  MessageKind kind{};
  std::size_t item = 0;
  std::string text;
};

/// Writes a whole message and blocks until it is written. Ends the process if the parent is gone.
void send_message(int pipe, MessageKind kind, std::size_t item, std::string_view text);

/// Reads bytes from a pipe and returns whole messages.
class MessageReader {
 public:
  /// Reads once. @return false at the end of the pipe
  bool read_some(int pipe);
  std::optional<Message> next();

 private:
  std::string buffer_;
  std::size_t taken_ = 0;  ///< bytes of buffer_ that next() has returned
};

}  // namespace outrider::lab
