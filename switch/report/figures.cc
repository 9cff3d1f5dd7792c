#include "switch/report/figures.h"

namespace outrider::sw {

std::vector<FigureValue> figures_of(const QueueCounts& queue) { return figures_of_fields(queue); }
std::vector<FigureValue> figures_of(const LcoreState& lcore) { return figures_of_fields(lcore); }
std::vector<FigureValue> figures_of(const LinkState& link) { return figures_of_fields(link); }
std::vector<FigureValue> figures_of(const PoolState& pool) { return figures_of_fields(pool); }

std::vector<FigureValue> figures_of(const SwitchReport& process) {
  FigureCollector collector;
  fields(collector, base_of<ProcessCounts>(process));
  fields(collector, base_of<SignalCounts>(process));
  fields(collector, base_of<FlowletCounters>(process));
  fields(collector, base_of<RunReport>(process));
  return collector.take();
}

}  // namespace outrider::sw
