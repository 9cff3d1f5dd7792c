#include <algorithm>

#include "trafficgen/workload/collective/schedule/collective_schedule.h"

namespace outrider::tg {
namespace {

constexpr std::uint32_t kNone = ~0U;  ///< no message

/// Fills in the messages of one stage by walking through its passes in their order.
class PipelineStage {
 public:
  PipelineStage(CollectiveSchedule& schedule, std::uint32_t stage, const EvenCut& cut,
                std::uint32_t micro_batches)
      : s_(schedule), stage_(stage), cut_(cut), micro_batches_(micro_batches) {}

  /// The stage computes the activations of a micro-batch, from those of the stage before.
  void forward(std::uint32_t batch) {
    if (stage_ > 0) activations_ = forward_index(stage_ - 1, batch);
    if (stage_ + 1 < s_.ranks) fill(forward_index(stage_, batch), stage_ + 1, batch);
  }
  /// The stage computes the gradients of a micro-batch, from those of the next stage.
  void backward(std::uint32_t batch) {
    if (stage_ + 1 < s_.ranks) gradients_ = backward_index(stage_ + 1, batch);
    if (stage_ > 0) fill(backward_index(stage_, batch), stage_ - 1, batch);
  }

 private:
  /// Activations come first, stage by stage, then the gradients.
  [[nodiscard]] std::uint32_t forward_index(std::uint32_t stage, std::uint32_t batch) const {
    return stage * micro_batches_ + batch;
  }
  [[nodiscard]] std::uint32_t backward_index(std::uint32_t stage, std::uint32_t batch) const {
    return (s_.ranks - 1 + stage - 1) * micro_batches_ + batch;
  }
  /// A connection keeps order, so the last message from each side stands for those before it.
  void fill(std::uint32_t index, std::uint32_t to, std::uint32_t batch) {
    CollectiveMessage& m = s_.messages[index];
    m = {.from = stage_,
         .to = to,
         .begin_bytes = cut_.begin_of(batch),
         .bytes = cut_.bytes_of(batch)};
    if (activations_ != kNone) m.needs.push_back(activations_);
    if (gradients_ != kNone) m.needs.push_back(gradients_);
  }

  CollectiveSchedule& s_;
  std::uint32_t stage_;
  const EvenCut& cut_;
  std::uint32_t micro_batches_;
  std::uint32_t activations_ = kNone;  ///< the last that the passes so far need
  std::uint32_t gradients_ = kNone;
};

}  // namespace

/// Rank w is stage w. Stage w of N computes N - 1 - w forward passes to fill the pipeline, then one
/// forward and one backward pass in turn, then the backward passes that remain. It sends each
/// micro-batch's activations to the next stage and its gradients to the one before, as soon as
/// everything has arrived that its passes up to this one need.
///
/// Source: Narayanan et al., "PipeDream: generalized pipeline parallelism for DNN training", SOSP
/// 2019, schedule 1F1B, with the pipeline flush of GPipe (Huang et al., NeurIPS 2019) at the end of
/// each iteration. Deviation: passes take no time between messages; a stage computes before its
/// first message.
CollectiveSchedule pipeline_schedule(std::uint32_t ranks, std::uint64_t bytes,
                                     std::uint32_t micro_batches) {
  const EvenCut cut(micro_batches, bytes, 1);
  CollectiveSchedule s{.ranks = ranks};
  s.messages.resize(std::size_t{2} * (ranks - 1) * micro_batches);
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    PipelineStage stage(s, rank, cut, micro_batches);
    const std::uint32_t ahead = std::min(ranks - 1 - rank, micro_batches);
    for (std::uint32_t batch = 0; batch < ahead; ++batch) stage.forward(batch);
    for (std::uint32_t batch = 0; batch < micro_batches; ++batch) {
      if (batch + ahead < micro_batches) stage.forward(batch + ahead);
      stage.backward(batch);
    }
  }
  return s;
}

}  // namespace outrider::tg
