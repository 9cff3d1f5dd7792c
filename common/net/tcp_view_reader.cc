#include "common/net/tcp_view_reader.h"

#include <algorithm>

#include "common/net/headers.h"
#include "common/net/tcp_options.h"

namespace outrider {
namespace {

constexpr std::size_t kShortestSack_bytes = 10;  // with one block
constexpr std::size_t kTimestamps_bytes = 10;

std::uint32_t number_at(std::span<const std::uint8_t> bytes, std::size_t at) noexcept {
  return std::uint32_t{bytes[at]} << 24 | std::uint32_t{bytes[at + 1]} << 16 |
         std::uint32_t{bytes[at + 2]} << 8 | bytes[at + 3];
}

void read_option(std::span<const std::uint8_t> option, TcpView& view) noexcept {
  switch (option[0]) {
    case kWindowScale:
      if (view.syn && option.size() == kWindowScaleBytes)
        view.window_scale = static_cast<std::int8_t>(std::min(option[2], kMaxWindowScale));
      break;
    case kSack:
      view.sack_blocks |= option.size() >= kShortestSack_bytes;
      break;
    case kTimestamps:
      if (option.size() != kTimestamps_bytes) break;
      view.timestamps = true;
      view.ts_value = number_at(option, 2);
      view.ts_echo = number_at(option, 6);
      break;
    case kMd5:
    case kAuthentication:
      view.authenticated = true;
      break;
    default:
      break;
  }
}

}  // namespace

void read_tcp_options(std::span<const std::uint8_t> options, TcpView& view) noexcept {
  for (std::size_t at = 0; at < options.size() && options[at] != kEndOfList;) {
    if (options[at] == kNoOperation) {
      ++at;
      continue;
    }
    if (at + 1 >= options.size()) break;
    const std::size_t length = options[at + 1];
    if (length < 2 || length > options.size() - at) break;
    read_option(options.subspan(at, length), view);
    at += length;
  }
}

}  // namespace outrider
