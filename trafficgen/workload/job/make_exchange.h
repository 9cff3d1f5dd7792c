#pragma once

#include <memory>
#include <optional>

#include "trafficgen/mlt/mlt_config.h"
#include "trafficgen/workload/exchange/exchange.h"

namespace outrider::tg {

class JobRecords;

/// The one list of exchanges: with `mlt` bounded loss, else TCP.
/// @param records,listener must outlive it
std::unique_ptr<Exchange> make_exchange(const ExchangeSetup& setup,
                                        const std::optional<MltConfig>& mlt, JobRecords& records,
                                        Exchange::Listener& listener);

}  // namespace outrider::tg
