#include "tools/lab/import/chakra_nodes.h"

#include <algorithm>
#include <limits>

#include "trafficgen/import/step_list.h"

namespace outrider::lab {
namespace {

/// Ids that one node may name in all.
constexpr std::size_t kMostNeeds = 65'536;

/// Reads protobuf's wire format. After a fault nothing more is read.
class Wire {
 public:
  explicit Wire(std::string_view bytes, std::size_t offset = 0) : bytes_(bytes), offset_(offset) {}

  [[nodiscard]] bool at_end() const noexcept { return failed_ || at_ == bytes_.size(); }
  [[nodiscard]] bool failed() const noexcept { return failed_; }
  [[nodiscard]] std::size_t offset() const noexcept { return offset_ + at_; }

  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (at_ == bytes_.size()) break;
      const auto byte = static_cast<std::uint8_t>(bytes_[at_++]);
      value |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80) return value;
    }
    failed_ = true;
    return 0;
  }
  /// Returns bytes behind their length.
  Wire piece() {
    const std::uint64_t length = varint();
    if (failed_ || length > bytes_.size() - at_) {
      failed_ = true;
      return Wire({});
    }
    const Wire piece(bytes_.substr(at_, length), offset());
    at_ += length;
    return piece;
  }
  [[nodiscard]] std::string_view text() const noexcept { return bytes_; }

  struct Field {
    std::uint64_t number = 0;
    std::uint64_t type = 0;
  };
  Field field() {
    const std::uint64_t key = varint();
    if (key >> 3 == 0) failed_ = true;
    return {key >> 3, key & 7};
  }
  void skip(std::uint64_t type) {
    constexpr std::uint64_t kVarint = 0, kFixed64 = 1, kLength = 2, kFixed32 = 5;
    if (type == kVarint) (void)varint();
    else if (type == kLength) (void)piece();
    else if (type == kFixed64 || type == kFixed32) take(type == kFixed64 ? 8 : 4);
    else failed_ = true;  // groups, which the schema has not
  }

 private:
  void take(std::size_t bytes) {
    if (bytes_.size() - at_ < bytes) failed_ = true;
    else at_ += bytes;
  }

  std::string_view bytes_;
  std::size_t offset_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

constexpr std::uint64_t kVarintType = 0, kLengthType = 2;

/// Reads AttributeProto: a name, and one of many values.
void read_attribute(Wire attribute, ChakraNode& node, bool& good) {
  constexpr std::uint64_t kNameField = 1, kText = 29;
  // int32, int64, uint32, uint64 as they are; sint32 and sint64 are folded
  constexpr std::uint64_t kInt32 = 7, kInt64 = 9, kUint32 = 11, kUint64 = 13, kSint32 = 15,
                          kSint64 = 17;
  std::string_view name, text;
  std::optional<std::uint64_t> number;
  while (!attribute.at_end()) {
    const auto [field, type] = attribute.field();
    if (type == kLengthType && (field == kNameField || field == kText)) {
      (field == kNameField ? name : text) = attribute.piece().text();
    } else if (type == kVarintType &&
               (field == kInt32 || field == kInt64 || field == kUint32 || field == kUint64)) {
      number = attribute.varint();
    } else if (type == kVarintType && (field == kSint32 || field == kSint64)) {
      const std::uint64_t folded = attribute.varint();
      number = (folded >> 1) ^ (~(folded & 1) + 1);
    } else {
      attribute.skip(type);
    }
  }
  good = good && !attribute.failed();
  if (name == "comm_type") node.comm_type = number;
  if (name == "comm_size") node.comm_bytes = number;
  if (name == "comm_src") node.comm_from = number;
  if (name == "comm_dst") node.comm_to = number;
  if (name == "comm_tag") node.comm_tag = number;
  if (name == "num_ops") node.has_operations = number.value_or(0) > 0;
  if (name == "pg_name") node.group = text.substr(0, tg::kMostStepName);
}

/// Ids stand one by one, or packed behind a length.
void read_needs(Wire& wire, std::uint64_t type, ChakraNode& node, bool& good) {
  if (type == kVarintType) return void(node.needs.push_back(wire.varint()));
  Wire packed = wire.piece();
  while (!packed.at_end() && node.needs.size() <= kMostNeeds) node.needs.push_back(packed.varint());
  good = good && !packed.failed();
}

bool read_node(Wire wire, ChakraNode& node) {
  constexpr std::uint64_t kId = 1, kNameField = 2, kType = 3, kControl = 4, kData = 5,
                          kDuration = 7, kAttribute = 10;
  bool good = true;
  while (!wire.at_end() && node.needs.size() <= kMostNeeds) {
    const auto [field, type] = wire.field();
    if (wire.failed()) break;
    const bool varint = type == kVarintType, length = type == kLengthType;
    if (varint && field == kId) node.id = wire.varint();
    else if (length && field == kNameField)
      node.name = wire.piece().text().substr(0, tg::kMostStepName);
    else if (varint && field == kType) node.type = wire.varint();
    else if ((varint || length) && (field == kControl || field == kData))
      read_needs(wire, type, node, good);
    else if (varint && field == kDuration) node.duration_us = wire.varint();
    else if (length && field == kAttribute) read_attribute(wire.piece(), node, good);
    else wire.skip(type);
  }
  return good && !wire.failed();
}

}  // namespace

std::vector<ChakraNode> read_chakra_nodes(std::string_view file, std::size_t rank, std::size_t most,
                                          ConfigIssues& issues) {
  std::vector<ChakraNode> nodes;
  const auto fault = [&](std::size_t byte, const std::string& rule) {
    issues.push_back({"rank " + std::to_string(rank) + ", byte " + std::to_string(byte), rule});
  };
  Wire wire(file);
  if (file.empty()) fault(0, "is empty: GlobalMetadata and nodes are missing");
  else (void)wire.piece();  // GlobalMetadata
  while (!wire.at_end() && !issues.has_more()) {
    ChakraNode node{.byte = wire.offset()};
    const Wire message = wire.piece();
    if (wire.failed()) break;
    if (!read_node(message, node)) {
      fault(node.byte, "is no node: its fields do not end where it ends");
    } else if (node.needs.size() > kMostNeeds) {
      fault(node.byte, "node " + std::to_string(node.id) + " waits for more than " +
                           std::to_string(kMostNeeds) + " others");
    } else if (nodes.size() == most) {
      fault(node.byte, "there are more nodes than are read, all ranks together");
      break;
    } else {
      nodes.push_back(std::move(node));
    }
  }
  if (wire.failed()) fault(wire.offset(), "the length of a message reaches beyond the file");
  else if (nodes.empty() && issues.empty()) fault(file.size(), "has no nodes");
  return nodes;
}

}  // namespace outrider::lab
