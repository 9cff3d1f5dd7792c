/* START as a program at the ingress hook of its receiver finds it: what it says, and whether this
 * host may heed it. The forms of the signal are defined in common/net/udp_signal.h and
 * tos_signal.h. A program that includes this has the maps in which the agent says whom it
 * accepts, and the token bucket of all STARTs. */
#pragma once

#include <linux/tcp.h>
#include <linux/udp.h>

#include "tools/hostagent/bpf/packet.h"
#include "tools/hostagent/bpf/wire.h"

#define SIGNAL_BYTES 64
#define SIGNAL_MAGIC 0x4F525347
#define SIGNAL_UNSIGNED 1 /* version */
#define SIGNAL_SIGNED 2   /* version; a host that answers or holds needs no key */
#define SIGNAL_START 1
#define SIGNAL_ACK 2
#define PACKET_FOR_HOST 0 /* skb->pkt_type: the destination is the interface's MAC address */

/* The token bucket of all STARTs: as many as a switch takes of one source by default. */
#define TOKEN_NS 100000
#define TOKEN_BURST 256

/* The first fields of the message, see udp_signal. */
struct signal_head {
  __u32 magic;
  __u8 version;
  __u8 kind;
};

/* The IPv4 addresses of this host. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, AGENT_MAX_ADDRESSES);
  __type(key, __u32);
  __type(value, __u8);
} own_addresses SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_LPM_TRIE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, AGENT_MAX_ADDRESSES);
  __type(key, struct AgentPrefix);
  __type(value, __u8);
} accepted SEC(".maps");

/* A token is back TOKEN_NS after it was taken, one after the other. */
struct bucket {
  struct bpf_spin_lock lock;
  __u64 full_at_ns; /* when the bucket is full again */
};

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct bucket);
} buckets SEC(".maps");

/* @return whether there was a token */
static __always_inline int take_token(void) {
  const __u32 only = 0;
  const __u64 now = bpf_ktime_get_ns();
  struct bucket* bucket = bpf_map_lookup_elem(&buckets, &only);
  int taken = 0;
  if (!bucket) return 0;
  bpf_spin_lock(&bucket->lock);
  if (bucket->full_at_ns < now) bucket->full_at_ns = now;
  if (bucket->full_at_ns + TOKEN_NS <= now + (__u64)TOKEN_BURST * TOKEN_NS) {
    bucket->full_at_ns += TOKEN_NS;
    taken = 1;
  }
  bpf_spin_unlock(&bucket->lock);
  return taken;
}

enum start_verdict {
  kStartHeeded,
  kStartNotForHost,
  kStartNotAccepted,
  kStartOverRate,
};

/* Says whether this host may heed the START, and takes its token. */
static __always_inline enum start_verdict judge_start(struct __sk_buff* skb,
                                                      const struct agent_packet* packet) {
  const struct AgentPrefix source = {.bits = 32, .address = packet->ip.saddr};
  const __u32 own = packet->ip.daddr;
  struct ethhdr frame;
  if (skb->pkt_type != PACKET_FOR_HOST || bpf_skb_load_bytes(skb, 0, &frame, sizeof(frame)) < 0 ||
      frame.h_source[0] & 1 || !bpf_map_lookup_elem(&own_addresses, &own))
    return kStartNotForHost;
  if (!bpf_map_lookup_elem(&accepted, &source)) return kStartNotAccepted;
  return take_token() ? kStartHeeded : kStartOverRate;
}

static __always_inline int is_start(const struct udphdr* udp, const struct signal_head* head) {
  return udp->len == bpf_htons(sizeof(*udp) + SIGNAL_BYTES) &&
         head->magic == bpf_htonl(SIGNAL_MAGIC) &&
         (head->version == SIGNAL_UNSIGNED || head->version == SIGNAL_SIGNED) &&
         head->kind == SIGNAL_START;
}

/* @return whether the TOS byte of a segment that may be a signal says START */
static __always_inline int is_tos_start(__u8 tos) {
  return (tos & (AGENT_TOS_START | AGENT_TOS_ACK)) == AGENT_TOS_START && tos & AGENT_TOS_CODE;
}
