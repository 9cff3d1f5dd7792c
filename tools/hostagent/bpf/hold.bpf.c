/* Lowers the receive window in the ACKs that leave this host, so that the senders of background
 * hold back before a burst that a START has announced. It writes the window field and the
 * checksum; it drops, delays and sends nothing. The arithmetic is in hold.h. */
#include <stddef.h>

#include "hold.h"
#include "start.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading. */
const volatile __u16 signal_port = 0; /* network byte order; 0: the TOS form */
const volatile __u64 bytes_per_s = 0; /* of the bottleneck */
const volatile __u64 given_rtt_ns = 0; /* 0: measured */
const volatile __u32 floor_permille = 0; /* of the rate that background keeps during a burst */
const volatile __u32 standing_permille = 0; /* of what a connection lately had in flight */
const volatile __u16 job_ports[AGENT_MAX_JOB_PORTS] = {}; /* network byte order; 0: none */
const volatile struct HoldRules rules = {};

#define EPOCH_NS 100000000ULL    /* of the largest flight, and at least EPOCH_RTTS */
#define EPOCH_RTTS 4
#define ACTIVE_NS 100000000ULL   /* of the count of connections that share */
#define PROBE_NS 10000000000ULL  /* the base round trip is measured anew after so long */
#define SILENT_SEGMENTS 16       /* without an ACK: ACKs leave elsewhere */

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, kAgentHoldCounts);
  __type(key, __u32);
  __type(value, __u64);
} counts SEC(".maps");

/* Connections, by the direction of the data that this host receives. LRU, so that those that
 * ended unseen make room. */
struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 4096);
  __type(key, struct AgentFlowKey);
  __type(value, struct AgentHoldFlow);
} flows SEC(".maps");

/* A SYN or SYN-ACK of this host that is not answered yet. Apart, so that a flood of SYNs drives
 * out no connection. */
struct opening {
  __u64 at_ns;
  __u32 expected; /* the number that acknowledges it */
  __u16 segment_bytes;
  __u8 scale;
  __u8 scaled; /* it has the option */
};

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 1024);
  __type(key, struct AgentFlowKey);
  __type(value, struct opening);
} openings SEC(".maps");

/* Connections whose handshake was not seen: they are counted, and nothing else. */
struct stranger {
  __u32 segments;
  __u32 answered;
};

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 1024);
  __type(key, struct AgentFlowKey);
  __type(value, struct stranger);
} strangers SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct AgentHoldShared);
} shared SEC(".maps");

/* Until when the agent is taken to run. Without it no START is heeded: the filter of an agent that
 * was killed stays, but holds nobody for long. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} alive_until_ns SEC(".maps");

static __always_inline struct AgentHoldShared* the_shared(void) {
  const __u32 only = 0;
  return bpf_map_lookup_elem(&shared, &only);
}

static __always_inline struct HoldRules the_rules(void) {
  return (struct HoldRules){.lead_ns = rules.lead_ns,
                            .wait_ns = rules.wait_ns,
                            .idle_ns = rules.idle_ns,
                            .longest_ns = rules.longest_ns,
                            .window_ns = rules.window_ns ? rules.window_ns : 1,
                            .sender_ns = rules.sender_ns,
                            .host_ns = rules.host_ns};
}

/* -- TCP's options */

#define OPTION_END 0
#define OPTION_NOP 1
#define OPTION_MSS 2
#define OPTION_SCALE 3
#define OPTION_MD5 19
#define OPTION_AO 29
#define OPTIONS_BYTES 40

struct syn_options {
  __u16 segment_bytes;
  __u8 scale;
  __u8 scaled;
  __u8 authenticated;
};

static __always_inline struct syn_options read_syn_options(struct __sk_buff* skb, int tcp_at,
                                                           const struct tcphdr* tcp) {
  struct syn_options found = {.segment_bytes = 536}; /* RFC 9293, section 3.7.1 */
  const int end = tcp->doff * 4;
  int at = sizeof(*tcp);
  for (int i = 0; i < OPTIONS_BYTES; ++i) {
    __u8 option[4] = {};
    if (at >= end || bpf_skb_load_bytes(skb, tcp_at + at, option, 2) < 0) break;
    if (option[0] == OPTION_END) break;
    if (option[0] == OPTION_NOP) {
      at += 1;
      continue;
    }
    if (option[1] < 2) break;
    if (option[0] == OPTION_MD5 || option[0] == OPTION_AO) found.authenticated = 1;
    if (option[0] == OPTION_MSS && bpf_skb_load_bytes(skb, tcp_at + at, option, 4) == 0)
      found.segment_bytes = option[2] << 8 | option[3];
    if (option[0] == OPTION_SCALE && bpf_skb_load_bytes(skb, tcp_at + at, option, 3) == 0) {
      found.scaled = 1;
      found.scale = option[2] > 14 ? 14 : option[2]; /* RFC 7323, section 2.3 */
    }
    at += option[1];
  }
  return found;
}

struct timestamps {
  __be32 layout;
  __be32 value;
  __be32 echo;
};

/* Reads timestamps where RFC 7323, appendix A, recommends them. @return whether they are there */
static __always_inline int read_timestamps(struct __sk_buff* skb, int tcp_at,
                                           const struct tcphdr* tcp, struct timestamps* found) {
  if (tcp->doff * 4 < (int)(sizeof(*tcp) + sizeof(*found))) return 0;
  if (bpf_skb_load_bytes(skb, tcp_at + sizeof(*tcp), found, sizeof(*found)) < 0) return 0;
  return found->layout == bpf_htonl(0x0101080A);
}

/* -- Connections */

static __always_inline int is_job_port(__be16 port) {
#pragma unroll
  for (int i = 0; i < AGENT_MAX_JOB_PORTS; ++i)
    if (port && job_ports[i] == port) return 1;
  return 0;
}

/* Notes a connection whose handshake is complete.
 * @param acknowledged of the sender's data: its SYN alone. @param rtt_ns of the handshake */
static __always_inline void add_flow(const struct AgentFlowKey* key, const struct opening* opening,
                                     __u32 acknowledged, __u64 rtt_ns) {
  struct AgentHoldFlow flow = {.rtt_ns = rtt_ns,
                               .shortest_rtt_ns = rtt_ns,
                               .recent_rtt_ns = rtt_ns,
                               .acknowledged = acknowledged,
                               .edge = acknowledged + 65535, /* a SYN's window has no scale */
                               .end = acknowledged,
                               .segment_bytes = opening->segment_bytes,
                               .scale = opening->scale,
                               .known = 1,
                               .has_edge = 1,
                               .job_port = is_job_port(key->destination_port)};
  if (bpf_map_update_elem(&flows, key, &flow, BPF_ANY) == 0)
    agent_count(&counts, kHoldConnections);
}

/* A SYN or SYN-ACK of this host leaves. The SYN-ACK of Linux, as RFC 7323 demands, has a scale
 * only if the SYN had one. */
static __always_inline void on_own_syn(struct __sk_buff* skb, int tcp_at,
                                       const struct tcphdr* tcp, const struct AgentFlowKey* key) {
  const struct syn_options options = read_syn_options(skb, tcp_at, tcp);
  bpf_map_delete_elem(&flows, key);
  if (options.authenticated) {
    agent_count(&counts, kHoldAuthenticated);
    return;
  }
  const struct opening opening = {.at_ns = bpf_ktime_get_ns(),
                                  .expected = bpf_ntohl(tcp->seq) + 1,
                                  .segment_bytes = options.segment_bytes,
                                  .scale = options.scale,
                                  .scaled = options.scaled};
  bpf_map_update_elem(&openings, key, &opening, BPF_ANY);
}

/* A segment comes that may acknowledge this host's SYN or SYN-ACK. @return whether it does */
static __always_inline int on_syn_answer(struct __sk_buff* skb, int tcp_at,
                                         const struct tcphdr* tcp, const struct AgentFlowKey* key,
                                         __u64 now) {
  const struct opening* found = bpf_map_lookup_elem(&openings, key);
  if (!found || !tcp->ack || tcp->rst || bpf_ntohl(tcp->ack_seq) != found->expected) return 0;
  struct opening opening = *found;
  __u32 acknowledged = bpf_ntohl(tcp->seq);
  if (tcp->syn) {
    const struct syn_options options = read_syn_options(skb, tcp_at, tcp);
    if (!options.scaled) opening.scale = 0;
    acknowledged += 1;
  }
  bpf_map_delete_elem(&openings, key);
  add_flow(key, &opening, acknowledged, now - opening.at_ns);
  return 1;
}

static __always_inline void on_stranger(const struct AgentFlowKey* key) {
  struct stranger* stranger = bpf_map_lookup_elem(&strangers, key);
  if (!stranger) {
    const struct stranger fresh = {.segments = 1};
    if (bpf_map_update_elem(&strangers, key, &fresh, BPF_NOEXIST) == 0)
      agent_count(&counts, kHoldWithoutHandshake);
    return;
  }
  if (++stranger->segments == SILENT_SEGMENTS && !stranger->answered)
    agent_count(&counts, kHoldAnsweredElsewhere);
}

/* -- What comes in */

static __always_inline void count_active(struct AgentHoldFlow* flow, __u32 payload, __u64 now) {
  const __u32 epoch = now / ACTIVE_NS;
  struct AgentHoldShared* all = the_shared();
  if (!all) return;
  if (all->active_epoch != epoch) {
    bpf_spin_lock(&all->lock);
    if (all->active_epoch != epoch) {
      all->active_before = all->active_epoch + 1 == epoch ? all->active : 0;
      all->active = 0;
      all->active_epoch = epoch;
    }
    bpf_spin_unlock(&all->lock);
  }
  if (flow->active_epoch != epoch) {
    flow->active_epoch = epoch;
    flow->active_bytes = 0;
    flow->active = 0;
  }
  flow->active_bytes += payload;
  if (flow->active || flow->active_bytes < HOLD_LEAST_SEGMENTS * flow->segment_bytes) return;
  flow->active = 1;
  __sync_fetch_and_add(&all->active, 1);
}

/* The data that the timed ACK has let go: they are one round trip behind it, and what lies
 * between its number and theirs is what the sender has in flight. */
static __always_inline void sample(struct AgentHoldFlow* flow, const struct HoldTable* table,
                                   __u32 end, __u64 now) {
  const __u64 rtt_ns = now - flow->mark_ns;
  const __u32 flight = end - flow->mark_acknowledged;
  const int held = now < table->held_until_ns;
  const int released = !held && now - table->held_until_ns > 2 * rtt_ns;
  flow->recent_rtt_ns = rtt_ns;
  if (flow->probe_from_ns && flow->mark_ns >= flow->probe_from_ns &&
      now >= table->running_until_ns) {
    flow->rtt_ns = flow->shortest_rtt_ns = rtt_ns;
    flow->rtt_at_ns = now;
    flow->probe_from_ns = 0;
  } else if (rtt_ns < flow->shortest_rtt_ns) { /* one alone may be an accident of a busy host */
    flow->rtt_ns = flow->shortest_rtt_ns;
    flow->shortest_rtt_ns = rtt_ns;
  } else if (rtt_ns < flow->rtt_ns) {
    flow->rtt_ns = rtt_ns;
  }
  if (!released) return; /* what it has in flight is our doing */
  if (now - flow->epoch_ns >= hold_later(EPOCH_NS, EPOCH_RTTS * rtt_ns)) {
    flow->epoch_ns = now;
    flow->flight_before = flow->flight;
    flow->flight = 0;
    flow->limited = 0;
  }
  if ((__s32)flight > 0 && flight > flow->flight) flow->flight = flight;
  if ((__s32)(flow->edge - end) < (__s32)flow->segment_bytes) flow->limited = 1;
}

static __always_inline void on_data(struct __sk_buff* skb, int tcp_at, const struct tcphdr* tcp,
                                    const struct AgentFlowKey* key, struct AgentHoldFlow* flow,
                                    __u32 payload, __u64 now) {
  const __u32 end = bpf_ntohl(tcp->seq) + payload;
  struct AgentHoldShared* all = the_shared();
  if (!all) return;
  if ((__s32)(end - flow->acknowledged) <= 0) return; /* sent again for nothing */
  if (flow->has_edge && (__s32)(end - flow->edge) > 1 << flow->scale) {
    agent_count(&counts, kHoldOutOfWindow);
    return;
  }
  const __s32 fresh = (__s32)(end - flow->end);
  if (flow->slot && flow->has_start) {
    const struct HoldRules of = the_rules();
    bpf_spin_lock(&all->lock);
    hold_payload(&all->table, &of, flow->slot - 1, key, end, now);
    bpf_spin_unlock(&all->lock);
  }
  if (flow->known && !flow->job_port && now >= flow->job_until_ns)
    count_active(flow, payload, now);
  if (fresh <= 0) return;
  flow->end = end;
  flow->sent_bytes += fresh;
  struct timestamps stamps;
  if (!flow->marked || !read_timestamps(skb, tcp_at, tcp, &stamps)) return;
  const __s32 past = (__s32)(bpf_ntohl(stamps.echo) - flow->mark_timestamp);
  if (past == 0) sample(flow, &all->table, end, now);
  if (past >= 0) flow->marked = 0;
}

/* -- STARTs */

/* @return whether this host has the connection, also if its handshake was not seen */
static __always_inline int has_connection(struct __sk_buff* skb, const struct AgentFlowKey* key) {
  struct bpf_sock_tuple tuple = {.ipv4 = {.saddr = key->source_address,
                                          .daddr = key->destination_address,
                                          .sport = key->source_port,
                                          .dport = key->destination_port}};
  struct bpf_sock* sock =
      bpf_sk_lookup_tcp(skb, &tuple, sizeof(tuple.ipv4), BPF_F_CURRENT_NETNS, 0);
  if (!sock) return 0;
  const int connected = sock->state != BPF_TCP_LISTEN && sock->state != BPF_TCP_CLOSE;
  bpf_sk_release(sock);
  return connected;
}

static __always_inline int agent_runs(__u64 now) {
  const __u32 only = 0;
  const __u64* until = bpf_map_lookup_elem(&alive_until_ns, &only);
  return until && now < *until;
}

/* @return the connection that a START names, if this host has it */
static __always_inline struct AgentHoldFlow* flow_of_start(struct __sk_buff* skb,
                                                           const struct AgentFlowKey* key) {
  struct AgentHoldFlow* flow = bpf_map_lookup_elem(&flows, key);
  if (flow) return flow;
  if (!has_connection(skb, key)) return 0;
  const struct AgentHoldFlow fresh = {};
  bpf_map_update_elem(&flows, key, &fresh, BPF_NOEXIST);
  return bpf_map_lookup_elem(&flows, key);
}

static __always_inline void on_start(struct __sk_buff* skb, const struct agent_packet* packet,
                                     const struct HoldStart* start) {
  const __u64 now = bpf_ktime_get_ns();
  switch (judge_start(skb, packet)) {
    case kStartHeeded:
      break;
    case kStartNotForHost:
      return agent_count(&counts, kHoldNotForHost);
    case kStartNotAccepted:
      return agent_count(&counts, kHoldNotAccepted);
    case kStartOverRate:
      return agent_count(&counts, kHoldOverRate);
  }
  if (!agent_runs(now)) return agent_count(&counts, kHoldAgentGone);
  struct AgentHoldFlow* flow = flow_of_start(skb, &start->flow);
  struct AgentHoldShared* all = the_shared();
  if (!flow || !all) return agent_count(&counts, kHoldNotConnected);
  if ((flow->has_start && (__s32)(start->sequence - flow->start_sequence) <= 0) ||
      (flow->known && start->bytes &&
       (__s32)(start->sequence + start->bytes - flow->acknowledged) <= 0))
    return agent_count(&counts, kHoldStartsRepeated);

  const struct HoldRules of = the_rules();
  __u8 slot = 0;
  bpf_spin_lock(&all->lock);
  const enum HoldVerdict verdict = hold_start(&all->table, &of, start, now, &slot);
  bpf_spin_unlock(&all->lock);
  if (verdict == kHoldOver) return agent_count(&counts, kHoldOverBudget);
  if (verdict == kHoldNoRoom) return agent_count(&counts, kHoldOverTable);
  flow->slot = slot + 1;
  flow->start_sequence = start->sequence;
  flow->has_start = 1;
  flow->job_until_ns = now + HOLD_MEMORY_NS;
  agent_count(&counts, kHoldStarts);
}

/* The message of udp_signal.h, as far as it is needed. */
struct signal_message {
  __be32 magic;
  __u8 version, kind;
  __be16 threshold;
  __be16 job, worker;
  __be32 iteration;
  __be32 bytes_high, bytes;
  __be32 due_high, due;
  __be16 source_port, destination_port;
  __be32 sequence;
};

static __always_inline void on_udp_start(struct __sk_buff* skb, const struct agent_packet* packet) {
  struct udphdr udp;
  struct signal_message message;
  if (bpf_skb_load_bytes(skb, packet->payload_at, &udp, sizeof(udp)) < 0) return;
  if (udp.dest != signal_port) return;
  const int failed =
      bpf_skb_load_bytes(skb, packet->payload_at + sizeof(udp), &message, sizeof(message)) < 0;
  const struct signal_head head = {message.magic, message.version, message.kind};
  __u64 due_high = bpf_ntohl(message.due_high);
  if (!failed && message.version == SIGNAL_SIGNED) due_high &= 0xFFFFFF; /* the key's id */
  const __u64 due_in_ns = due_high << 32 | bpf_ntohl(message.due);
  if (failed || !is_start(&udp, &head) || !message.threshold || !message.source_port ||
      !message.destination_port || due_in_ns > HOLD_FURTHEST_NS) {
    agent_count(&counts, kHoldNotUnderstood);
    return;
  }
  const __u32 bytes = bpf_ntohl(message.bytes);
  const int known = !message.bytes_high && bytes < 1U << 30;
  const struct HoldStart start = {.flow = {.source_address = packet->ip.saddr,
                                           .destination_address = packet->ip.daddr,
                                           .source_port = message.source_port,
                                           .destination_port = message.destination_port},
                                  .sequence = bpf_ntohl(message.sequence),
                                  .bytes = known ? bytes : 0,
                                  .threshold = bpf_ntohs(message.threshold),
                                  .due_in_ns = due_in_ns};
  on_start(skb, packet, &start);
}

SEC("tc")
int hold_ingress(struct __sk_buff* skb) {
  struct agent_packet packet;
  struct tcphdr tcp;
  if (signal_port && agent_ipv4(skb, &packet, IPPROTO_UDP) == 0) {
    on_udp_start(skb, &packet);
    return TC_ACT_UNSPEC;
  }
  if (agent_ipv4(skb, &packet, IPPROTO_TCP) < 0) return TC_ACT_UNSPEC;
  const int at = packet.payload_at;
  if (bpf_skb_load_bytes(skb, at, &tcp, sizeof(tcp)) < 0) return TC_ACT_UNSPEC;
  const struct AgentFlowKey key = {.source_address = packet.ip.saddr,
                                   .destination_address = packet.ip.daddr,
                                   .source_port = tcp.source,
                                   .destination_port = tcp.dest};
  if (agent_may_signal(&packet.ip, &tcp)) {
    const struct HoldStart start = {.flow = key,
                                    .sequence = bpf_ntohl(tcp.seq),
                                    .threshold = 5 * ((packet.ip.tos & AGENT_TOS_CODE) >> 2)};
    if (!signal_port && is_tos_start(packet.ip.tos)) on_start(skb, &packet, &start);
    return TC_ACT_UNSPEC;
  }
  const __u64 now = bpf_ktime_get_ns();
  const __u32 headers = packet.ip.ihl * 4 + tcp.doff * 4;
  const __u32 total = packet.ip.tot_len ? bpf_ntohs(packet.ip.tot_len) : skb->len - packet.ip_at;
  const __u32 payload = total > headers ? total - headers : 0;
  struct AgentHoldFlow* flow = bpf_map_lookup_elem(&flows, &key);
  if (!flow) {
    if (on_syn_answer(skb, at, &tcp, &key, now)) flow = bpf_map_lookup_elem(&flows, &key);
    else if (payload && !tcp.syn) on_stranger(&key);
  }
  if (flow && payload && !tcp.syn) on_data(skb, at, &tcp, &key, flow, payload, now);
  return TC_ACT_UNSPEC;
}

/* -- What leaves */

static __always_inline void mark(struct AgentHoldFlow* flow, __u32 timestamp, __u32 acknowledged,
                                 __u64 now) {
  const int fresh = !flow->has_timestamp || (__s32)(timestamp - flow->last_timestamp) > 0;
  if (fresh) flow->last_timestamp = timestamp;
  flow->has_timestamp = 1;
  if (flow->marked || !fresh) return;
  flow->mark_ns = now;
  flow->mark_timestamp = timestamp;
  flow->mark_acknowledged = acknowledged;
  flow->marked = 1;
}

struct target {
  __u64 bytes;
  enum AgentHoldCount why;
};

#define UNLIMITED (1ULL << 40)

/* @return what an ACK may permit, beyond its number */
static __always_inline struct target target_of(struct AgentHoldFlow* flow,
                                               const struct AgentHoldShared* all, __u64 now) {
  const struct HoldTable* table = &all->table;
  const __u64 rtt_ns = given_rtt_ns ? given_rtt_ns : flow->rtt_ns;
  const __u32 segment = flow->segment_bytes;
  struct target target = {.bytes = UNLIMITED, .why = kHoldAcksStanding};
  if (now >= table->expected_until_ns || !rtt_ns) return target;

  const __u64 path = hold_path_bytes(bytes_per_s, rtt_ns > 1000000000 ? 1000000000 : rtt_ns, segment);
  const __u32 flight = flow->flight > flow->flight_before ? flow->flight : flow->flight_before;
  __u64 standing = hold_later((__u64)flight * standing_permille / 1000,
                              HOLD_FEWEST_STANDING_SEGMENTS * segment);
  if (flow->limited || flow->sent_bytes < path) standing = hold_later(standing, path);
  target.bytes = standing;

  const __u32 flows = all->active > all->active_before ? all->active : all->active_before;
  const __u64 room = path + (__u64)table->threshold * segment;
  if (now < table->held_until_ns) {
    __u64 total = room;
    target.why = kHoldAcksHeld;
    if (now < table->running_until_ns) total = path * floor_permille / 1000;
    if (!given_rtt_ns && (!flow->rtt_at_ns || now - flow->rtt_at_ns > PROBE_NS)) {
      if (!flow->probe_from_ns) flow->probe_from_ns = now + 2 * flow->recent_rtt_ns;
      total = 0;
    }
    target.bytes = hold_earlier(standing, hold_share(total, flows, segment));
    return target;
  }
  flow->probe_from_ns = 0;
  if (now - table->held_until_ns < 2 * rtt_ns) {
    target.why = kHoldAcksOpening;
    target.bytes = hold_earlier(standing, hold_share(room, flows, segment));
  }
  return target;
}

/* @return TC_ACT_SHOT if the packet is half rewritten */
static __always_inline int write_window(struct __sk_buff* skb, int tcp_at, __be16 old_field,
                                        __be16 new_field) {
  const int check_at = tcp_at + offsetof(struct tcphdr, check);
  const int window_at = tcp_at + offsetof(struct tcphdr, window);
  if (bpf_l4_csum_replace(skb, check_at, old_field, new_field, sizeof(new_field)) < 0)
    return TC_ACT_UNSPEC;
  if (bpf_skb_store_bytes(skb, window_at, &new_field, sizeof(new_field), 0) < 0)
    return TC_ACT_SHOT;
  return TC_ACT_UNSPEC;
}

static __always_inline void notice(struct AgentHoldFlow* flow, struct AgentHoldShared* all,
                                   const struct AgentFlowKey* key, __u64 now) {
  const struct HoldTable* table = &all->table;
  const int begins = table->look_at_ns && table->look_at_ns <= now;
  if (!begins && !(flow->slot && flow->has_start)) return;
  const struct HoldRules of = the_rules();
  bpf_spin_lock(&all->lock);
  if (begins) hold_look(&all->table, &of, now);
  if (flow->slot)
    hold_acknowledged(&all->table, &of, flow->slot - 1, key, flow->acknowledged, now);
  bpf_spin_unlock(&all->lock);
}

static __always_inline int on_ack(struct __sk_buff* skb, int tcp_at, const struct tcphdr* tcp,
                                  const struct AgentFlowKey* key, struct AgentHoldFlow* flow,
                                  int empty) {
  const __u64 now = bpf_ktime_get_ns();
  const __u32 acknowledged = bpf_ntohl(tcp->ack_seq);
  const __u16 offered = bpf_ntohs(tcp->window);
  const int repeated = empty && acknowledged == flow->acknowledged && offered == flow->true_window;
  struct AgentHoldShared* all = the_shared();
  if (!all) return TC_ACT_UNSPEC;
  flow->acknowledged = acknowledged;
  notice(flow, all, key, now);

  struct target target = {.bytes = UNLIMITED};
  struct timestamps stamps;
  if (!flow->known || flow->job_port || now < flow->job_until_ns) {
    /* left alone */
  } else if (!read_timestamps(skb, tcp_at, tcp, &stamps)) {
    if (!flow->without_timestamps) agent_count(&counts, kHoldWithoutTimestamps);
    flow->without_timestamps = 1;
  } else {
    mark(flow, bpf_ntohl(stamps.value), acknowledged, now);
    target = target_of(flow, all, now);
  }
  __u16 field = hold_field(acknowledged, flow->has_edge ? flow->edge : acknowledged, target.bytes,
                           flow->scale, offered);
  /* With another window it would be no duplicate (RFC 5681, section 2). */
  if (repeated && flow->told_window <= offered) field = flow->told_window;
  const __u32 edge = acknowledged + ((__u32)field << flow->scale);
  if (!flow->has_edge || (__s32)(edge - flow->edge) > 0) flow->edge = edge;
  flow->has_edge = 1;
  flow->true_window = offered;
  flow->told_window = field;
  if (field == offered) return TC_ACT_UNSPEC;
  agent_count(&counts, target.why);
  return write_window(skb, tcp_at, tcp->window, bpf_htons(field));
}

SEC("tc")
int hold_egress(struct __sk_buff* skb) {
  struct agent_packet packet;
  struct tcphdr tcp;
  if (agent_ipv4(skb, &packet, IPPROTO_TCP) < 0) return TC_ACT_UNSPEC;
  const int at = packet.payload_at;
  if (bpf_skb_load_bytes(skb, at, &tcp, sizeof(tcp)) < 0) return TC_ACT_UNSPEC;
  /* The direction of the data that it acknowledges. */
  const struct AgentFlowKey key = {.source_address = packet.ip.daddr,
                                   .destination_address = packet.ip.saddr,
                                   .source_port = tcp.dest,
                                   .destination_port = tcp.source};
  if (tcp.syn) {
    on_own_syn(skb, at, &tcp, &key);
    return TC_ACT_UNSPEC;
  }
  if (!tcp.ack || tcp.rst) return TC_ACT_UNSPEC;
  struct AgentHoldFlow* flow = bpf_map_lookup_elem(&flows, &key);
  if (flow) {
    const int empty = skb->len <= (__u32)(at + tcp.doff * 4);
    return on_ack(skb, at, &tcp, &key, flow, empty);
  }
  struct stranger* stranger = bpf_map_lookup_elem(&strangers, &key);
  if (stranger) stranger->answered = 1;
  return TC_ACT_UNSPEC;
}
