/* The arithmetic of `outrider-hostagent hold`: how large a held window is, what its field says,
 * and for how long bursts hold. It is C, because the BPF programs and the unit tests include it.
 * Time is an argument. All times are in ns of one clock, and sizes in bytes. */
#pragma once

#include <linux/bpf.h>
#include <linux/types.h>

#include "tools/hostagent/bpf/wire.h"

#define HOLD_BURSTS 64
#define HOLD_SENDERS 64
/* Bursts of one sender: the rest of the table is for the others. */
#define HOLD_SENDER_BURSTS 16

/* Headers of a full frame beyond its payload: Ethernet 14, IP 20, TCP 20, timestamps 12. */
#define HOLD_HEADERS 66
/* A receiver acknowledges every second segment at once (RFC 5681, section 4.2), so a sender that
 * may have two in flight gets an ACK for them. */
#define HOLD_LEAST_SEGMENTS 2
#define HOLD_FEWEST_STANDING_SEGMENTS 10
/* How long a host expects further bursts after a START. */
#define HOLD_MEMORY_NS (60 * 1000000000ULL)
/* A START for a later burst is refused. */
#define HOLD_FURTHEST_NS (60 * 1000000000ULL)

/* The kernel allows no call while a program holds a lock. */
#define HOLD_INLINE static inline __attribute__((always_inline))

/* -- Windows */

HOLD_INLINE __u64 hold_later(__u64 a, __u64 b) { return a > b ? a : b; }
HOLD_INLINE __u64 hold_earlier(__u64 a, __u64 b) { return a < b ? a : b; }

/* @return the payload of a path that is full
 * @param bytes_per_s rate of the bottleneck, at most 100 Gbit/s. @param rtt_ns at most 1 s */
HOLD_INLINE __u64 hold_path_bytes(__u64 bytes_per_s, __u64 rtt_ns, __u32 segment) {
  return bytes_per_s * rtt_ns / 1000000000ULL * segment / (segment + HOLD_HEADERS);
}

/* @return the window of one of `flows` connections that share `total`, and of each at least
 * HOLD_LEAST_SEGMENTS */
HOLD_INLINE __u64 hold_share(__u64 total, __u32 flows, __u32 segment) {
  const __u64 share = flows > 1 ? total / flows : total;
  return hold_later(share, (__u64)HOLD_LEAST_SEGMENTS * segment);
}

/* @return the window field of an ACK that permits `bytes` beyond `acknowledged`. It is rounded up
 * to the scale's unit: rounded down, two segments would become one. The right edge moves neither
 * left of `edge`, which the sender was told (RFC 9293, section 3.8.6.2.1), nor beyond what the
 * receiver itself offers.
 * @param edge 0 bytes beyond `acknowledged`, or left of it, if none was told
 * @param offered the field as the receiver wrote it */
HOLD_INLINE __u16 hold_field(__u32 acknowledged, __u32 edge, __u64 bytes, __u8 scale,
                             __u16 offered) {
  const __s32 room = (__s32)(edge - acknowledged);
  if (room > 0) bytes = hold_later(bytes, (__u64)room);
  const __u64 units = (bytes + (1ULL << (scale & 15)) - 1) >> (scale & 15);
  return units < offered ? (__u16)units : offered;
}

/* -- How long bursts hold */

/* Time that was held, of a window of time [n w, (n + 1) w). What overlaps counts once. It is
 * charged as it passes: a burst that has not begun costs nothing and pays for nothing. */
struct HoldAccount {
  __u32 address; /* of the sender; 0: of all together */
  __u64 window_ns;
  __u64 used_ns;
  __u64 charged_ns; /* all that was held before it is charged */
  __u32 live;       /* bursts; none: another sender may take its place */
};

enum HoldEnd {
  kHoldComplete,  /* all that was announced is acknowledged */
  kHoldIdle,      /* its payload came, and then none for a while */
  kHoldNeverCame, /* none came */
  kHoldCut,       /* it reached its longest time, or that of its budget */
  kHoldPoor,      /* its budget was used up when it was to begin */
  kHoldEnds
};

struct HoldBurst {
  __u64 begins_ns; /* it is to begin then */
  __u64 until_ns;  /* it ends then if nothing happens */
  __u64 limit_ns;  /* it ends then whatever happens; 0: it has not begun */
  struct AgentFlowKey flow;
  __u32 sequence, end_sequence;
  __u16 threshold; /* h [packets] */
  __u8 sender;     /* its account */
  __u8 live;
  __u8 came; /* its payload has come */
  __u8 has_end;
};

/* Set once. */
struct HoldRules {
  __u64 lead_ns;    /* a burst holds from so long before it is due */
  __u64 wait_ns;    /* one that has not come so long after it was due is not coming */
  __u64 idle_ns;    /* one that was silent for so long is over */
  __u64 longest_ns; /* that one burst holds */
  __u64 window_ns;  /* of the budgets */
  __u64 sender_ns;  /* of a window that the bursts of a sender may hold */
  __u64 host_ns;    /* the same of all together */
};

/* All bursts. The first members say what follows from them; readers need no lock for these. */
struct HoldTable {
  __u64 held_until_ns;    /* background is held until then; in the past: it was */
  __u64 running_until_ns; /* of the bursts that have come */
  __u64 look_at_ns;       /* a burst begins to hold then; 0: none waits for that */
  __u64 expected_until_ns;
  __u32 threshold; /* least h of the bursts that hold [packets] */

  __u64 ended[8];  /* by HoldEnd; a power of 2, for the kernel's verifier */
  __u64 held_ns;   /* since the beginning */
  __u64 looked_ns; /* what was held until then is charged */
  /* What a loop has found. In registers the kernel's verifier would know something of it, and
   * follow all that comes after once for each thing that it may be. */
  volatile __u32 found_sender, found_burst, found_end, next_threshold;
  volatile __u64 found_ns, since_ns, to_ns, next_held_ns, next_running_ns, next_look_at_ns;
  volatile __u64 zero; /* what a loop begins with, for the same reason */
  struct HoldAccount host;
  struct HoldAccount senders[HOLD_SENDERS];
  struct HoldBurst bursts[HOLD_BURSTS];
};

/* What all connections share. */
struct AgentHoldShared {
  struct bpf_spin_lock lock;
  __u32 active_epoch;
  __u32 active, active_before; /* connections that sent more than the least, by epoch */
  struct HoldTable table;
};

HOLD_INLINE struct HoldAccount* hold_account_of(struct HoldTable* table,
                                                const struct HoldBurst* burst) {
  return &table->senders[burst->sender & (HOLD_SENDERS - 1)];
}

/* Charges an account for what was held in [since, to), as far as it is not charged yet.
 * @param window  that of now. `since` is in it: what was before is of no interest any more. */
HOLD_INLINE void hold_charge(struct HoldAccount* account, __u64 window, __u64 since, __u64 to) {
  const __u64 from = hold_later(since, account->charged_ns);
  if (window != account->window_ns) account->used_ns = 0;
  account->window_ns = window;
  if (to <= from) return;
  account->used_ns += to - from;
  account->charged_ns = to;
}

/* @return for how long a burst that begins now may hold, by what its sender and all have used */
HOLD_INLINE __u64 hold_allowed(const struct HoldTable* table, const struct HoldRules* rules,
                               const struct HoldAccount* account) {
  const __u64 of_sender = hold_earlier(rules->sender_ns, account->used_ns);
  const __u64 of_all = hold_earlier(rules->host_ns, table->host.used_ns);
  return hold_earlier(rules->longest_ns,
                      hold_earlier(rules->sender_ns - of_sender, rules->host_ns - of_all));
}

HOLD_INLINE void hold_end(struct HoldTable* table, struct HoldBurst* burst, __u32 why) {
  burst->live = 0;
  hold_account_of(table, burst)->live -= 1;
  table->ended[why & 7] += 1;
}

/* Charges what bursts have held until now, and ends those that are over. Bursts begin in
 * hold_look() alone, so those that have begun hold since then. */
HOLD_INLINE void hold_settle(struct HoldTable* table, const struct HoldRules* rules, __u64 now) {
  const __u64 looked = table->looked_ns, window = now - now % rules->window_ns;
  table->since_ns = hold_later(looked, window);
  table->found_ns = looked;
  for (int i = 0; i < HOLD_BURSTS; ++i) {
    struct HoldBurst* burst = &table->bursts[i];
    if (!burst->live) continue;
    table->to_ns = burst->limit_ns ? hold_earlier(now, burst->until_ns) : looked;
    hold_charge(hold_account_of(table, burst), window, table->since_ns, table->to_ns);
    if (table->to_ns > table->found_ns) table->found_ns = table->to_ns;
    if (burst->until_ns > now) continue;
    table->found_end = burst->until_ns == burst->limit_ns ? kHoldCut : kHoldIdle;
    if (!burst->came) table->found_end = kHoldNeverCame;
    hold_end(table, burst, table->found_end);
  }
  table->held_ns += table->found_ns - looked;
  hold_charge(&table->host, window, table->since_ns, table->found_ns);
  table->looked_ns = now;
}

/* Ends bursts that are over, begins those that are to begin, and says anew what follows from
 * them. */
HOLD_INLINE void hold_look(struct HoldTable* table, const struct HoldRules* rules, __u64 now) {
  hold_settle(table, rules, now);
  table->next_held_ns = 0;
  table->next_running_ns = 0;
  table->next_look_at_ns = 0;
  table->next_threshold = 0;
  for (int i = 0; i < HOLD_BURSTS; ++i) {
    struct HoldBurst* burst = &table->bursts[i];
    if (!burst->live) continue;
    if (burst->begins_ns > now) {
      if (!table->next_look_at_ns || burst->begins_ns < table->next_look_at_ns)
        table->next_look_at_ns = burst->begins_ns;
      continue;
    }
    if (!burst->limit_ns) {
      table->found_ns = hold_allowed(table, rules, hold_account_of(table, burst));
      if (!table->found_ns) {
        hold_end(table, burst, kHoldPoor);
        continue;
      }
      burst->limit_ns = now + table->found_ns;
      burst->until_ns = hold_earlier(burst->until_ns, now + table->found_ns);
    }
    table->next_held_ns = hold_later(table->next_held_ns, burst->until_ns);
    if (burst->came) table->next_running_ns = hold_later(table->next_running_ns, burst->until_ns);
    if (!table->next_threshold || burst->threshold < table->next_threshold)
      table->next_threshold = burst->threshold;
  }
  table->held_until_ns =
      table->next_held_ns ? table->next_held_ns : hold_earlier(table->held_until_ns, now);
  table->running_until_ns = table->next_running_ns;
  table->look_at_ns = table->next_look_at_ns;
  if (table->next_held_ns) table->threshold = table->next_threshold;
}

#define HOLD_NONE 0xFFFFFFFFU

enum HoldVerdict { kHoldTaken, kHoldOver, kHoldNoRoom };

/* Finds the account of a sender: its own, or of those without live bursts the one that was
 * charged least lately. @return whether there is one */
HOLD_INLINE int hold_find_sender(struct HoldTable* table, __u32 address) {
  __u64 oldest = ~table->zero;
  table->found_sender = HOLD_NONE;
  for (__u32 i = 0; i < HOLD_SENDERS; ++i) {
    const struct HoldAccount* account = &table->senders[i];
    const int own = account->address == address;
    const __u64 charged = own ? 0 : account->charged_ns + 1;
    if (charged >= oldest || (account->live && !own)) continue;
    table->found_sender = i;
    oldest = charged;
  }
  if (table->found_sender == HOLD_NONE) return 0;
  struct HoldAccount* account = &table->senders[table->found_sender & (HOLD_SENDERS - 1)];
  if (account->address == address) return account->live < HOLD_SENDER_BURSTS;
  account->address = address;
  account->window_ns = account->used_ns = account->charged_ns = account->live = 0;
  return 1;
}

/* Finds a place for a burst. @return whether there is one */
HOLD_INLINE int hold_find_place(struct HoldTable* table) {
  table->found_burst = HOLD_NONE;
  for (__u32 i = 0; i < HOLD_BURSTS; ++i)
    if (!table->bursts[i].live) table->found_burst = i;
  return table->found_burst != HOLD_NONE;
}

/* What a START says. */
struct HoldStart {
  struct AgentFlowKey flow;
  __u32 sequence;
  __u32 bytes; /* 0: not known */
  __u16 threshold;
  __u64 due_in_ns; /* at most HOLD_FURTHEST_NS */
};

/* Takes a START. @param slot where its burst is, if it was taken */
HOLD_INLINE enum HoldVerdict hold_start(struct HoldTable* table, const struct HoldRules* rules,
                                        const struct HoldStart* start, __u64 now, __u8* slot) {
  hold_settle(table, rules, now);
  if (!hold_find_sender(table, start->flow.source_address) || !hold_find_place(table))
    return kHoldNoRoom;
  const __u8 sender = table->found_sender & (HOLD_SENDERS - 1);
  struct HoldAccount* account = &table->senders[sender];
  const __u64 begins =
      now + (start->due_in_ns > rules->lead_ns ? start->due_in_ns - rules->lead_ns : 0);
  hold_charge(account, now - now % rules->window_ns, now,
              now); /* it may have had no burst lately */
  if (begins == now && !hold_allowed(table, rules, account)) return kHoldOver;

  struct HoldBurst* burst = &table->bursts[table->found_burst & (HOLD_BURSTS - 1)];
  burst->begins_ns = begins;
  burst->until_ns = now + start->due_in_ns + rules->wait_ns;
  burst->limit_ns = 0;
  burst->flow = start->flow;
  burst->sequence = start->sequence;
  burst->end_sequence = start->sequence + start->bytes;
  burst->has_end = start->bytes != 0;
  burst->threshold = start->threshold;
  burst->sender = sender;
  burst->came = 0;
  burst->live = 1;
  account->live += 1;
  *slot = (__u8)table->found_burst;
  table->expected_until_ns = now + HOLD_MEMORY_NS;
  hold_look(table, rules, now);
  return kHoldTaken;
}

HOLD_INLINE int hold_same_flow(const struct AgentFlowKey* a, const struct AgentFlowKey* b) {
  return a->source_address == b->source_address &&
         a->destination_address == b->destination_address && a->source_port == b->source_port &&
         a->destination_port == b->destination_port;
}

/* Notes payload of a connection that has had a START. @param slot of its burst
 * @param end one past the payload */
HOLD_INLINE void hold_payload(struct HoldTable* table, const struct HoldRules* rules, __u8 slot,
                              const struct AgentFlowKey* flow, __u32 end, __u64 now) {
  struct HoldBurst* burst = &table->bursts[slot & (HOLD_BURSTS - 1)];
  if (!burst->live || burst->until_ns <= now || !hold_same_flow(&burst->flow, flow)) return;
  if ((__s32)(end - burst->sequence) <= 0) return; /* it was sent before the burst */
  burst->until_ns = now + rules->idle_ns;
  if (burst->limit_ns) burst->until_ns = hold_earlier(burst->limit_ns, burst->until_ns);
  if (!burst->came) {
    burst->came = 1;
    burst->begins_ns = hold_earlier(burst->begins_ns, now); /* it comes before it was due */
    hold_look(table, rules, now);
    return;
  }
  table->running_until_ns = hold_later(table->running_until_ns, burst->until_ns);
  table->held_until_ns = hold_later(table->held_until_ns, burst->until_ns);
}

/* Notes what this host acknowledges of a connection that has had a START. */
HOLD_INLINE void hold_acknowledged(struct HoldTable* table, const struct HoldRules* rules,
                                   __u8 slot, const struct AgentFlowKey* flow, __u32 acknowledged,
                                   __u64 now) {
  struct HoldBurst* burst = &table->bursts[slot & (HOLD_BURSTS - 1)];
  if (!burst->live || !burst->came || !burst->has_end || !hold_same_flow(&burst->flow, flow) ||
      (__s32)(acknowledged - burst->end_sequence) < 0)
    return;
  hold_settle(table, rules, now);
  if (burst->live) hold_end(table, burst, kHoldComplete);
  hold_look(table, rules, now);
}
