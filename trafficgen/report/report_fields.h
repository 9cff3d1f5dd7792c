#pragma once

#include <concepts>
#include <type_traits>

#include "common/core/figure.h"
#include "common/telemetry/identity_fields.h"
#include "trafficgen/report/report.h"

namespace outrider::tg {

// Bindings of the records, see common/telemetry/json_fields.h, in the order of the structs.

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, BurstRecord>
void fields(V& v, R& r) {
  v.value("identity", r.identity);
  v.value(Described{"bytes", "payload"}, r.bytes);
  v.value(Described{"due_ns", "gradients are ready, or parameters for a pull"}, r.due_ns);
  v.value(Described{"start_sent_ns", "its first START left"}, r.start_sent_ns);
  v.value(Described{"ack_received_ns", "the acknowledgment of the START came"}, r.ack_received_ns);
  v.value(Described{"released_ns", "it was handed to the transport"}, r.released_ns);
  v.value(Described{"first_sent_ns", "its first data byte left the NIC"}, r.first_sent_ns);
  v.value(Described{"delivered_ns", "its last byte was in order at the receiver"}, r.delivered_ns);
  v.value(Described{"rtos", "retransmission time-outs of its connection while it went"}, r.rtos);
  v.value(Described{"retransmitted", "segments that were sent again"}, r.retransmitted);
  v.value(
      Described{"ack_timed_out", "1: the burst was sent without an acknowledgment of its START"},
      r.ack_timed_out);
  v.value("delivered_bytes", r.delivered_bytes);
  v.value(
      Described{"lost_bytes", "sent and not arrived, counted every time; with bounded loss alone"},
      r.lost_bytes);
  v.value(Described{"unsent_bytes",
                    "never sent, because the receiver had enough; with bounded loss alone"},
          r.unsent_bytes);
  v.value("times_ns", r.times);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, IterationRecord>
void fields(V& v, R& r) {
  v.value("job", r.job);
  v.value("worker", r.worker);
  v.value("iteration", r.iteration);
  v.value(Described{"begin_ns", "the worker began to compute"}, r.begin_ns);
  v.value(Described{"ready_ns", "its gradients were ready, as planned"}, r.ready_ns);
  v.value(Described{"pushed_ns", "its push was delivered to all servers, or to the ring"},
          r.pushed_ns);
  v.value(Described{"cleared_ns", "no other worker was waited for any more"}, r.cleared_ns);
  v.value(Described{"end_ns", "its next forward pass could begin"}, r.end_ns);
  v.value(Described{"first_gradient_ns", "its first gradient was ready"}, r.first_gradient_ns);
  v.value(Described{"first_layer_ns", "it had the parameters of tensor 0"}, r.first_layer_ns);
  v.value(Described{"parameters_ns", "it had all parameters"}, r.parameters_ns);
  v.value(Described{"forward_wait_ns", "waited for parameters of later layers in the forward pass"},
          r.forward_wait_ns);
  v.value(Described{"nic_sending_ns", "time that its NIC sent since its last parameters_ns"},
          r.nic_sending_ns);
  v.value(Described{"nic_receiving_ns", "the same of receiving"}, r.nic_receiving_ns);
  v.value(Described{"ahead", "iterations ahead of the slowest worker, at its begin"}, r.ahead);
  v.value(Described{"staleness", "updates of others since it read"}, r.staleness);
  v.value(Described{"straggled", "1: a straggler rule slowed it"}, r.straggled);
  v.value(Described{"blocked_ns", "held at the gate after its push, with R2SP"}, r.blocked_ns);
  v.value(Described{"batch", "samples, if R2SP tunes them"}, r.batch);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, StepRecord>
void fields(V& v, R& r) {
  v.value("job", r.job);
  v.value("worker", r.worker);
  v.value("iteration", r.iteration);
  v.value(Described{"step", "its place in the list, from 0"}, r.step);
  v.value(Described{"begin_ns", "computing began; of another step: all steps before it had ended"},
          r.begin_ns);
  v.value(Described{"end_ns", "its computing was over, or its data were there"}, r.end_ns);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, JobReport>
void fields(V& v, R& r) {
  v.value("job", r.job);
  v.value("name", r.name);
  v.value("workers", r.workers);
  v.value("iterations", r.iterations);
  v.value("straggled", r.straggled);
  v.value("begin_ns", r.begin_ns);
  v.value("end_ns", r.end_ns);
  v.value("finished", r.finished);
  v.value("iteration_p50_ns", r.iteration_p50_ns);
  v.value("iteration_p99_ns", r.iteration_p99_ns);
  v.value("iteration_max_ns", r.iteration_max_ns);
  v.value("compute_mean_ns", r.compute_mean_ns);
  v.value("wait_mean_ns", r.wait_mean_ns);
  v.value("wait_max_ns", r.wait_max_ns);
  v.value("first_layer_mean_ns", r.first_layer_mean_ns);
  v.value("forward_wait_mean_ns", r.forward_wait_mean_ns);
  v.value("nic_send_idle_share", r.nic_send_idle_share);
  v.value("nic_receive_idle_share", r.nic_receive_idle_share);
  v.value("ahead_max", r.ahead_max);
  v.value("worker_blocked_mean_ns", r.worker_blocked_mean_ns);
  v.value("r2sp_period_ns", r.r2sp_period_ns);
  v.value("r2sp_gap_ns", r.r2sp_gap_ns);
  v.value("staleness", r.staleness);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, LossPoint>
void fields(V& v, R& r) {
  v.value("at_ns", r.at_ns);
  v.value("gradients", r.gradients);
  v.value("loss", r.loss);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, LearnerReport>
void fields(V& v, R& r) {
  v.value("job", r.job);
  v.value("name", r.name);
  v.value("parameters", r.parameters);
  v.value("gradients", r.gradients);
  v.value("samples", r.samples);
  v.value("zeroed_values", r.zeroed_values);
  v.value("kept_values", r.kept_values);
  v.value("magnitude", r.magnitude);
  v.value("zeroed_magnitude", r.zeroed_magnitude);
  v.value("first_loss", r.first_loss);
  v.value("last_loss", r.last_loss);
  v.value("least_loss", r.least_loss);
  v.value("target_loss", r.target_loss);
  v.value("target_ns", r.target_ns);
  v.value("target_gradients", r.target_gradients);
  v.value("diverged_ns", r.diverged_ns);
  v.value("losses_every", r.losses_every);
  v.value("losses", r.losses);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, FlowReport>
void fields(V& v, R& r) {
  v.value("name", r.name);
  v.value("traffic_class", r.traffic_class);
  fields(v, base_of<FlowCounts>(r));
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, ConnectionSample>
void fields(V& v, R& r) {
  v.value(Described{"at_ns", "instant of the sample"}, r.at_ns);
  v.value("host", r.host);
  v.value(Described{"peer", "the other end"}, r.peer);
  v.value("transport", r.transport);
  v.value("source_port", r.source_port);
  v.value("destination_port", r.destination_port);
  v.value("mss_bytes", r.mss_bytes);
  v.value(
      Described{"rate_bits_per_second", "at which it paces packets; empty: it has a window alone"},
      r.rate_bits_per_second);
  v.value(Described{"target_bits_per_second", "to which DCQCN raises the rate"},
          r.target_bits_per_second);
  v.value("cwnd_bytes", r.cwnd_bytes);
  v.value("ssthresh_bytes", r.ssthresh_bytes);
  v.value(Described{"alpha", "estimate of DCTCP, Prague or DCQCN"}, r.alpha);
  v.value(Described{"in_flight_bytes", "sent and not yet acknowledged"}, r.in_flight_bytes);
  v.value(Described{"acked_bytes", "since the connection began"}, r.acked_bytes);
  v.value("srtt_ns", r.srtt_ns);
  v.value("retransmitted", r.retransmitted);
  v.value("rtos_data", r.rtos_data);
  v.value("fast_recoveries", r.fast_recoveries);
  v.value("ece_reductions", r.ece_reductions);
  v.value("cnps_received", r.cnps_received);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, RequestSample>
void fields(V& v, R& r) {
  v.value("answered_ns", r.answered_ns);
  v.value("latency_ns", r.latency_ns);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, RequestReport>
void fields(V& v, R& r) {
  v.value("name", r.name);
  fields(v, base_of<RequestCounts>(r));
  v.value("latency_ns", r.latency_ns);
  v.value("samples_not_kept", r.samples_not_kept);
  v.value("samples", r.samples);
}

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, GoodputBin>
void fields(V& v, R& r) { v.value("delivered_bytes", r.delivered_bytes); }

}  // namespace outrider::tg
