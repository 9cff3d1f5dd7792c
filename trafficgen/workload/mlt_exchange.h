#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "common/core/burst_identity.h"
#include "common/core/byte_range.h"
#include "trafficgen/mlt/mlt_config.h"
#include "trafficgen/mlt/mlt_endpoint.h"
#include "trafficgen/report/report.h"
#include "trafficgen/transport/tcp_config.h"

namespace outrider {

class Job;

/// The flows of a job over the bounded-loss transport: one between each worker and server,
/// pushes one way and pulls the other. Workers and servers say what may leave; it tells them
/// what the receivers have, and keeps what the transport knows of each burst.
///
/// A tensor of a flow is one piece of the job (Job::pieces()) that its server holds. In a ring
/// the right neighbour stands for the server, a tensor is a step, and there are no pulls. Not
/// thread-safe; nothing allocates after construction.
class MltExchange {
 public:
  /// What the job's transport says. `tcp` holds the controller and the use of ECN.
  struct Setup {
    MltConfig mlt;
    TcpConfig tcp;
    std::uint32_t mtu_bytes = 0;  ///< that all hosts can take
  };
  /// Makes the endpoints. @param job its hosts, pieces and classes must be known
  MltExchange(Job& job, const Setup& setup);
  ~MltExchange();
  MltExchange(const MltExchange&) = delete;
  MltExchange& operator=(const MltExchange&) = delete;

  // -- the worker
  /// UDP, as the worker sends it.
  [[nodiscard]] const FlowKey& flow(std::uint32_t worker, std::uint32_t server) const noexcept;
  /// Place in that flow's stream at which the worker's next push begins.
  [[nodiscard]] std::uint32_t next_push_sequence(std::uint32_t worker,
                                                 std::uint32_t server) const noexcept;
  void expect_pull(const BurstIdentity& pull) noexcept;
  void begin_push(const BurstIdentity& push, Time now) noexcept;
  /// @param piece index of one that was not handed over in this push
  void push(std::uint32_t worker, std::uint32_t piece, Time now) noexcept;
  /// Ring: all of a step. @pre begun, and the step was not handed over
  void push_step(std::uint32_t worker, std::uint32_t step, Time now) noexcept;
  /// Ring: the right neighbour has not enough yet of the last burst.
  [[nodiscard]] bool sending(std::uint32_t worker) const noexcept;

  // -- the server
  void begin_pull(const BurstIdentity& pull, std::uint32_t server, Time now) noexcept;
  void pull(std::uint32_t worker, std::uint32_t piece, Time now) noexcept;
  /// All pieces that the server holds.
  void pull_all(std::uint32_t worker, std::uint32_t server, Time now) noexcept;

  // -- records
  /// When the first packet of the flow's current burst left.
  [[nodiscard]] std::optional<Time> first_sent_at(std::uint32_t worker, std::uint32_t server,
                                                  BurstDirection d) const noexcept;
  /// What the flow did so far, into a report that holds its bytes.
  void fill(FlowReport& report, std::uint32_t worker, std::uint32_t server,
            BurstDirection d) const noexcept;
  /// Adds to the records what the bursts that come last have done.
  void note_last() noexcept;

 private:
  struct End;
  struct Pair;

  [[nodiscard]] const Pair& pair(std::uint32_t worker, std::uint32_t server) const noexcept;
  [[nodiscard]] Pair& pair(std::uint32_t worker, std::uint32_t server) noexcept;
  [[nodiscard]] const MltSender& sender(std::uint32_t worker, std::uint32_t server,
                                        BurstDirection d) const noexcept;
  [[nodiscard]] std::vector<MltTensor> tensors_of(std::uint32_t server, double tolerance) const;
  [[nodiscard]] std::vector<MltTensor> steps_of(std::uint32_t worker) const;
  void make_pair(std::uint32_t worker, std::uint32_t server, const Setup& setup);
  void begin(End& end, const BurstIdentity& burst, Time now) noexcept;
  void acknowledge(End& end, Time now) noexcept;
  void tell(End& end, std::uint64_t bytes, Time now) noexcept;
  [[nodiscard]] std::uint64_t tensor_bytes(const End& end, std::uint32_t tensor) const noexcept;
  static void hand_over(End& end, std::uint32_t tensor, Time now) noexcept;
  void note(End& end) noexcept;
  [[nodiscard]] std::span<const ByteRange> missing_of(const End& end) noexcept;

  Job& job_;
  MltConfig config_;
  ControllerConfig control_;
  std::vector<std::uint32_t> tensor_of_;               ///< [pieces]: in the flow to its server
  std::vector<std::vector<std::uint32_t>> pieces_of_;  ///< [servers][tensors]
  std::vector<std::unique_ptr<Pair>> pairs_;           ///< [worker][server]
  std::vector<ByteRange> missing_;                     ///< of the shard that has just arrived
};

}  // namespace outrider
