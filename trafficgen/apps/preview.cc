#include "trafficgen/apps/preview.h"

#include <sstream>

#include "common/telemetry/csv_text.h"
#include "trafficgen/apps/timetable.h"

namespace outrider::tg {

Preview preview(const GeneratorConfig& config, Duration until, std::uint64_t limit) {
  const Timetable table = timetable_of(config, Time{} + until, limit);
  Preview p{.events = table.events.size(), .ends_before_run = table.ends_before_run};
  std::ostringstream out;
  const auto text = [](const std::string* s) { return s == nullptr ? "" : csv_text(*s); };
  out << "at_ns,kind,name,from,to,bytes\n";
  for (const TimetableEvent& e : table.events) {
    out << e.at.time_since_epoch().count() << ',' << e.kind << ',' << text(e.name) << ','
        << text(e.from) << ',' << text(e.to) << ',';
    if (e.bytes != 0) out << e.bytes;
    out << '\n';
  }
  p.csv = out.str();
  return p;
}

}  // namespace outrider::tg
