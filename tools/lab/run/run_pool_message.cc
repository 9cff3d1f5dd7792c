#include "tools/lab/run/run_pool_message.h"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace outrider::lab {
namespace {

struct Header {
  MessageKind kind;
  std::uint32_t reserved;
  std::uint64_t item;
  std::uint64_t bytes;
};
static_assert(sizeof(Header) == 24, "no padding: it is written as it lies in memory");

void write_all(int pipe, const char* data, std::size_t size) {
  while (size > 0) {
    const auto written = write(pipe, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) _exit(1);
    data += written;
    size -= static_cast<std::size_t>(written);
  }
}

}  // namespace

void send_message(int pipe, MessageKind kind, std::size_t item, std::string_view text) {
  const Header header{kind, 0, item, text.size()};
  std::array<char, sizeof(Header)> bytes;
  std::memcpy(bytes.data(), &header, sizeof(Header));
  write_all(pipe, bytes.data(), bytes.size());
  write_all(pipe, text.data(), text.size());
}

bool MessageReader::read_some(int pipe) {
  constexpr std::size_t kChunk = 1U << 18;
  buffer_.erase(0, taken_);
  taken_ = 0;
  const std::size_t before = buffer_.size();
  buffer_.resize(before + kChunk);
  const auto got = read(pipe, buffer_.data() + before, kChunk);
  buffer_.resize(before + (got > 0 ? static_cast<std::size_t>(got) : 0));
  return got > 0 || (got < 0 && errno == EINTR);
}

std::optional<Message> MessageReader::next() {
  Header header{};
  if (buffer_.size() - taken_ < sizeof(header)) return std::nullopt;
  std::memcpy(&header, buffer_.data() + taken_, sizeof(header));
  if (buffer_.size() - taken_ - sizeof(header) < header.bytes) return std::nullopt;
  Message message{header.kind, header.item, buffer_.substr(taken_ + sizeof(header), header.bytes)};
  taken_ += sizeof(header) + header.bytes;
  return message;
}

}  // namespace outrider::lab
