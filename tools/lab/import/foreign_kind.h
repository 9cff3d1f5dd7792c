#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace outrider::lab {

/// The files of other simulators that are told apart.
enum class ForeignKind : std::uint8_t {
  kUnknown,
  kTopology,          ///< of HPCC's simulator and those that come from it, see topology_file.h
  kNodeLink,          ///< a topology as node-link JSON
  kFlowList,          ///< HPCC's, see flow_list.h: RDMA
  kFlowTable,         ///< flows as CSV, with named columns; see flow_list.h
  kConnectionMatrix,  ///< htsim's ".cm"
  kTiers,             ///< htsim's ".topo"
  kGpuTopology,       ///< SimAI's, with GPUs and NVSwitches
  kSimaiWorkload,
  kAicbWorkload,
  kChakraTrace,
};

/// Tells what a file is by its first lines, and a trace of Chakra by its name. Pure.
ForeignKind foreign_kind_of(std::string_view text, const std::filesystem::path& path);

/// Returns what the kind is called, "a connection matrix of htsim".
std::string_view name_of(ForeignKind kind) noexcept;

/// Returns whether the file says what the network is.
constexpr bool is_topology(ForeignKind kind) noexcept {
  return kind == ForeignKind::kTopology || kind == ForeignKind::kNodeLink ||
         kind == ForeignKind::kTiers;
}

/// Returns whether the file says what is sent, flow by flow.
constexpr bool has_flows(ForeignKind kind) noexcept {
  return kind == ForeignKind::kFlowList || kind == ForeignKind::kFlowTable ||
         kind == ForeignKind::kConnectionMatrix;
}

/// Returns whether the file says what the ranks of a job do.
constexpr bool has_job(ForeignKind kind) noexcept {
  return kind == ForeignKind::kSimaiWorkload || kind == ForeignKind::kAicbWorkload ||
         kind == ForeignKind::kChakraTrace;
}

}  // namespace outrider::lab
