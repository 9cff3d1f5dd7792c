/* Reading packets in a clsact program. The first bytes of a packet may lie in pages of its
 * own: all is copied out, nothing is read in place. */
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
  int ip_at;      /* where that begins */
  int payload_at; /* of IP */
};

/* Reads the IPv4 header of a frame. A tag that the kernel keeps beside the frame is not seen,
 * as any other: what is sent back in its place has it still.
 * @return 0, or -1 if it is no whole packet of `protocol` */
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

/* The TOS form of a signal, common/net/tos_signal.h, is a TCP segment of the announced flow
 * without payload. Agents and generator send it without a flag, too: TCP itself never does,
 * whatever its DSCP, and ignores one that arrives (RFC 9293, section 3.10.7.4: no ACK). */
#define AGENT_TOS_START 0x80
#define AGENT_TOS_ACK 0x40
#define AGENT_TOS_CODE 0x3c

/* @return whether the packet, read so far, is such a segment: its TOS byte says which signal */
static __always_inline int agent_may_signal(const struct iphdr* ip, const struct tcphdr* tcp) {
  const __u8 flags = ((const __u8*)tcp)[13];
  return flags == 0 && bpf_ntohs(ip->tot_len) == ip->ihl * 4 + tcp->doff * 4;
}

static __always_inline void agent_count(void* counts, __u32 which) {
  __u64* count = bpf_map_lookup_elem(counts, &which);
  if (count) *count += 1;
}
