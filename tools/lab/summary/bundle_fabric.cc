#include "tools/lab/summary/bundle_fabric.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

#include "tools/lab/measure/metrics_iterations.h"
#include "tools/lab/summary/bundle_columns.h"

namespace outrider::lab {
namespace {

/// A line of link_slices.csv.
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

/// Returns the first line of a table of these records with a last column for their utilisation.
template <class R>
std::string head_with_utilisation() {
  std::string head = head_of<R>();
  head.insert(head.size() - 1, ",utilisation");
  return head;
}

/// @param span_ns  time over which the record's bytes were sent
template <class R>
void write_with_utilisation(std::ostream& out, const RunName& name, const R& record,
                            std::int64_t span_ns) {
  std::array<char, 32> share{};
  std::snprintf(share.data(), share.size(), "%.6g",
                utilisation(record.wire_bytes, record.bits_per_second, span_ns));
  out << name;
  put_cells(out, cells_of(record));
  out << ',' << share.data() << '\n';
}

/// The instants of a job's iteration, over all its workers.
struct JobIteration {
  std::uint16_t job = 0;
  std::uint32_t iteration = 0;
  std::uint32_t workers = 0;  ///< that began it
  std::int64_t begin_ns = tg::kNotYet_ns;
  std::int64_t first_gradient_ns = tg::kNotYet_ns;
  std::int64_t ready_ns = tg::kNotYet_ns;
  std::int64_t parameters_ns = tg::kNotYet_ns;
  std::int64_t end_ns = tg::kNotYet_ns;
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, JobIteration>
void fields(V& v, R& r) {
  v.value("job", r.job);
  v.value("iteration", r.iteration);
  v.value("workers", r.workers);
  v.value("begin_ns", r.begin_ns);
  v.value("first_gradient_ns", r.first_gradient_ns);
  v.value("ready_ns", r.ready_ns);
  v.value("parameters_ns", r.parameters_ns);
  v.value("end_ns", r.end_ns);
}

/// Returns the later instant, or none if either is missing. @param fresh  whether there is no `a`
std::int64_t last_of(bool fresh, std::int64_t a, std::int64_t b) noexcept {
  if (fresh) return b;
  return a == tg::kNotYet_ns || b == tg::kNotYet_ns ? tg::kNotYet_ns : std::max(a, b);
}

std::vector<JobIteration> job_iterations(const tg::GeneratorReport& report) {
  std::map<std::pair<std::uint16_t, std::uint32_t>, JobIteration> by_key;
  for (const auto& r : report.iterations) {
    JobIteration& all = by_key[{r.job, r.iteration}];
    const bool fresh = all.workers++ == 0;
    all.job = r.job;
    all.iteration = r.iteration;
    all.begin_ns = earlier(all.begin_ns, r.begin_ns);
    all.first_gradient_ns = earlier(all.first_gradient_ns, r.first_gradient_ns);
    all.ready_ns = last_of(fresh, all.ready_ns, r.ready_ns);
    all.parameters_ns = last_of(fresh, all.parameters_ns, r.parameters_ns);
    all.end_ns = last_of(fresh, all.end_ns, r.end_ns);
  }
  std::vector<JobIteration> iterations;
  iterations.reserve(by_key.size());
  for (const auto& [key, iteration] : by_key) iterations.push_back(iteration);
  return iterations;
}

}  // namespace

bool has_links(const Case&, const RunResult& result) { return result.links.has_value(); }

bool has_link_series(const Case&, const RunResult& result) {
  return result.links && !result.links->series.empty();
}

std::string links_head() { return head_with_utilisation<LinkReport>(); }

void write_links_of(std::ostream& out, Runtime, const RunName& name, const RunResult& result) {
  if (!result.links) return;
  for (const LinkReport& link : result.links->links)
    write_with_utilisation(out, name, link, result.links->span_ns);
}

std::string link_slices_head() { return head_with_utilisation<LinkSlice>(); }

void write_link_slices_of(std::ostream& out, Runtime, const RunName& name,
                          const RunResult& result) {
  if (!result.links) return;
  for (const LinkSeries& series : result.links->series) {
    LinkSlice slice{.tier = series.tier,
                    .link = series.link,
                    .links = series.links,
                    .bits_per_second = series.bits_per_second};
    for (const std::uint64_t bytes : series.wire_bytes) {
      slice.length_ns = std::min(result.links->slice_ns, result.links->span_ns - slice.begin_ns);
      slice.wire_bytes = bytes;
      write_with_utilisation(out, name, slice, slice.length_ns);
      slice.begin_ns += slice.length_ns;
    }
  }
}

std::string iterations_head() { return head_of<JobIteration>(); }

void write_iterations_of(std::ostream& out, Runtime, const RunName& name, const RunResult& result) {
  if (result.links) write_records(out, name, job_iterations(result.traffic));
}

}  // namespace outrider::lab
