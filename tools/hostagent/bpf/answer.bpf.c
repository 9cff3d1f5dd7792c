/* Turns a START that reaches a server into its ACK and sends it back to its source, without
 * waking a process. It answers only what is sent to this host itself, by accepted hosts, at a
 * bounded rate: an answer has the START's destination as its source, and must not move the
 * address of another station in a switch that learns. All other packets pass unchanged. The
 * forms of the signal are defined in common/net/udp_signal.h and tos_signal.h. */
#include <linux/tcp.h>
#include <linux/udp.h>
#include <stddef.h>

#include "packet.h"
#include "wire.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading, network byte order. */
const volatile __u16 signal_port = 0;

#define SIGNAL_BYTES 64
#define SIGNAL_MAGIC 0x4F525347
#define SIGNAL_UNSIGNED 1 /* version */
#define SIGNAL_SIGNED 2   /* version; an answer keeps the tag, so that this host needs no key */
#define SIGNAL_START 1
#define SIGNAL_ACK 2
#define ANSWER_TTL 64
#define PACKET_FOR_HOST 0 /* skb->pkt_type: the destination is the interface's MAC address */

/* The token bucket of all answers: as many as a switch takes of one source by default. */
#define TOKEN_NS 100000
#define TOKEN_BURST 256

/* The first fields of the message, see udp_signal. */
struct signal_head {
  __u32 magic;
  __u8 version;
  __u8 kind;
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, kAgentAnswerCounts);
  __type(key, __u32);
  __type(value, __u64);
} counts SEC(".maps");

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

/* Says whether this host may answer the START, and counts why not. */
static __always_inline int may_answer(struct __sk_buff* skb, const struct agent_packet* packet) {
  const struct AgentPrefix source = {.bits = 32, .address = packet->ip.saddr};
  const __u32 own = packet->ip.daddr;
  struct ethhdr frame;
  if (skb->pkt_type != PACKET_FOR_HOST || bpf_skb_load_bytes(skb, 0, &frame, sizeof(frame)) < 0 ||
      frame.h_source[0] & 1 || !bpf_map_lookup_elem(&own_addresses, &own)) {
    agent_count(&counts, kAgentNotForHost);
    return 0;
  }
  if (!bpf_map_lookup_elem(&accepted, &source)) {
    agent_count(&counts, kAgentNotAccepted);
    return 0;
  }
  if (!take_token()) {
    agent_count(&counts, kAgentOverRate);
    return 0;
  }
  return 1;
}

static __always_inline int is_start(const struct udphdr* udp, const struct signal_head* head) {
  return udp->len == bpf_htons(sizeof(*udp) + SIGNAL_BYTES) &&
         head->magic == bpf_htonl(SIGNAL_MAGIC) &&
         (head->version == SIGNAL_UNSIGNED || head->version == SIGNAL_SIGNED) &&
         head->kind == SIGNAL_START;
}

struct ports {
  __be16 source;
  __be16 dest;
};

/* Swaps MAC addresses, IP addresses and ports. The checksums are sums of 16-bit words, which do
 * not depend on the order of these. */
static __always_inline long swap_ends(struct __sk_buff* skb, const struct agent_packet* packet,
                                      struct ports ports) {
  const int addresses_at = packet->ip_at + offsetof(struct iphdr, saddr);
  const __be32 addresses[] = {packet->ip.daddr, packet->ip.saddr};
  const struct ports swapped = {.source = ports.dest, .dest = ports.source};
  struct ethhdr frame;
  __u8 mac[ETH_ALEN];
  long failed = bpf_skb_load_bytes(skb, 0, &frame, sizeof(frame));
  __builtin_memcpy(mac, frame.h_dest, ETH_ALEN);
  __builtin_memcpy(frame.h_dest, frame.h_source, ETH_ALEN);
  __builtin_memcpy(frame.h_source, mac, ETH_ALEN);
  failed |= bpf_skb_store_bytes(skb, 0, &frame, sizeof(frame), 0);
  failed |= bpf_skb_store_bytes(skb, addresses_at, addresses, sizeof(addresses), 0);
  failed |= bpf_skb_store_bytes(skb, packet->payload_at, &swapped, sizeof(swapped), 0);
  return failed;
}

/* Replaces a 16-bit word of the IP header and updates the checksum.
 * @param at offset of the word in the header */
static __always_inline long replace_in_ip(struct __sk_buff* skb, const struct agent_packet* packet,
                                          int at, __u16 old_word, __u16 new_word) {
  long failed = bpf_l3_csum_replace(skb, packet->ip_at + offsetof(struct iphdr, check), old_word,
                                    new_word, sizeof(new_word));
  return failed | bpf_skb_store_bytes(skb, packet->ip_at + at, &new_word, sizeof(new_word), 0);
}

static __always_inline long renew_ttl(struct __sk_buff* skb, const struct agent_packet* packet) {
  const struct iphdr* ip = &packet->ip;
  return replace_in_ip(skb, packet, offsetof(struct iphdr, ttl),
                       bpf_htons(ip->ttl << 8 | ip->protocol),
                       bpf_htons(ANSWER_TTL << 8 | ip->protocol));
}

static __always_inline long make_ack(struct __sk_buff* skb, int udp_at, const struct udphdr* udp,
                                     const struct signal_head* head) {
  const __u8 ack = SIGNAL_ACK;
  const int kind_at = udp_at + sizeof(*udp) + offsetof(struct signal_head, kind);
  const __u16 old_kind = bpf_htons(head->version << 8 | SIGNAL_START);
  const __u16 new_kind = bpf_htons(head->version << 8 | SIGNAL_ACK);
  long failed = 0;
  if (udp->check)
    failed |= bpf_l4_csum_replace(skb, udp_at + offsetof(struct udphdr, check), old_kind, new_kind,
                                  2 | BPF_F_MARK_MANGLED_0);
  return failed | bpf_skb_store_bytes(skb, kind_at, &ack, 1, 0);
}

/* Turns the TOS byte of a START into that of its ACK; code and ECN bits stay. TCP's checksum
 * does not cover this byte. */
static __always_inline long make_tos_ack(struct __sk_buff* skb, const struct agent_packet* packet) {
  const struct iphdr* ip = &packet->ip;
  const __u8 tos = (ip->tos & ~AGENT_TOS_START) | AGENT_TOS_ACK;
  const __u8 version = ip->version << 4 | ip->ihl;
  return replace_in_ip(skb, packet, 0, bpf_htons(version << 8 | ip->tos),
                       bpf_htons(version << 8 | tos));
}

/* Sends the packet back. If rewriting failed it is dropped, because nobody must receive an answer
 * that is only half rewritten. */
static __always_inline int send_back(struct __sk_buff* skb, long failed) {
  if (failed) return TC_ACT_SHOT;
  agent_count(&counts, kAgentAnswered);
  return bpf_redirect(skb->ifindex, 0);
}

SEC("tc")
int answer(struct __sk_buff* skb) {
  struct agent_packet packet;
  struct udphdr udp;
  struct signal_head head;
  if (agent_ipv4(skb, &packet, IPPROTO_UDP) < 0) return TC_ACT_UNSPEC;
  const int at = packet.payload_at;
  if (bpf_skb_load_bytes(skb, at, &udp, sizeof(udp)) < 0) return TC_ACT_UNSPEC;
  if (udp.dest != signal_port) return TC_ACT_UNSPEC;
  if (bpf_skb_load_bytes(skb, at + sizeof(udp), &head, sizeof(head)) < 0 ||
      !is_start(&udp, &head)) {
    agent_count(&counts, kAgentNotUnderstood);
    return TC_ACT_UNSPEC;
  }
  if (!may_answer(skb, &packet)) return TC_ACT_UNSPEC;
  const struct ports ports = {.source = udp.source, .dest = udp.dest};
  return send_back(
      skb, swap_ends(skb, &packet, ports) | make_ack(skb, at, &udp, &head) | renew_ttl(skb, &packet));
}

SEC("tc")
int answer_tos(struct __sk_buff* skb) {
  struct agent_packet packet;
  struct tcphdr tcp;
  if (agent_ipv4(skb, &packet, IPPROTO_TCP) < 0) return TC_ACT_UNSPEC;
  if (bpf_skb_load_bytes(skb, packet.payload_at, &tcp, sizeof(tcp)) < 0) return TC_ACT_UNSPEC;
  if (!agent_may_signal(&packet.ip, &tcp)) return TC_ACT_UNSPEC;
  const __u8 tos = packet.ip.tos;
  if ((tos & (AGENT_TOS_START | AGENT_TOS_ACK)) != AGENT_TOS_START || !(tos & AGENT_TOS_CODE)) {
    agent_count(&counts, kAgentNotUnderstood);
    return TC_ACT_UNSPEC;
  }
  if (!may_answer(skb, &packet)) return TC_ACT_UNSPEC;
  const struct ports ports = {.source = tcp.source, .dest = tcp.dest};
  return send_back(
      skb, swap_ends(skb, &packet, ports) | make_tos_ack(skb, &packet) | renew_ttl(skb, &packet));
}
