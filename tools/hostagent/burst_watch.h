#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "tools/hostagent/bpf/wire.h"
#include "tools/hostagent/bpf_program.h"
#include "tools/hostagent/clsact_filter.h"
#include "tools/hostagent/options.h"

struct watch_bpf;
struct ring_buffer;

namespace outrider::agent {

/// Which incoming packets a BurstWatch looks at.
enum class WatchedIngress : std::uint8_t {
  kNothing,
  kPulls,    ///< bursts that come from the servers
  kTosAcks,  ///< answers to STARTs of the TOS form: kAgentTosAcks counts them
};

/// Runs the BPF program that watches the bursts on this host's connections to servers, from
/// construction to destruction. Throws AgentError if the host refuses. For one thread.
class BurstWatch {
 public:
  using OnOnset = std::function<void(const AgentOnset&)>;

  BurstWatch(const NetworkInterface& interface, const AgentOptions& options,
             WatchedIngress incoming, OnOnset on_onset);
  ~BurstWatch();
  BurstWatch(const BurstWatch&) = delete;
  BurstWatch& operator=(const BurstWatch&) = delete;

  /// Returns a file descriptor that is readable when there are onsets.
  [[nodiscard]] int fd() const noexcept;
  /// Passes all pending onsets to `on_onset`, oldest first.
  void consume();
  /// Returns the current state of a flow, or nothing if the program has forgotten it.
  [[nodiscard]] std::optional<AgentFlow> flow(const AgentFlowKey& key) const;
  [[nodiscard]] std::vector<std::pair<AgentFlowKey, AgentFlow>> flows() const;
  /// Returns the program's counters [AgentWatchCount].
  [[nodiscard]] std::vector<std::uint64_t> counts() const;
  /// Returns the summed cost of its programs.
  [[nodiscard]] ProgramCost cost() const;
  [[nodiscard]] bool replaced_leftover() const noexcept;

 private:
  struct Destroy {
    void operator()(watch_bpf* object) const noexcept;
    void operator()(ring_buffer* ring) const noexcept;
  };
  void load(const AgentOptions& options);

  OnOnset on_onset_;
  std::unique_ptr<CostMeter> meter_;
  std::unique_ptr<watch_bpf, Destroy> object_;
  std::unique_ptr<ring_buffer, Destroy> ring_;
  std::unique_ptr<ClsactFilter> egress_;
  std::unique_ptr<ClsactFilter> ingress_;
};

}  // namespace outrider::agent
