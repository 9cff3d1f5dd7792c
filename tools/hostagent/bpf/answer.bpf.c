/* Turns a START that reaches a server into its ACK and sends it back from where it came,
 * without waking a process. All other packets pass as they are. The form of the signal is
 * that of common/net/udp_signal.h. */
#include <linux/udp.h>
#include <stddef.h>

#include "packet.h"
#include "wire.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";

/* Set before loading, network byte order. */
const volatile __u16 signal_port = 0;

#define SIGNAL_BYTES 64
#define SIGNAL_MAGIC 0x4F525347
#define SIGNAL_VERSION 1
#define SIGNAL_START 1
#define SIGNAL_ACK 2
#define ANSWER_TTL 64

/* Of the message; see udp_signal. */
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

static __always_inline int is_start(const struct udphdr* udp, const struct signal_head* head) {
  return udp->len == bpf_htons(sizeof(*udp) + SIGNAL_BYTES) &&
         head->magic == bpf_htonl(SIGNAL_MAGIC) && head->version == SIGNAL_VERSION &&
         head->kind == SIGNAL_START;
}

static __always_inline long swap_ends(struct __sk_buff* skb, const struct iphdr* ip, int udp_at,
                                      const struct udphdr* udp) {
  struct ethhdr frame;
  __u8 mac[ETH_ALEN];
  long failed = bpf_skb_load_bytes(skb, 0, &frame, sizeof(frame));
  __builtin_memcpy(mac, frame.h_dest, ETH_ALEN);
  __builtin_memcpy(frame.h_dest, frame.h_source, ETH_ALEN);
  __builtin_memcpy(frame.h_source, mac, ETH_ALEN);
  failed |= bpf_skb_store_bytes(skb, 0, &frame, sizeof(frame), 0);
  /* Sums of 16-bit words do not mind that addresses and ports change places. */
  failed |= bpf_skb_store_bytes(skb, ETH_HLEN + offsetof(struct iphdr, saddr), &ip->daddr, 4, 0);
  failed |= bpf_skb_store_bytes(skb, ETH_HLEN + offsetof(struct iphdr, daddr), &ip->saddr, 4, 0);
  failed |= bpf_skb_store_bytes(skb, udp_at, &udp->dest, 2, 0);
  failed |= bpf_skb_store_bytes(skb, udp_at + 2, &udp->source, 2, 0);
  return failed;
}

static __always_inline long make_ack(struct __sk_buff* skb, const struct iphdr* ip, int udp_at,
                                     const struct udphdr* udp) {
  const __u8 ack = SIGNAL_ACK, ttl = ANSWER_TTL;
  const int kind_at = udp_at + sizeof(*udp) + offsetof(struct signal_head, kind);
  const __u16 old_kind = bpf_htons(SIGNAL_VERSION << 8 | SIGNAL_START);
  const __u16 new_kind = bpf_htons(SIGNAL_VERSION << 8 | SIGNAL_ACK);
  const __u16 old_ttl = bpf_htons(ip->ttl << 8 | IPPROTO_UDP);
  const __u16 new_ttl = bpf_htons(ANSWER_TTL << 8 | IPPROTO_UDP);
  long failed = 0;
  if (udp->check)
    failed |= bpf_l4_csum_replace(skb, udp_at + offsetof(struct udphdr, check), old_kind, new_kind,
                                  2 | BPF_F_MARK_MANGLED_0);
  failed |= bpf_skb_store_bytes(skb, kind_at, &ack, 1, 0);
  failed |= bpf_l3_csum_replace(skb, ETH_HLEN + offsetof(struct iphdr, check), old_ttl, new_ttl, 2);
  failed |= bpf_skb_store_bytes(skb, ETH_HLEN + offsetof(struct iphdr, ttl), &ttl, 1, 0);
  return failed;
}

SEC("tc")
int answer(struct __sk_buff* skb) {
  struct iphdr ip;
  struct udphdr udp;
  struct signal_head head;
  const int at = agent_ipv4(skb, &ip, IPPROTO_UDP);
  if (at < 0 || bpf_skb_load_bytes(skb, at, &udp, sizeof(udp)) < 0) return TC_ACT_UNSPEC;
  if (udp.dest != signal_port) return TC_ACT_UNSPEC;
  if (bpf_skb_load_bytes(skb, at + sizeof(udp), &head, sizeof(head)) < 0 ||
      !is_start(&udp, &head)) {
    agent_count(&counts, kAgentNotUnderstood);
    return TC_ACT_UNSPEC;
  }
  /* Half of an answer must not reach anybody: what cannot be rewritten is lost. */
  if (swap_ends(skb, &ip, at, &udp) | make_ack(skb, &ip, at, &udp)) return TC_ACT_SHOT;
  agent_count(&counts, kAgentAnswered);
  return bpf_redirect(skb->ifindex, 0);
}
