#include "tools/lab/experiment/placement.h"

#include <optional>

#include "trafficgen/import/text_lines.h"

namespace outrider::lab {
namespace {

constexpr std::uint32_t kMost = 10'000;  ///< jobs or hosts in a term

std::optional<std::uint32_t> number_of(std::string_view text) {
  const auto number = tg::whole_number_of(text);
  if (!number || *number == 0 || *number > kMost) return std::nullopt;
  return static_cast<std::uint32_t>(*number);
}

}  // namespace

Parsed<std::vector<std::uint32_t>> parse_placement(std::string_view text) {
  std::vector<std::uint32_t> jobs_per_host;
  while (true) {
    const auto comma = text.find(',');
    const auto term = text.substr(0, comma);
    const auto times = term.find('x');
    const auto jobs = number_of(term.substr(0, times));
    const auto hosts = times == term.npos ? 1 : number_of(term.substr(times + 1));
    if (!jobs || !hosts)
      return {{}, R"(must be jobs per host, such as "21", "3x7" (jobs x hosts) or "5,5,5,6")"};
    jobs_per_host.insert(jobs_per_host.end(), *hosts, *jobs);
    if (comma == text.npos) return {jobs_per_host, {}};
    text.remove_prefix(comma + 1);
  }
}

std::vector<std::uint32_t> server_hosts(const std::vector<std::uint32_t>& jobs_per_host) {
  std::vector<std::uint32_t> host_of_job;
  for (std::uint32_t h = 0; h < jobs_per_host.size(); ++h)
    host_of_job.insert(host_of_job.end(), jobs_per_host[h], h);
  return host_of_job;
}

}  // namespace outrider::lab
