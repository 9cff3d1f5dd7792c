/* Watches the payload between a worker and its servers and reports the first packet of each
 * burst. It changes, delays and drops nothing. */
#include <linux/tcp.h>

#include "packet.h"
#include "wire.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading. */
const volatile __u64 idle_gap_ns = 0;
const volatile __u8 by_cgroup = 0; /* 1: watch `cgroup`; 0: watch `targets` */

/* The cgroup whose sockets' connections are watched. */
struct {
  __uint(type, BPF_MAP_TYPE_CGROUP_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u32);
} cgroup SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 256);
  __type(key, struct AgentTarget);
  __type(value, __u32);
} targets SEC(".maps");

/* LRU, so that connections of ended jobs make room for new ones. */
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 4096);
  __type(key, struct AgentFlowKey);
  __type(value, struct AgentFlow);
} flows SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 256 * 1024);
} onsets SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, kAgentWatchCounts);
  __type(key, __u32);
  __type(value, __u64);
} counts SEC(".maps");

static __always_inline void report(const struct AgentFlowKey* key, __u32 sequence, __u64 now,
                                   const struct AgentFlow* previous, __u32 from_server) {
  struct AgentOnset* onset = bpf_ringbuf_reserve(&onsets, sizeof(*onset), 0);
  agent_count(&counts, kAgentOnsets);
  if (!onset) {
    agent_count(&counts, kAgentEventsLost);
    return;
  }
  onset->flow = *key;
  onset->sequence = sequence;
  onset->from_server = from_server;
  onset->at_ns = now;
  onset->previous_begun_ns = previous ? previous->burst_begun_ns : 0;
  onset->previous_ended_ns = previous ? previous->last_payload_ns : 0;
  onset->previous_bytes = previous ? previous->burst_bytes : 0;
  bpf_ringbuf_submit(onset, 0);
}

static __always_inline void first_payload(const struct AgentFlowKey* key, __u32 sequence,
                                          __u32 payload, __u64 now, int from_server) {
  struct AgentFlow flow = {.burst_begun_ns = now,
                           .last_payload_ns = now,
                           .burst_bytes = payload,
                           .onsets = 1,
                           .next_sequence = sequence + payload,
                           .from_server = from_server};
  if (bpf_map_update_elem(&flows, key, &flow, BPF_NOEXIST) < 0) {
    agent_count(&counts, kAgentFlowsLost);
    return;
  }
  report(key, sequence, now, 0, from_server);
}

/* Needs no lock: a flow's packets pass one after the other, so nothing else writes its entry. */
static __always_inline void more_payload(const struct AgentFlowKey* key, struct AgentFlow* flow,
                                         __u32 sequence, __u32 payload, __u64 now) {
  const __u32 fresh = sequence + payload - flow->next_sequence;
  if ((__s32)fresh <= 0) { /* a retransmission extends the burst, but adds no bytes and no onset */
    flow->last_payload_ns = now;
    return;
  }
  if (now - flow->last_payload_ns >= idle_gap_ns) {
    report(key, sequence, now, flow, flow->from_server);
    flow->burst_begun_ns = now;
    flow->burst_bytes = 0;
    flow->onsets += 1;
  }
  flow->burst_bytes += fresh;
  flow->next_sequence = sequence + payload;
  flow->last_payload_ns = now;
}

/* @param to_server whether the packet leaves this host, on which the workers run */
static __always_inline int is_watched(struct __sk_buff* skb, const struct AgentFlowKey* key,
                                      int to_server) {
  if (by_cgroup) {
    if (to_server) return bpf_skb_under_cgroup(skb, &cgroup, 0) == 1;
    /* An incoming packet has no socket yet: it is watched if the opposite flow is known. */
    const struct AgentFlowKey asked = {.source_address = key->destination_address,
                                       .destination_address = key->source_address,
                                       .source_port = key->destination_port,
                                       .destination_port = key->source_port};
    return bpf_map_lookup_elem(&flows, &asked) != 0;
  }
  const struct AgentTarget server = {
      .address = to_server ? key->destination_address : key->source_address,
      .port = to_server ? key->destination_port : key->source_port};
  return bpf_map_lookup_elem(&targets, &server) != 0;
}

/* Reads a packet of a watched connection. @return 0, or -1 if it is none */
static __always_inline int read_watched(struct __sk_buff* skb, int to_server,
                                        struct agent_packet* packet, struct tcphdr* tcp,
                                        struct AgentFlowKey* key) {
  if (agent_ipv4(skb, packet, IPPROTO_TCP) < 0) return -1;
  if (bpf_skb_load_bytes(skb, packet->payload_at, tcp, sizeof(*tcp)) < 0) return -1;
  key->source_address = packet->ip.saddr;
  key->destination_address = packet->ip.daddr;
  key->source_port = tcp->source;
  key->destination_port = tcp->dest;
  return is_watched(skb, key, to_server) ? 0 : -1;
}

static __always_inline int watch(struct __sk_buff* skb, int to_server) {
  struct agent_packet packet;
  struct tcphdr tcp;
  struct AgentFlowKey key;
  if (read_watched(skb, to_server, &packet, &tcp, &key) < 0) return TC_ACT_UNSPEC;
  /* The frame of an incoming packet may be padded, so IP's length is used. An outgoing packet may
   * hold many segments that are too long together for that field, which is then 0. */
  const __u16 total = packet.ip.tot_len;
  const __u32 length = total ? packet.ip_at + bpf_ntohs(total) : skb->len;
  const __u32 headers = packet.payload_at + tcp.doff * 4;
  if (length <= headers) return TC_ACT_UNSPEC;

  const __u32 sequence = bpf_ntohl(tcp.seq), payload = length - headers;
  const __u64 now = bpf_ktime_get_ns();
  agent_count(&counts, kAgentPayloads);
  struct AgentFlow* flow = bpf_map_lookup_elem(&flows, &key);
  if (flow) more_payload(&key, flow, sequence, payload, now);
  else first_payload(&key, sequence, payload, now, !to_server);
  return TC_ACT_UNSPEC;
}

SEC("tc")
int watch_egress(struct __sk_buff* skb) { return watch(skb, 1); }

SEC("tc")
int watch_ingress(struct __sk_buff* skb) { return watch(skb, 0); }

/* Counts the answers to STARTs of the TOS form. TCP gets them as well and ignores them. */
SEC("tc")
int hear_acks(struct __sk_buff* skb) {
  struct agent_packet packet;
  struct tcphdr tcp;
  struct AgentFlowKey key;
  if (read_watched(skb, 0, &packet, &tcp, &key) < 0) return TC_ACT_UNSPEC;
  if (agent_may_signal(&packet.ip, &tcp) &&
      (packet.ip.tos & (AGENT_TOS_START | AGENT_TOS_ACK)) == AGENT_TOS_ACK)
    agent_count(&counts, kAgentTosAcks);
  return TC_ACT_UNSPEC;
}
