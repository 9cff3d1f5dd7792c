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

/// What a BurstWatch looks at of what comes in.
enum class WatchedIngress : std::uint8_t {
  kNothing,
  kPulls,    ///< bursts of the servers
  kTosAcks,  ///< answers to STARTs of the TOS form: kAgentTosAcks counts them
};

/// The BPF program that sees the bursts of this host's connections to servers, at work from
/// construction to destruction. Throws AgentError where the host refuses. One thread.
class BurstWatch {
 public:
  using OnOnset = std::function<void(const AgentOnset&)>;

  BurstWatch(const NetworkInterface& interface, const AgentOptions& options,
             WatchedIngress incoming, OnOnset on_onset);
  ~BurstWatch();
  BurstWatch(const BurstWatch&) = delete;
  BurstWatch& operator=(const BurstWatch&) = delete;

  /// Readable when there are onsets.
  [[nodiscard]] int fd() const noexcept;
  /// Hands over the onsets that there are, oldest first.
  void consume();
  /// The flow as it is now; nothing if it was forgotten.
  [[nodiscard]] std::optional<AgentFlow> flow(const AgentFlowKey& key) const;
  [[nodiscard]] std::vector<std::pair<AgentFlowKey, AgentFlow>> flows() const;
  /// By AgentWatchCount.
  [[nodiscard]] std::vector<std::uint64_t> counts() const;
  /// Of its programs together.
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
