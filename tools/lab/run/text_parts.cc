#include "tools/lab/run/text_parts.h"

#include <cstring>
#include <stdexcept>
#include <string_view>

#include "switch/report/report_fields.h"
#include "tools/lab/run/byte_fields.h"
#include "trafficgen/report/generator_fields.h"

namespace outrider::lab {

void append_part(std::string& out, const std::string& part) {
  out += std::to_string(part.size()) + '\n' + part;
}

void append_result(std::string& out, const RunResult& result) {
  std::string bytes;
  ByteFieldWriter writer(bytes);
  writer.put(result.switches);
  writer.put(result.traffic);
  writer.put(result.mbufs_leaked);
  writer.put(result.slices);
  writer.put(result.links);
  writer.put(result.captures);
  append_part(out, bytes);
}

std::string text_of_numbers(const std::vector<double>& numbers) {
  return {reinterpret_cast<const char*>(numbers.data()), numbers.size() * sizeof(double)};
}

std::vector<double> numbers_of(const std::string& text) {
  std::vector<double> numbers(text.size() / sizeof(double));
  if (!numbers.empty()) std::memcpy(numbers.data(), text.data(), numbers.size() * sizeof(double));
  return numbers;
}

std::string_view PartReader::next_view() {
  const auto end = text_.find('\n', at_);
  if (end == text_.npos) throw std::runtime_error("a worker's result is cut short");
  const std::size_t size = std::stoull(text_.substr(at_, end - at_));
  at_ = end + 1 + size;
  if (at_ > text_.size()) throw std::runtime_error("a worker's result is cut short");
  return std::string_view(text_).substr(end + 1, size);
}

RunResult PartReader::next_result() {
  RunResult result;
  ByteFieldReader reader(next_view());
  reader.get(result.switches);
  reader.get(result.traffic);
  reader.get(result.mbufs_leaked);
  reader.get(result.slices);
  reader.get(result.links);
  reader.get(result.captures);
  if (!reader.at_end()) throw std::runtime_error("a worker's result is too long");
  return result;
}

}  // namespace outrider::lab
