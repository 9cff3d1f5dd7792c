#include "tools/lab/results/fabric_tables.h"

#include <algorithm>

namespace outrider::lab {
namespace {

/// A row of link_slices.
struct LinkSlice {
  std::string tier;
  std::string link;
  std::uint64_t links = 1;
  std::uint64_t bits_per_second = 0;
  std::int64_t begin_ns = 0;
  std::int64_t length_ns = 0;
  std::uint64_t wire_bytes = 0;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, LinkSlice>
void fields(V& v, R& r) {
  v.value("tier", r.tier);
  v.value("link", r.link);
  v.value("links", r.links);
  v.value("bits_per_second", r.bits_per_second);
  v.value("begin_ns", r.begin_ns);
  v.value("length_ns", r.length_ns);
  v.value("wire_bytes", r.wire_bytes);
}

template <class R>
std::vector<TableColumn> columns_with_utilisation() {
  auto columns = columns_of_record<R>();
  columns.push_back({"utilisation", CellKind::kReal, "share of the capacity that was used"});
  return columns;
}

/// @param span_ns  time over which the record's bytes were sent
template <class R>
void write_with_utilisation(RunRows& rows, const R& record, std::int64_t span_ns) {
  rows.add_record(record)
      .add(utilisation(record.wire_bytes, record.bits_per_second, span_ns))
      .end();
}

}  // namespace

bool has_links(const Case&, const RunResult& result) { return result.links.has_value(); }

bool has_link_series(const Case&, const RunResult& result) {
  return result.links && !result.links->series.empty();
}

std::vector<TableColumn> links_columns() { return columns_with_utilisation<LinkReport>(); }

void write_links_of(RunRows& rows, Runtime, const RunName&, const RunResult& result) {
  if (!result.links) return;
  for (const LinkReport& link : result.links->links)
    write_with_utilisation(rows, link, result.links->span_ns);
}

std::vector<TableColumn> link_slices_columns() { return columns_with_utilisation<LinkSlice>(); }

void write_link_slices_of(RunRows& rows, Runtime, const RunName&, const RunResult& result) {
  if (!result.links) return;
  for (const LinkSeries& series : result.links->series) {
    LinkSlice slice{.tier = series.tier,
                    .link = series.link,
                    .links = series.links,
                    .bits_per_second = series.bits_per_second};
    for (const std::uint64_t bytes : series.wire_bytes) {
      slice.length_ns = std::min(result.links->slice_ns, result.links->span_ns - slice.begin_ns);
      slice.wire_bytes = bytes;
      write_with_utilisation(rows, slice, slice.length_ns);
      slice.begin_ns += slice.length_ns;
    }
  }
}

}  // namespace outrider::lab
