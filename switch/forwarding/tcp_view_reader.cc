#include "switch/forwarding/tcp_view_reader.h"

#include <algorithm>

#include "common/net/headers.h"
#include "common/net/tcp_options.h"

namespace outrider {
namespace {

constexpr std::size_t kShortestSack_bytes = 10;  // with one block

/// RFC 7323, 3.2.
struct TimestampsOption {
  std::uint8_t kind, length;
  Be32 value, echo;
};
static_assert(sizeof(TimestampsOption) == 10 && alignof(TimestampsOption) == 1);

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
      if (option.size() == sizeof(TimestampsOption)) {
        const auto& o = *reinterpret_cast<const TimestampsOption*>(option.data());
        view.timestamps = true;
        view.ts_value = o.value.get();
        view.ts_echo = o.echo.get();
      }
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
