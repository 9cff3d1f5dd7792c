#pragma once

#include "tools/lab/results/query.h"
#include "tools/lab/summary/compare.h"
#include "tools/lab/summary/results.h"

namespace outrider::lab {

/// Reads what a database says of its arms. @throws QueryError if it is of another version
Results read_results(const ResultsReader& results);

/// Reads the metrics of arms and runs that compare() tests. @throws QueryError
ComparableResult read_comparable(const ResultsReader& results);

}  // namespace outrider::lab
