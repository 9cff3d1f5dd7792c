#pragma once

#include "trafficgen/workload/exchange/exchange.h"

namespace outrider::tg {

class JobRecords;

/// What the ends of an exchange share.
struct ExchangeContext {
  ExchangeSetup setup;
  JobRecords& records;
  Exchange::Listener& listener;
};

}  // namespace outrider::tg
