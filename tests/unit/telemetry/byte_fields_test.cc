// Goal: a record comes back from its bytes as it was, whatever its numbers are, and damaged bytes
// are refused. Method: a record with a field of every kind; every length too short, and numbers
// that do not fit.
#include "tools/lab/run/byte_fields.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <tuple>

#include "common/core/drop_reason.h"

namespace outrider::byte_fields_test {

struct Inner {
  std::int64_t at = 0;
  std::optional<double> share{};
  bool operator==(const Inner&) const = default;
};

struct Record {
  bool flag = false;
  std::uint8_t small = 0;
  std::uint64_t large = 0;
  std::int32_t below = 0;
  double real = 0;
  std::string name;
  TrafficClass traffic_class = TrafficClass::kBackground;
  Histogram histogram;
  PerReason<DropReason> drops{};
  PerClass<std::uint64_t> bytes{};
  std::vector<Inner> list;
  std::optional<Inner> absent{};

  bool operator==(const Record& o) const {
    const auto all = [](const Record& r) {
      return std::tie(r.flag, r.small, r.large, r.below, r.real, r.name, r.traffic_class,
                      r.histogram, r.drops, r.bytes.values, r.list, r.absent);
    };
    return all(*this) == all(o);
  }
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, Inner>
void fields(V& v, R& r) {
  v.value("at", r.at);
  v.value("share", r.share);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, Record>
void fields(V& v, R& r) {
  v.value("flag", r.flag);
  v.value("small", r.small);
  v.value("large", r.large);
  v.value("below", r.below);
  v.value("real", r.real);
  v.value("name", r.name);
  v.value("traffic_class", r.traffic_class);
  v.value("histogram", r.histogram);
  v.value("drops", r.drops);
  v.value("bytes", r.bytes);
  v.value("list", r.list);
  v.value("absent", r.absent);
}

namespace {

Record full() {
  Record r{.flag = true,
           .small = 255,
           .large = std::numeric_limits<std::uint64_t>::max(),
           .below = std::numeric_limits<std::int32_t>::min(),
           .real = std::nextafter(0.1, 1),
           .name = std::string("\0\n\xff", 3),
           .traffic_class = TrafficClass::kSignal,
           .histogram = {},
           .drops = {},
           .bytes = {{1, 128, 1ULL << 40}},
           .list = {{std::numeric_limits<std::int64_t>::min(), 0.5},
                    {std::numeric_limits<std::int64_t>::max(), std::nullopt}}};
  for (const std::uint64_t v : {3U, 3U, 1'000'000U}) r.histogram.record(v);
  r.drops[DropReason::kHeadroom] = 300;
  return r;
}

std::string bytes_of(const auto& record) {
  std::string bytes;
  ByteFieldWriter(bytes).put(record);
  return bytes;
}

template <class R>
R read(const std::string& bytes) {
  R record;
  ByteFieldReader reader(bytes);
  reader.get(record);
  EXPECT_TRUE(reader.at_end());
  return record;
}

TEST(ByteFields, ARecordComesBackAsItWas) {
  EXPECT_EQ(read<Record>(bytes_of(full())), full());
  EXPECT_EQ(read<Record>(bytes_of(Record{})), Record{});
}

TEST(ByteFields, NumbersOfEveryLengthComeBack) {
  for (int bit = 0; bit < 64; ++bit)
    for (const std::uint64_t v : {(1ULL << bit) - 1, 1ULL << bit, ~(1ULL << bit)}) {
      EXPECT_EQ(read<std::uint64_t>(bytes_of(v)), v);
      const auto n = static_cast<std::int64_t>(v);
      EXPECT_EQ(read<std::int64_t>(bytes_of(n)), n);
    }
  EXPECT_EQ(bytes_of(std::uint64_t{127}).size(), 1U) << "most are small";
}

TEST(ByteFields, BytesThatEndTooSoonAreRefused) {
  const std::string whole = bytes_of(full());
  for (std::size_t length = 0; length < whole.size(); ++length) {
    Record record;
    ByteFieldReader reader(std::string_view(whole).substr(0, length));
    EXPECT_THROW(reader.get(record), std::runtime_error) << length;
  }
}

TEST(ByteFields, NumbersThatDoNotFitAreRefused) {
  std::uint8_t small = 0;
  EXPECT_THROW(ByteFieldReader(bytes_of(std::uint64_t{256})).get(small), std::runtime_error);
  std::int32_t below = 0;
  EXPECT_THROW(ByteFieldReader(bytes_of(std::int64_t{1} << 31)).get(below), std::runtime_error);
  std::vector<std::uint64_t> list;
  EXPECT_THROW(ByteFieldReader(bytes_of(std::uint64_t{1} << 40)).get(list), std::runtime_error)
      << "a length beyond what follows";
  EXPECT_THROW(ByteFieldReader(std::string(11, '\xff')).get(small), std::runtime_error);
}

}  // namespace
}  // namespace outrider::byte_fields_test
