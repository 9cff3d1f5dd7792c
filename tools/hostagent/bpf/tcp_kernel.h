/* The members of the kernel's types that the congestion control uses. Only their names matter:
 * libbpf finds the offset of each member in the running kernel. Names and flags are the
 * kernel's. */
#pragma once

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <linux/bpf.h>

/* BPF_PROG() gives every program a context parameter, which ours do not use. */
#pragma clang diagnostic ignored "-Wunused-parameter"

#define CA_EVENT_ECN_NO_CE 4
#define CA_EVENT_ECN_IS_CE 5

#define CA_ACK_ECE 4 /* flag of in_ack_event */

/* Flags of tcp_sock's ecn_flags. */
#define TCP_ECN_RFC3168 1 /* negotiated; "TCP_ECN_OK" before Linux 6.15 */
#define TCP_ECN_DEMAND_CWR 4

#define ICSK_ACK_NOW 16 /* in icsk_ack.pending: send the ACK without delay */

#define TCP_CONG_NON_RESTRICTED 1
#define TCP_CONG_NEEDS_ECN 2

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct sock {};

struct inet_connection_sock {
  struct {
    __u8 pending;
  } icsk_ack;
  __u64 icsk_ca_priv[13];
};

struct tcp_sock {
  __u32 rcv_nxt;
  __u32 rcv_wup;  /* rcv_nxt when the last ACK was sent */
  __u32 segs_out; /* segments sent, ACKs included */
  __u32 snd_una;
  __u32 snd_nxt;
  __u32 snd_cwnd;
  __u32 snd_ssthresh;
  __u8 ecn_flags;
};

struct tcp_congestion_ops {
  __u32 (*ssthresh)(struct sock* sk);
  void (*cong_avoid)(struct sock* sk, __u32 ack, __u32 acked);
  void (*set_state)(struct sock* sk, __u8 new_state);
  void (*cwnd_event)(struct sock* sk, int event);
  void (*in_ack_event)(struct sock* sk, __u32 flags);
  __u32 (*undo_cwnd)(struct sock* sk);
  void (*init)(struct sock* sk);
  void (*release)(struct sock* sk);
  char name[16];
  __u32 flags;
};

#pragma clang attribute pop
