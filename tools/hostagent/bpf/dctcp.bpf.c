/* DCTCP as a congestion control of the kernel's TCP. It is both ends: a receiver that echoes
 * each CE, and a sender that reduces its window by the share of bytes that were echoed.
 *
 * Source: RFC 8257, sections 3.2 to 3.5. The kernel decides when a window is reduced: once per
 * window of data for marks (state CWR), and for losses as with its Reno. Deviations: windows
 * count segments, as everywhere in the kernel's TCP; a loss halves the congestion window, not
 * the data in flight. */
#include "dctcp.h"

#include <linux/in.h>
#include <linux/tcp.h>

#include "tcp_kernel.h"
#include "wire.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

extern void tcp_reno_cong_avoid(struct sock* sk, __u32 ack, __u32 acked) __ksym;

/* The congestion control of a connection without ECN. It is an array, because a literal would be
 * in a section that cannot be loaded here. */
char fallback[] = "reno";

/* The state of a connection. */
struct dctcp {
  __u32 alpha;        /* share of marked bytes, in units of 1 / AGENT_DCTCP_ONE */
  __u32 window_end;   /* sequence number after which the observation window ends */
  __u32 acked_bytes;  /* acknowledged in this observation window */
  __u32 echoed_bytes; /* those of them acknowledged with ECE */
  __u32 counted_una;  /* snd_una up to which acked_bytes has counted */
  __u32 cwnd_before;  /* snd_cwnd when the last reduction began */
  __u32 settled_nxt;  /* rcv_nxt before the current segment */
  __u32 sent_at_change; /* segs_out after CE changed last */
  __u8 changed;       /* CE changed with the last data segment */
  __u8 ce;            /* DCTCP.CE: the last data segment carried CE */
  __u8 reducing;      /* cwnd_before belongs to the reduction in force */
  __u8 ready;         /* set by init; ACKs of the handshake come before, with all fields 0 */
};
_Static_assert(sizeof(struct dctcp) <= sizeof(((struct inet_connection_sock*)0)->icsk_ca_priv),
               "the kernel has no more room");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, kAgentDctcpCounts);
  __type(key, __u32);
  __type(value, __u64);
} counts SEC(".maps");

/* Adds atomically, because a program of the receive path may interrupt one that runs in a system
 * call on the same CPU. */
static __always_inline void add(__u32 which, __u64 amount) {
  __u64* count = bpf_map_lookup_elem(&counts, &which);
  if (count) __sync_fetch_and_add(count, amount);
}

static __always_inline struct dctcp* state_of(struct sock* sk) {
  return (struct dctcp*)((struct inet_connection_sock*)sk)->icsk_ca_priv;
}

static __always_inline void begin_window(struct dctcp* ca, __u32 end) {
  add(kAgentDctcpAckedBytes, ca->acked_bytes);
  add(kAgentDctcpEchoedBytes, ca->echoed_bytes);
  ca->acked_bytes = 0;
  ca->echoed_bytes = 0;
  ca->window_end = end;
}

SEC("struct_ops/dctcp_init")
void BPF_PROG(dctcp_init, struct sock* sk) {
  const struct tcp_sock* tp = (struct tcp_sock*)sk;
  struct dctcp* ca = state_of(sk);
  if (!(tp->ecn_flags & TCP_ECN_RFC3168)) {
    add(kAgentDctcpWithoutEcn, 1);
    bpf_setsockopt(sk, IPPROTO_TCP, TCP_CONGESTION, fallback, sizeof(fallback));
    return;
  }
  add(kAgentDctcpConnections, 1);
  ca->alpha = AGENT_DCTCP_ONE; /* cautious: behaves as Reno until there is an estimate */
  ca->window_end = tp->snd_nxt;
  ca->acked_bytes = 0;
  ca->echoed_bytes = 0;
  ca->counted_una = tp->snd_una;
  ca->cwnd_before = 0;
  ca->settled_nxt = tp->rcv_nxt;
  ca->changed = 0;
  ca->ce = 0;
  ca->reducing = 0;
  ca->ready = 1;
}

SEC("struct_ops/dctcp_release")
void BPF_PROG(dctcp_release, struct sock* sk) { begin_window(state_of(sk), 0); }

static __always_inline void set_echo(struct tcp_sock* tp, __u8 ce) {
  if (ce) tp->ecn_flags |= TCP_ECN_DEMAND_CWR;
  else tp->ecn_flags &= ~TCP_ECN_DEMAND_CWR;
}

/* Whether segments before the current one still wait for their ACK. An ACK moves rcv_wup to
 * rcv_nxt, and so does the one that on_data() sends although it stops before the segment with
 * the new state. That segment waits as long as nothing else is sent: from Linux 6.7 on, ACKs for
 * segments that arrived while a program used the socket are sent only when it lets go of it
 * (net.ipv4.tcp_backlog_ack_defer). */
static __always_inline int waiting_for_ack(const struct tcp_sock* tp, const struct dctcp* ca) {
  return (__s32)(ca->settled_nxt - tp->rcv_wup) > 0 ||
         (ca->changed && tp->segs_out == ca->sent_at_change);
}

/* Section 3.2: an ACK is sent at once when CE changes. Before it, segments that wait for a
 * delayed ACK are acknowledged with the old state, or the sender would count them wrongly. The
 * kernel calls this for each ECT segment, after it has moved rcv_nxt beyond the segment. */
static __always_inline void on_data(struct sock* sk, __u8 ce) {
  struct tcp_sock* tp = (struct tcp_sock*)sk;
  struct inet_connection_sock* icsk = (struct inet_connection_sock*)sk;
  struct dctcp* ca = state_of(sk);
  if (!ca->ready) return;
  const __u8 changed = ce != ca->ce;
  if (changed) {
    if (waiting_for_ack(tp, ca)) {
      set_echo(tp, ca->ce);
      bpf_tcp_send_ack(tp, ca->settled_nxt);
    }
    icsk->icsk_ack.pending |= ICSK_ACK_NOW;
    ca->ce = ce;
    ca->sent_at_change = tp->segs_out;
    add(kAgentDctcpCeChanges, 1);
  }
  ca->changed = changed;
  ca->settled_nxt = tp->rcv_nxt;
  set_echo(tp, ce);
}

SEC("struct_ops/dctcp_cwnd_event")
void BPF_PROG(dctcp_cwnd_event, struct sock* sk, int event) {
  if (event == CA_EVENT_ECN_IS_CE) on_data(sk, 1);
  if (event == CA_EVENT_ECN_NO_CE) on_data(sk, 0);
}

/* Section 3.3: updates the estimate once per window of data. */
SEC("struct_ops/dctcp_in_ack_event")
void BPF_PROG(dctcp_in_ack_event, struct sock* sk, __u32 flags) {
  const struct tcp_sock* tp = (struct tcp_sock*)sk;
  struct dctcp* ca = state_of(sk);
  const __u32 acked_bytes = tp->snd_una - ca->counted_una;
  if (!ca->ready) return;
  ca->counted_una = tp->snd_una;
  ca->acked_bytes += acked_bytes;
  if (flags & CA_ACK_ECE) ca->echoed_bytes += acked_bytes;
  if ((__s32)(tp->snd_una - ca->window_end) <= 0 || ca->acked_bytes == 0) return;
  ca->alpha = agent_dctcp_alpha(ca->alpha, ca->acked_bytes, ca->echoed_bytes);
  begin_window(ca, tp->snd_nxt);
}

/* Begins a reduction. The kernel gives the reason afterwards, by dctcp_set_state(). */
SEC("struct_ops/dctcp_ssthresh")
__u32 BPF_PROG(dctcp_ssthresh, struct sock* sk) {
  const struct tcp_sock* tp = (struct tcp_sock*)sk;
  struct dctcp* ca = state_of(sk);
  ca->cwnd_before = tp->snd_cwnd;
  ca->reducing = 1;
  return agent_dctcp_after_marks(tp->snd_cwnd, ca->alpha);
}

SEC("struct_ops/dctcp_set_state")
void BPF_PROG(dctcp_set_state, struct sock* sk, __u8 new_state) {
  struct tcp_sock* tp = (struct tcp_sock*)sk;
  struct dctcp* ca = state_of(sk);
  if (new_state == TCP_CA_Open) ca->reducing = 0;
  if (!ca->reducing) return; /* e.g. the path MTU has shrunk, which is no congestion */
  if (new_state == TCP_CA_CWR) add(kAgentDctcpMarkReductions, 1);
  if (new_state != TCP_CA_Recovery && new_state != TCP_CA_Loss) return;
  tp->snd_ssthresh = agent_dctcp_after_loss(ca->cwnd_before);
  add(kAgentDctcpLossReductions, 1);
}

/* Restores the window after the kernel found that there was no loss. */
SEC("struct_ops/dctcp_undo_cwnd")
__u32 BPF_PROG(dctcp_undo_cwnd, struct sock* sk) {
  const struct tcp_sock* tp = (struct tcp_sock*)sk;
  const struct dctcp* ca = state_of(sk);
  return tp->snd_cwnd > ca->cwnd_before ? tp->snd_cwnd : ca->cwnd_before;
}

/* Section 3.4: windows grow as those of a conventional TCP. */
SEC("struct_ops/dctcp_cong_avoid")
void BPF_PROG(dctcp_cong_avoid, struct sock* sk, __u32 ack, __u32 acked) {
  tcp_reno_cong_avoid(sk, ack, acked);
}

#define DCTCP_OPS(who)                                                                    \
  {                                                                                       \
    .ssthresh = (void*)dctcp_ssthresh, .cong_avoid = (void*)dctcp_cong_avoid,             \
    .set_state = (void*)dctcp_set_state, .cwnd_event = (void*)dctcp_cwnd_event,           \
    .in_ack_event = (void*)dctcp_in_ack_event, .undo_cwnd = (void*)dctcp_undo_cwnd,       \
    .init = (void*)dctcp_init, .release = (void*)dctcp_release, .name = AGENT_DCTCP_NAME, \
    .flags = TCP_CONG_NEEDS_ECN | (who),                                                  \
  }

/* The agent creates one of the two, because the kernel fixes at creation who may choose it. */
SEC(".struct_ops")
struct tcp_congestion_ops for_root = DCTCP_OPS(0);
SEC(".struct_ops")
struct tcp_congestion_ops for_everyone = DCTCP_OPS(TCP_CONG_NON_RESTRICTED);
