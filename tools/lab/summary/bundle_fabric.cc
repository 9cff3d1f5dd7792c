#include "tools/lab/summary/bundle_fabric.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <utility>

#include "tools/lab/summary/bundle_columns.h"

namespace outrider::lab {
namespace {

std::string share_text(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", share);
  return text.data();
}

/// A line of link_slices.csv.
struct LinkSlice {
  const LinkSeries& series;
  std::int64_t begin_ns = 0;
  std::int64_t length_ns = 0;
  std::uint64_t wire_bytes = 0;
};

void put(std::ostream& out, const LinkSlice& slice) {
  out << ',' << slice.series.tier << ',' << slice.series.link << ',' << slice.series.links << ','
      << slice.series.bits_per_second << ',' << slice.begin_ns << ',' << slice.length_ns << ','
      << slice.wire_bytes << ','
      << share_text(utilisation(slice.wire_bytes, slice.series.bits_per_second, slice.length_ns))
      << '\n';
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

std::int64_t earlier(std::int64_t a, std::int64_t b) noexcept {
  if (a == tg::kNotYet_ns) return b;
  return b == tg::kNotYet_ns ? a : std::min(a, b);
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

bool has_links(const RunResult& result) { return result.links.has_value(); }

bool has_link_series(const RunResult& result) {
  return result.links && !result.links->series.empty();
}

std::string links_head() {
  std::string head = head_of<LinkReport>();
  head.insert(head.size() - 1, ",utilisation");
  return head;
}

void write_links_of(std::ostream& out, Runtime, const RunName& name, const RunResult& result) {
  if (!result.links) return;
  for (const LinkReport& link : result.links->links) {
    out << name;
    put_cells(out, cells_of(link));
    out << ','
        << share_text(utilisation(link.wire_bytes, link.bits_per_second, result.links->span_ns))
        << '\n';
  }
}

std::string link_slices_head() {
  return std::string(kRunColumns) +
         ",tier,link,links,bits_per_second,begin_ns,length_ns,wire_bytes,utilisation\n";
}

void write_link_slices_of(std::ostream& out, Runtime, const RunName& name,
                          const RunResult& result) {
  if (!result.links) return;
  const std::int64_t slice_ns = result.links->slice_ns;
  for (const LinkSeries& series : result.links->series)
    for (std::size_t i = 0; i < series.wire_bytes.size(); ++i) {
      const std::int64_t begin_ns = static_cast<std::int64_t>(i) * slice_ns;
      out << name;
      put(out, {.series = series,
                .begin_ns = begin_ns,
                .length_ns = std::min(slice_ns, result.links->span_ns - begin_ns),
                .wire_bytes = series.wire_bytes[i]});
    }
}

std::string iterations_head() { return head_of<JobIteration>(); }

void write_iterations_of(std::ostream& out, Runtime, const RunName& name, const RunResult& result) {
  if (result.links) write_records(out, name, job_iterations(result.traffic));
}

}  // namespace outrider::lab
