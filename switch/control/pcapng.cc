#include "switch/control/pcapng.h"

#include <cstring>

namespace outrider::pcapng {
namespace {

constexpr std::uint32_t kSectionHeader = 0x0A0D0D0A;
constexpr std::uint32_t kInterfaceDescription = 1;
constexpr std::uint32_t kEnhancedPacket = 6;

constexpr std::uint16_t kEndOfOptions = 0;
constexpr std::uint16_t kComment = 1;
constexpr std::uint16_t kUserApplication = 4;  // option of a section
constexpr std::uint16_t kInterfaceName = 2;
constexpr std::uint16_t kTimeResolution = 9;

template <class T>
void put(Bytes& out, T value) {
  const std::size_t at = out.size();
  out.resize(at + sizeof value);
  std::memcpy(out.data() + at, &value, sizeof value);
}

/// Pads to a multiple of 32 bits, as everything in a file is.
void put_padded(Bytes& out, const void* data, std::size_t bytes) {
  const std::size_t at = out.size();
  out.resize(at + (bytes + 3) / 4 * 4);
  if (bytes != 0) std::memcpy(out.data() + at, data, bytes);
}

void put_option(Bytes& out, std::uint16_t code, std::string_view value) {
  put(out, code);
  put(out, static_cast<std::uint16_t>(value.size()));
  put_padded(out, value.data(), value.size());
}

/// Writes a block, with its length before and after its body.
class Block {
 public:
  Block(Bytes& out, std::uint32_t type) : out_(out), begin_(out.size()) {
    put(out, type);
    put(out, std::uint32_t{0});
  }
  ~Block() {
    const auto bytes = static_cast<std::uint32_t>(out_.size() - begin_ + sizeof(std::uint32_t));
    put(out_, bytes);
    std::memcpy(out_.data() + begin_ + sizeof(std::uint32_t), &bytes, sizeof bytes);
  }
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

 private:
  Bytes& out_;
  std::size_t begin_;
};

}  // namespace

void section_header(Bytes& out, std::string_view application) {
  const Block block(out, kSectionHeader);
  put(out, std::uint32_t{0x1A2B3C4D});  // shows the byte order
  put(out, std::uint16_t{1});           // version 1.0
  put(out, std::uint16_t{0});
  put(out, ~std::uint64_t{0});  // length of the section: unknown
  put_option(out, kUserApplication, application);
  put_option(out, kEndOfOptions, {});
}

void interface_description(Bytes& out, std::string_view name, std::uint32_t snap_bytes) {
  const Block block(out, kInterfaceDescription);
  put(out, std::uint16_t{1});  // LINKTYPE_ETHERNET
  put(out, std::uint16_t{0});
  put(out, snap_bytes);
  put_option(out, kInterfaceName, name);
  put_option(out, kTimeResolution, "\x09");  // 10^-9 s
  put_option(out, kEndOfOptions, {});
}

void enhanced_packet(Bytes& out, const PacketRecord& packet) {
  const Block block(out, kEnhancedPacket);
  put(out, packet.interface);
  put(out, static_cast<std::uint32_t>(packet.at_ns >> 32));
  put(out, static_cast<std::uint32_t>(packet.at_ns));
  put(out, static_cast<std::uint32_t>(packet.captured.size()));
  put(out, packet.frame_bytes);
  put_padded(out, packet.captured.data(), packet.captured.size());
  if (packet.comment.empty()) return;
  put_option(out, kComment, packet.comment);
  put_option(out, kEndOfOptions, {});
}

}  // namespace outrider::pcapng
