#pragma once

#include <memory>
#include <optional>

#include "trafficgen/mlt/mlt_config.h"
#include "trafficgen/workload/exchange/exchange.h"

namespace outrider::tg {

class JobRecords;

/// Makes the exchange: bounded loss if `mlt` is given, else TCP. Exchanges are listed here only.
/// @param records,listener must outlive the result
std::unique_ptr<Exchange> make_exchange(const ExchangeSetup& setup,
                                        const std::optional<MltConfig>& mlt, JobRecords& records,
                                        Exchange::Listener& listener);

}  // namespace outrider::tg
