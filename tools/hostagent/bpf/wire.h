/* What the BPF programs and the agent tell each other. C: both include it. Addresses and
 * ports are in network byte order, all else in that of the host. */
#pragma once

#include <linux/types.h>

/* A server that bursts go to. */
struct AgentTarget {
  __u32 address;
  __u16 port;
  __u16 reserved;
};

struct AgentFlowKey {
  __u32 source_address;
  __u32 destination_address;
  __u16 source_port;
  __u16 destination_port;
};

/* One announced connection, as its packets leave. Only the program writes it. */
struct AgentFlow {
  __u64 last_payload_ns; /* CLOCK_MONOTONIC */
  __u64 burst_bytes;     /* payload since the last onset, retransmissions left out */
  __u64 onsets;
  __u32 next_sequence; /* behind the newest payload */
  __u32 reserved;
};

/* First payload of a flow after a pause. */
struct AgentOnset {
  struct AgentFlowKey flow;
  __u32 sequence;    /* of that payload */
  __u64 at_ns;       /* CLOCK_MONOTONIC */
  __u64 burst_bytes; /* of the burst before it; 0: there was none */
};

enum AgentAnnounceCount {
  kAgentPayloads, /* packets of flows to a target */
  kAgentOnsets,
  kAgentEventsLost, /* onsets that found the ring full */
  kAgentFlowsLost,  /* packets whose flow found the table full */
  kAgentAnnounceCounts
};

enum AgentAnswerCount {
  kAgentAnswered,
  kAgentNotUnderstood, /* to the port, but no START that can be answered: passed on */
  kAgentAnswerCounts
};
