#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace outrider {

/// A node of a trace of Chakra, for tests that write files of its form.
struct ChakraNodeText {
  std::uint64_t id = 0;
  std::uint64_t type = 0;
  std::vector<std::uint64_t> needs{};
  std::uint64_t duration_us = 0;
  std::vector<std::pair<std::string_view, std::uint64_t>> numbers{};  ///< attributes
};

inline void add_varint(std::string& bytes, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
}

inline void add_piece(std::string& bytes, std::string_view piece) {
  add_varint(bytes, piece.size());
  bytes += piece;
}

inline std::string chakra_node(const ChakraNodeText& node) {
  std::string bytes;
  const auto number = [](std::string& to, std::uint64_t field, std::uint64_t value) {
    add_varint(to, field << 3);
    add_varint(to, value);
  };
  number(bytes, 1, node.id);
  number(bytes, 3, node.type);
  std::string packed;
  for (const std::uint64_t id : node.needs) add_varint(packed, id);
  add_varint(bytes, 5 << 3 | 2);
  add_piece(bytes, packed);
  number(bytes, 7, node.duration_us);
  for (const auto& [name, value] : node.numbers) {
    std::string attribute;
    add_varint(attribute, 1 << 3 | 2);
    add_piece(attribute, name);
    number(attribute, 9, value);
    add_varint(bytes, 10 << 3 | 2);
    add_piece(bytes, attribute);
  }
  return bytes;
}

/// @param with_version  GlobalMetadata of the newer schema says a version, that of the older
/// nothing
inline std::string chakra_file(const std::vector<ChakraNodeText>& nodes, bool with_version) {
  std::string bytes, metadata;
  if (with_version) {
    add_varint(metadata, 1 << 3 | 2);
    add_piece(metadata, "0.0.4");
  }
  add_piece(bytes, metadata);
  for (const ChakraNodeText& node : nodes) add_piece(bytes, chakra_node(node));
  return bytes;
}

}  // namespace outrider
