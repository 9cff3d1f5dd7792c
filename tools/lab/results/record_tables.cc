#include "tools/lab/results/record_tables.h"

#include <cstdint>

namespace outrider::lab {

namespace {

constexpr CellKind kWholeCell = CellKind::kInteger;
constexpr CellKind kRealCell = CellKind::kReal;

/// Returns a number of a report in which one below zero means that it never came.
template <class T>
Cell cell_unless_negative(T value) {
  return value < 0 ? Cell{} : cell_of(value);
}

}  // namespace

bool has_flow_records(const Case& definition, const RunResult&) {
  return definition.observed.flows != 0;
}

std::vector<TableColumn> flow_record_columns() {
  return {{"group", CellKind::kText, "its name in the file"},
          {"sender", CellKind::kText},
          {"receiver", CellKind::kText},
          {"bytes", kWholeCell, "payload"},
          {"arrival_ns", kWholeCell, "it was due"},
          {"established_ns", kWholeCell, "its connection, at the sender"},
          {"delivered_ns", kWholeCell, "its last byte was in order at the receiver"},
          {"slowdown", kRealCell, "completion over the ideal"},
          {"retransmitted_segments", kWholeCell},
          {"rtos", kWholeCell, "retransmission time-outs"}};
}

void write_flow_records_of(RunRows& rows, Runtime, const RunName&, const RunResult& result) {
  for (const auto& group : result.traffic.flow_groups)
    for (const tg::FlowRecord& flow : group.records) {
      constexpr double kPerOne = 1'000;
      const bool delivered = flow.delivered_ns >= 0;
      rows.add(group.name, flow.from, flow.to, flow.bytes, cell_unless_negative(flow.arrival_ns),
               cell_unless_negative(flow.established_ns), cell_unless_negative(flow.delivered_ns),
               delivered ? Cell(static_cast<double>(flow.slowdown_milli) / kPerOne) : Cell{},
               flow.retransmitted, flow.rtos)
          .end();
    }
}

bool has_requests(const Case& definition, const RunResult&) {
  return definition.observed.requests != 0;
}

std::vector<TableColumn> request_columns() {
  return {{"pair", CellKind::kText, "its group in the file, its client and its server"},
          {"answered_ns", kWholeCell, "last byte of the answer was in order"},
          {"latency_ns", kWholeCell, "since the first byte of the request was written"}};
}

void write_requests_of(RunRows& rows, Runtime, const RunName&, const RunResult& result) {
  for (const auto& pair : result.traffic.requests)
    for (const tg::RequestSample& request : pair.samples)
      rows.add(pair.name, request.answered_ns, request.latency_ns).end();
}

bool has_learners(const Case&, const RunResult& result) { return !result.traffic.learners.empty(); }

std::vector<TableColumn> learner_columns() {
  return {{"job", kWholeCell},
          {"parameters", kWholeCell, "of its model"},
          {"gradients", kWholeCell, "of workers, applied completely"},
          {"zeroed_values", kWholeCell, "of gradients, not delivered"},
          {"kept_values", kWholeCell, "of workers' copies whose update was not delivered"},
          {"magnitude", kRealCell, "sum of the magnitudes of all gradients' values"},
          {"zeroed_magnitude", kRealCell, "of these, not delivered"},
          {"first_loss", kRealCell, "before the first update [nats]"},
          {"last_loss", kRealCell, "at the end [nats]"},
          {"least_loss", kRealCell, "of all updates [nats]"},
          {"target_loss", kRealCell, "that is asked for [nats]"},
          {"target_ns", kWholeCell, "first loss at or below the target"},
          {"target_gradients", kWholeCell, "applied by then"},
          {"diverged_ns", kWholeCell, "the loss was no number any more"}};
}

void write_learners_of(RunRows& rows, Runtime, const RunName&, const RunResult& result) {
  for (const tg::LearnerReport& l : result.traffic.learners)
    rows.add(l.job, l.parameters, l.gradients, l.zeroed_values, l.kept_values, l.magnitude,
             l.zeroed_magnitude, l.first_loss, l.last_loss, l.least_loss,
             cell_unless_negative(l.target_loss), cell_unless_negative(l.target_ns),
             cell_unless_negative(l.target_gradients), cell_unless_negative(l.diverged_ns))
        .end();
}

std::vector<TableColumn> loss_columns() {
  return {{"job", kWholeCell},
          {"at_ns", kWholeCell, "instant of the update"},
          {"gradients", kWholeCell, "applied so far"},
          {"loss", kRealCell, "mean over the samples [nats]"}};
}

void write_losses_of(RunRows& rows, Runtime, const RunName&, const RunResult& result) {
  for (const tg::LearnerReport& l : result.traffic.learners)
    for (const tg::LossPoint& point : l.losses)
      rows.add(l.job, point.at_ns, point.gradients, point.loss).end();
}

}  // namespace outrider::lab
