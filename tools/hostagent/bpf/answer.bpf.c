/* Turns a START that reaches a server into its ACK and sends it back to its source, without
 * waking a process. It answers only what is sent to this host itself, by accepted hosts, at a
 * bounded rate: an answer has the START's destination as its source, and must not move the
 * address of another station in a switch that learns. All other packets pass unchanged. The
 * checks are those of start.h. */
#include <stddef.h>

#include "start.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading, network byte order. */
const volatile __u16 signal_port = 0;

#define ANSWER_TTL 64

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, kAgentAnswerCounts);
  __type(key, __u32);
  __type(value, __u64);
} counts SEC(".maps");

/* Says whether this host may answer the START, and counts why not. */
static __always_inline int may_answer(struct __sk_buff* skb, const struct agent_packet* packet) {
  switch (judge_start(skb, packet)) {
    case kStartHeeded:
      return 1;
    case kStartNotForHost:
      agent_count(&counts, kAgentNotForHost);
      break;
    case kStartNotAccepted:
      agent_count(&counts, kAgentNotAccepted);
      break;
    case kStartOverRate:
      agent_count(&counts, kAgentOverRate);
      break;
  }
  return 0;
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
  if (!is_tos_start(packet.ip.tos)) {
    agent_count(&counts, kAgentNotUnderstood);
    return TC_ACT_UNSPEC;
  }
  if (!may_answer(skb, &packet)) return TC_ACT_UNSPEC;
  const struct ports ports = {.source = tcp.source, .dest = tcp.dest};
  return send_back(
      skb, swap_ends(skb, &packet, ports) | make_tos_ack(skb, &packet) | renew_ttl(skb, &packet));
}
