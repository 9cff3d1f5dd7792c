#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/config/config_result.h"
#include "tools/lab/run/run_benchmark.h"
#include "tools/lab/suite/suite_file.h"
#include "tools/lab/suite/suite_outcome.h"

namespace outrider::lab {

/// Reads the files of a test with streams, checked. @param directory  that of the suite
/// @return the order, or the faults with the file's name before each key
ConfigResult<BenchmarkOrder> load_benchmark(const SuiteTest& test,
                                            const std::filesystem::path& directory);

/// Returns a benchmark as results that tables, judge() and reports read: an arm for each point.
/// @param name  of the test
Results results_of(const tg::BenchmarkResult& benchmark, const std::string& name, Runtime runtime);

/// Returns the largest coefficient of variation of a figure over its repetitions; nothing if there
/// are fewer than two.
std::optional<double> variation_of(const tg::BenchmarkResult& benchmark, const std::string& figure);

}  // namespace outrider::lab
