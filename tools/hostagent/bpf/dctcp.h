/* The arithmetic of DCTCP's sender with the share of marked bytes (RFC 8257). It is C, because
 * the BPF program and the unit tests include it. Windows are in segments; alpha is a fixed-point
 * share. */
#pragma once

#include <linux/types.h>

/* The alpha that stands for 1: every byte was marked. */
#define AGENT_DCTCP_ONE (1U << 20)
/* The estimation gain g is 1 / 2^4 (section 3.3). */
#define AGENT_DCTCP_GAIN_SHIFT 4
/* The smallest window: two segments (RFC 5681, section 3.1). */
#define AGENT_DCTCP_MIN_WINDOW 2U

static inline __u32 agent_dctcp_at_least_two(__u32 window) {
  return window > AGENT_DCTCP_MIN_WINDOW ? window : AGENT_DCTCP_MIN_WINDOW;
}

/* Returns alpha * (1 - g) + g * M, with M = echoed / acked (section 3.3), rounded down. The
 * rounding may keep alpha up to 15 steps (0.0014 %) below AGENT_DCTCP_ONE for ever.
 * @param acked_bytes,echoed_bytes of the observation window that ended: acknowledged, > 0, and
 *        those of them acknowledged with ECE */
static inline __u32 agent_dctcp_alpha(__u32 alpha, __u32 acked_bytes, __u32 echoed_bytes) {
  const __u64 marked = (__u64)echoed_bytes * AGENT_DCTCP_ONE / acked_bytes;
  return (__u32)((((__u64)alpha << AGENT_DCTCP_GAIN_SHIFT) - alpha + marked) >>
                 AGENT_DCTCP_GAIN_SHIFT);
}

/* Returns cwnd * (1 - alpha / 2) (section 3.3), rounded to the nearest segment. Rounded down, a
 * window of ten would lose a segment at the smallest alpha; rounded up, none at an alpha of
 * 0.19. */
static inline __u32 agent_dctcp_after_marks(__u32 window, __u32 alpha) {
  const __u64 kept = (__u64)window * (2 * AGENT_DCTCP_ONE - alpha) + AGENT_DCTCP_ONE;
  return agent_dctcp_at_least_two((__u32)(kept / (2 * AGENT_DCTCP_ONE)));
}

/* Returns the window after a loss, as in a conventional TCP (section 3.5).
 * @param window before this round trip's first reduction, so that marks in the same window of
 *        data do not reduce it further */
static inline __u32 agent_dctcp_after_loss(__u32 window) {
  return agent_dctcp_at_least_two(window / 2);
}
