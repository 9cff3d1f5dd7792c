/* Watches the payload between a worker and its servers and reports the first packet of each
 * burst. Changes, delays and drops nothing. */
#include <linux/tcp.h>

#include "packet.h"
#include "wire.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading. */
const volatile __u64 idle_gap_ns = 0;

struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(max_entries, 256);
  __type(key, struct AgentTarget);
  __type(value, __u32);
} targets SEC(".maps");

/* The connections of jobs that have ended make room for new ones. */
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
                                   const struct AgentFlow* previous) {
  struct AgentOnset* onset = bpf_ringbuf_reserve(&onsets, sizeof(*onset), 0);
  agent_count(&counts, kAgentOnsets);
  if (!onset) {
    agent_count(&counts, kAgentEventsLost);
    return;
  }
  onset->flow = *key;
  onset->sequence = sequence;
  onset->at_ns = now;
  onset->previous_begun_ns = previous ? previous->burst_begun_ns : 0;
  onset->previous_ended_ns = previous ? previous->last_payload_ns : 0;
  onset->previous_bytes = previous ? previous->burst_bytes : 0;
  bpf_ringbuf_submit(onset, 0);
}

static __always_inline void first_payload(const struct AgentFlowKey* key, __u32 sequence,
                                          __u32 payload, __u64 now) {
  struct AgentFlow flow = {.burst_begun_ns = now,
                           .last_payload_ns = now,
                           .burst_bytes = payload,
                           .onsets = 1,
                           .next_sequence = sequence + payload};
  if (bpf_map_update_elem(&flows, key, &flow, BPF_NOEXIST) < 0) {
    agent_count(&counts, kAgentFlowsLost);
    return;
  }
  report(key, sequence, now, 0);
}

/* A flow's packets pass one after the other, so nobody else writes its entry meanwhile. */
static __always_inline void more_payload(const struct AgentFlowKey* key, struct AgentFlow* flow,
                                         __u32 sequence, __u32 payload, __u64 now) {
  const __u32 fresh = sequence + payload - flow->next_sequence;
  if ((__s32)fresh <= 0) { /* sent again: no onset, no more bytes, but the burst lasts */
    flow->last_payload_ns = now;
    return;
  }
  if (now - flow->last_payload_ns >= idle_gap_ns) {
    report(key, sequence, now, flow);
    flow->burst_begun_ns = now;
    flow->burst_bytes = 0;
    flow->onsets += 1;
  }
  flow->burst_bytes += fresh;
  flow->next_sequence = sequence + payload;
  flow->last_payload_ns = now;
}

static __always_inline int watch(struct __sk_buff* skb, int to_server) {
  struct iphdr ip;
  struct tcphdr tcp;
  const int at = agent_ipv4(skb, &ip, IPPROTO_TCP);
  if (at < 0 || bpf_skb_load_bytes(skb, at, &tcp, sizeof(tcp)) < 0) return TC_ACT_UNSPEC;

  const struct AgentTarget server = {.address = to_server ? ip.daddr : ip.saddr,
                                     .port = to_server ? tcp.dest : tcp.source};
  if (!bpf_map_lookup_elem(&targets, &server)) return TC_ACT_UNSPEC;
  /* What came in may have padding behind IP; what goes out may be many segments in one, and
   * too many for the field. */
  const __u32 length = ip.tot_len ? ETH_HLEN + bpf_ntohs(ip.tot_len) : skb->len;
  const __u32 headers = at + tcp.doff * 4;
  if (length <= headers) return TC_ACT_UNSPEC;

  const struct AgentFlowKey key = {.source_address = ip.saddr,
                                   .destination_address = ip.daddr,
                                   .source_port = tcp.source,
                                   .destination_port = tcp.dest};
  const __u32 sequence = bpf_ntohl(tcp.seq), payload = length - headers;
  const __u64 now = bpf_ktime_get_ns();
  agent_count(&counts, kAgentPayloads);
  struct AgentFlow* flow = bpf_map_lookup_elem(&flows, &key);
  if (flow) more_payload(&key, flow, sequence, payload, now);
  else first_payload(&key, sequence, payload, now);
  return TC_ACT_UNSPEC;
}

SEC("tc")
int watch_egress(struct __sk_buff* skb) { return watch(skb, 1); }

SEC("tc")
int watch_ingress(struct __sk_buff* skb) { return watch(skb, 0); }

/* Counts the answers to STARTs of the TOS form; TCP, which gets them as well, ignores them. */
SEC("tc")
int hear_acks(struct __sk_buff* skb) {
  struct iphdr ip;
  struct tcphdr tcp;
  const int at = agent_ipv4(skb, &ip, IPPROTO_TCP);
  if (at < 0 || bpf_skb_load_bytes(skb, at, &tcp, sizeof(tcp)) < 0) return TC_ACT_UNSPEC;
  const struct AgentTarget server = {.address = ip.saddr, .port = tcp.source};
  if (!agent_may_signal(&ip, &tcp) || !bpf_map_lookup_elem(&targets, &server)) return TC_ACT_UNSPEC;
  if ((ip.tos & (AGENT_TOS_START | AGENT_TOS_ACK)) == AGENT_TOS_ACK)
    agent_count(&counts, kAgentTosAcks);
  return TC_ACT_UNSPEC;
}
