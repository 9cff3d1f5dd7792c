#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "trafficgen/apps/connection_sampler.h"
#include "trafficgen/apps/generator.h"
#include "trafficgen/apps/generator_background.h"
#include "trafficgen/apps/generator_hosts.h"
#include "trafficgen/apps/generator_jobs.h"
#include "trafficgen/measure/goodput.h"

namespace outrider::tg {

/// The parts of a Generator, for its own sources only.
struct Generator::State {
  State(const GeneratorConfig& c, EventLoop& loop, rte_mempool& pool, Options o)
      : config(c),
        options(std::move(o)),
        goodput(c.bin, c.max_bins),
        hosts(config, options, loop, pool),
        jobs(config, options, hosts, goodput),
        background(config, options.share, hosts, goodput) {
    if (config.connection_sample_period)
      sampler = std::make_unique<ConnectionSampler>(
          loop, hosts.all(), *config.connection_sample_period, config.max_connection_samples);
  }

  /// Adds what is counted, and what is recorded in the order of the file, of all lcores.
  static void add_counts(const std::vector<const State*>& parts, GeneratorReport& r);
  static void add_records(const std::vector<const State*>& parts, GeneratorReport& r);

  GeneratorConfig config;
  Options options;
  GoodputSeries goodput;
  GeneratorHosts hosts;
  GeneratorJobs jobs;
  GeneratorBackground background;
  std::unique_ptr<ConnectionSampler> sampler;  ///< only with connection_sample_period
};

}  // namespace outrider::tg
