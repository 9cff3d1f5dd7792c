/* Reads packets in a clsact program. The bytes of a packet may be in separate pages, so they are
 * copied out and never read in place. */
#pragma once

#include <bpf/bpf_endian.h>
#include <bpf/bpf_helpers.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/ip.h>
#include <linux/pkt_cls.h>

#define AGENT_FRAGMENT 0x3fff /* more to come, or not the first */

#define AGENT_MAX_TAGS 2

struct agent_packet {
  struct iphdr ip;
  int ip_at;      /* offset of the IP header */
  int payload_at; /* offset of IP's payload */
};

/* Reads the IPv4 header of a frame, after up to AGENT_MAX_TAGS VLAN tags. A tag that the kernel
 * has moved from the frame to its metadata is not seen; an answer that is sent back keeps it.
 * @return 0, or -1 if it is not a whole packet of `protocol` */
static __always_inline int agent_ipv4(struct __sk_buff* skb, struct agent_packet* packet,
                                      __u8 protocol) {
  struct {
    __be16 control;
    __be16 type;
  } tag = {.type = skb->protocol};
  int at = ETH_HLEN;
#pragma unroll
  for (int i = 0; i < AGENT_MAX_TAGS; ++i) {
    if (tag.type != bpf_htons(ETH_P_8021Q) && tag.type != bpf_htons(ETH_P_8021AD)) break;
    if (bpf_skb_load_bytes(skb, at, &tag, sizeof(tag)) < 0) return -1;
    at += sizeof(tag);
  }
  const struct iphdr* ip = &packet->ip;
  if (tag.type != bpf_htons(ETH_P_IP)) return -1;
  if (bpf_skb_load_bytes(skb, at, &packet->ip, sizeof(packet->ip)) < 0) return -1;
  if (ip->version != 4 || ip->ihl < 5 || ip->protocol != protocol) return -1;
  if (ip->frag_off & bpf_htons(AGENT_FRAGMENT)) return -1;
  packet->ip_at = at;
  packet->payload_at = at + ip->ihl * 4;
  return 0;
}

/* The TOS form of a signal (common/net/tos_signal.h) is a TCP segment of the announced flow
 * without payload. Agents and generator also send it without flags. TCP itself never sends such
 * a segment, whatever its DSCP, and ignores one that arrives (RFC 9293, section 3.10.7.4). */
#define AGENT_TOS_START 0x80
#define AGENT_TOS_ACK 0x40
#define AGENT_TOS_CODE 0x3c

/* @return whether the packet is such a segment; then its TOS byte says which signal it is */
static __always_inline int agent_may_signal(const struct iphdr* ip, const struct tcphdr* tcp) {
  const __u8 flags = ((const __u8*)tcp)[13];
  return flags == 0 && bpf_ntohs(ip->tot_len) == ip->ihl * 4 + tcp->doff * 4;
}

static __always_inline void agent_count(void* counts, __u32 which) {
  __u64* count = bpf_map_lookup_elem(counts, &which);
  if (count) *count += 1;
}
