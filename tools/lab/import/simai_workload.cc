#include "tools/lab/import/simai_workload.h"

#include <algorithm>
#include <array>
#include <optional>

#include "common/core/quantity_bounds.h"
#include "common/core/shortened.h"
#include "trafficgen/import/text_lines.h"

namespace outrider::lab {
namespace {

using SimaiWords = std::vector<std::string_view>;

/// A computation of a layer and the collective behind it.
struct SimaiPass {
  Duration takes{};
  std::string_view comm{};
  std::uint64_t bytes = 0;
};

struct SimaiLayer {
  std::size_t line = 0;
  std::string name{};
  std::array<SimaiPass, 3> passes{};  ///< forward, gradients of inputs, of weights
};

class SimaiReader {
 public:
  void take(std::size_t line, const SimaiWords& words) {
    line_ = line;
    if (issues_.has_more()) return;
    if (!seen_head_) return take_head(words);
    if (!layers_told_) return take_count(words);
    take_layer(words);
  }

  ConfigResult<JobTrace> result() {
    if (issues_.empty() && !layers_told_)
      issues_.push_back({"", "ends before the number of its layers"});
    if (issues_.empty() && *layers_told_ != layers_.size())
      issues_.push_back({"", "has " + std::to_string(layers_.size()) + " layers, and says " +
                                 std::to_string(*layers_told_)});
    JobTrace trace;
    if (issues_.empty()) trace = make();
    if (!issues_.empty()) return {{}, std::move(issues_)};
    return {std::move(trace), {}};
  }

 private:
  struct HeadKey {
    std::string_view name;
    std::uint64_t value = 1;
    bool told = false;
  };
  enum Key : std::size_t { kTensor, kExpert, kPipeline, kGpus, kCheckpoints };

  static std::string shown(std::string_view word) {
    return "\"" + shortened(std::string(word), kShownValue_bytes) + "\"";
  }
  void fault(const std::string& rule) { issues_.push_back(tg::line_issue(line_, rule)); }
  [[nodiscard]] std::uint32_t degree(Key key) const {
    return static_cast<std::uint32_t>(keys_[key].value);
  }
  [[nodiscard]] std::uint32_t replicas() const {
    return degree(kGpus) / (degree(kTensor) * degree(kPipeline));
  }

  void take_head(const SimaiWords& words) {
    seen_head_ = true;
    if (words.front() != "HYBRID_TRANSFORMER_FWD_IN_BCKWD" && words.front() != "HYBRID_TRANSFORMER")
      fault(shown(words.front()) +
            ": must be HYBRID_TRANSFORMER or HYBRID_TRANSFORMER_FWD_IN_BCKWD; the order of passes "
            "of other kinds is not known here");
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      std::string_view name = words[i];
      if (name.ends_with(':')) name.remove_suffix(1);
      const auto key = std::ranges::find(keys_, name, &HeadKey::name);
      if (key == keys_.end()) continue;
      const auto number = tg::whole_number_of(words[++i]);
      key->told = true;
      key->value = number.value_or(1);
      const bool may_be_none = key->name == "checkpoints";
      if (!number || (*number == 0 && !may_be_none) || *number > kMostGpus)
        fault(shown(words[i]) + ": " + std::string(key->name) + " must be a whole number from " +
              (may_be_none ? "0" : "1") + " to " + std::to_string(kMostGpus));
    }
    if (issues_.empty()) check_head();
  }

  void check_head() {
    if (!keys_[kGpus].told) return fault("has no \"all_gpus: N\"");
    const std::uint64_t gpus = keys_[kGpus].value;
    const std::uint64_t model = keys_[kTensor].value * keys_[kPipeline].value;
    if (gpus % model != 0)
      return fault("all_gpus " + std::to_string(gpus) +
                   ": must be a multiple of model_parallel_NPU_group times pp, " +
                   std::to_string(model));
    if (gpus / model % keys_[kExpert].value != 0)
      return fault("ep " + std::to_string(keys_[kExpert].value) +
                   ": must divide the groups of data parallelism, " + std::to_string(gpus / model));
    if (gpus > tg::kMostStepRanks)
      fault("all_gpus " + std::to_string(gpus) + ": a job has at most " +
            std::to_string(tg::kMostStepRanks) + " workers here");
  }

  void take_count(const SimaiWords& words) {
    layers_told_ = tg::whole_number_of(words.front()).value_or(0);
    if (words.size() != 1 || *layers_told_ == 0)
      fault("must be the number of layers, at least 1, and nothing else");
  }

  void take_layer(const SimaiWords& words) {
    if (words.size() != 12)
      return fault(
          "must hold a name, a dependency, three times a time, a collective and its "
          "bytes, and a time of updating: 12 words");
    SimaiLayer layer{.line = line_, .name = std::string(words[0].substr(0, tg::kMostStepName))};
    for (std::size_t i = 0; i < layer.passes.size(); ++i) {
      SimaiPass& pass = layer.passes[i];
      const auto ns = tg::whole_number_of(words[2 + 3 * i]);
      const auto bytes = tg::whole_number_of(words[4 + 3 * i]);
      pass.comm = words[3 + 3 * i];
      constexpr double kPerSecond = 1e9;
      if (!ns || static_cast<double>(*ns) > kLongest_seconds * kPerSecond)
        fault(shown(words[2 + 3 * i]) + ": a time must be a whole number of nanoseconds, to 1e16");
      if (!bytes || *bytes > kLargestBytes)
        fault(shown(words[4 + 3 * i]) + ": bytes must be a whole number, at most 1e15");
      if (pass.comm != "NONE" && !kind_of(pass.comm))
        fault(shown(pass.comm) +
              ": must be NONE, ALLREDUCE, ALLGATHER, REDUCESCATTER or ALLTOALL, with _EP or "
              "_DP_EP behind it or nothing");
      pass.takes = Duration{static_cast<std::int64_t>(ns.value_or(0))};
      pass.bytes = bytes.value_or(0);
    }
    if (issues_.empty() && layers_.size() < *layers_told_) layers_.push_back(std::move(layer));
    else if (issues_.empty()) fault("stands behind the last of the layers that line 2 counts");
  }

  static std::optional<tg::StepKind> kind_of(std::string_view comm) {
    constexpr std::array<std::pair<std::string_view, tg::StepKind>, 4> kKinds{
        {{"ALLREDUCE", tg::StepKind::kAllReduce},
         {"ALLGATHER", tg::StepKind::kAllGather},
         {"REDUCESCATTER", tg::StepKind::kReduceScatter},
         {"ALLTOALL", tg::StepKind::kAllToAll}}};
    const std::string_view suffix = comm.substr(std::min(comm.find('_'), comm.size()));
    if (!suffix.empty() && suffix != "_EP" && suffix != "_DP_EP") return std::nullopt;
    for (const auto& [name, kind] : kKinds)
      if (comm.substr(0, comm.size() - suffix.size()) == name) return kind;
    return std::nullopt;
  }

  /// Ranks count through tensor parallelism first, then experts, then the rest of data parallelism,
  /// then the stages of a pipeline.
  [[nodiscard]] std::vector<RankGroup> groups_of(std::string_view comm, bool of_weights) const {
    const std::uint32_t tensor = degree(kTensor), expert = degree(kExpert);
    if (comm.ends_with("_DP_EP"))
      return rank_groups(degree(kGpus), replicas() / expert, tensor * expert);
    if (comm.ends_with("_EP")) return rank_groups(degree(kGpus), expert, tensor);
    if (of_weights) return rank_groups(degree(kGpus), replicas(), tensor);
    return rank_groups(degree(kGpus), tensor, 1);
  }

  /// Returns the part of a pass; without groups if nothing of it uses the network.
  StepSequence::Part part_of(const SimaiLayer& layer, std::size_t index) {
    const SimaiPass& pass = layer.passes[index];
    StepSequence::Part part{.takes = pass.takes};
    if (pass.comm == "NONE" || pass.bytes == 0) return part;
    auto groups = groups_of(pass.comm, index == 2);
    const std::uint32_t size = static_cast<std::uint32_t>(groups.front().size());
    const bool within = std::ranges::all_of(groups, within_a_server);
    if (size == 1) left_out_.add("collectives of groups of one GPU", pass.bytes);
    else if (within)
      left_out_.add("collectives within a server (NVLink), which take no time here", pass.bytes);
    if (size == 1 || within) return part;
    part.kind = *kind_of(pass.comm);
    part.bytes = pass.bytes;
    if (part.bytes < size && part.kind != tg::StepKind::kAllReduce) {
      line_ = layer.line;
      fault(std::to_string(part.bytes) + " bytes: must be one for each of " + std::to_string(size) +
            " GPUs");
    }
    part.groups = std::move(groups);
    return part;
  }

  JobTrace make() {
    StepSequence sequence(degree(kGpus));
    for (const SimaiLayer& layer : layers_) {
      auto part = part_of(layer, 0);
      sequence.compute(part.takes);
      if (!part.groups.empty()) sequence.collective(part.kind, part.groups, part.bytes, layer.name);
      if (told_full(sequence, layer)) return {};
    }
    for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) {
      const auto inputs = part_of(*layer, 1);
      sequence.backward(inputs, part_of(*layer, 2), layer->name);
      if (told_full(sequence, *layer)) return {};
    }
    if (!issues_.empty()) return {};
    JobTrace trace{.list = sequence.take()};
    describe(trace);
    return trace;
  }

  bool told_full(const StepSequence& sequence, const SimaiLayer& layer) {
    if (!sequence.full()) return false;
    line_ = layer.line;
    fault("the list of steps has more than " + std::to_string(tg::kMostStepMessages) +
          " messages up to this layer");
    return true;
  }

  void describe(JobTrace& trace) {
    trace.understood.push_back(
        std::to_string(layers_.size()) + " layers on " + std::to_string(degree(kGpus)) +
        " GPUs, each with a NIC: tensor parallelism " + std::to_string(degree(kTensor)) +
        ", data " + std::to_string(replicas()) + ", experts " + std::to_string(degree(kExpert)) +
        ", pipeline " + std::to_string(degree(kPipeline)));
    trace.left_out = left_out_.lines();
    if (degree(kPipeline) > 1)
      trace.left_out.emplace_back(
          "what stages of the pipeline send each other: all stages do the same at once");
    if (keys_[kCheckpoints].value > 0 && keys_[kCheckpoints].told)
      trace.left_out.push_back(std::to_string(keys_[kCheckpoints].value) +
                               " checkpoints, from which forward passes are computed again");
    trace.left_out.push_back(std::to_string(layers_.size()) + " times of updating weights");
  }

  static constexpr std::uint64_t kMostGpus = 1'000'000;
  std::array<HeadKey, 5> keys_{
      {{"model_parallel_NPU_group"}, {"ep"}, {"pp"}, {"all_gpus"}, {"checkpoints"}}};
  std::size_t line_ = 0;
  bool seen_head_ = false;
  std::optional<std::uint64_t> layers_told_;
  std::vector<SimaiLayer> layers_;
  LeftOut left_out_;
  ConfigIssues issues_;
};

}  // namespace

ConfigResult<JobTrace> parse_simai_workload(std::string_view text) {
  SimaiReader reader;
  tg::for_each_line(text,
                    [&](std::size_t line, const SimaiWords& words) { reader.take(line, words); });
  return reader.result();
}

}  // namespace outrider::lab
