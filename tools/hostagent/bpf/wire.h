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

/* One direction of a connection, as its packets pass. Only the program writes it. */
struct AgentFlow {
  __u64 burst_begun_ns;  /* CLOCK_MONOTONIC, as all times here */
  __u64 last_payload_ns; /* of the burst, retransmissions included */
  __u64 burst_bytes;     /* payload since the last onset, retransmissions left out */
  __u64 onsets;
  __u32 next_sequence; /* behind the newest payload */
  __u32 from_server;   /* 1: it comes in, 0: it goes out */
};

/* First payload of a flow after a pause, and the burst before the pause. */
struct AgentOnset {
  struct AgentFlowKey flow;
  __u32 sequence;    /* of that payload */
  __u32 from_server; /* as of the flow */
  __u64 at_ns;
  __u64 previous_begun_ns;
  __u64 previous_ended_ns;
  __u64 previous_bytes; /* 0: there was none */
};

enum AgentWatchCount {
  kAgentPayloads, /* packets of flows to a target */
  kAgentOnsets,
  kAgentEventsLost, /* onsets that found the ring full */
  kAgentFlowsLost,  /* packets whose flow found the table full */
  kAgentTosAcks,    /* answers to STARTs of the TOS form */
  kAgentWatchCounts
};

enum AgentAnswerCount {
  kAgentAnswered,
  kAgentNotUnderstood, /* looked like a START, but none that can be answered: passed on */
  kAgentAnswerCounts
};

/* By which sockets choose our congestion control; the kernel has room for 15 characters. */
#define AGENT_DCTCP_NAME "outrider_dctcp"

/* Bytes are counted when a window of data ends, and when the connection does. */
enum AgentDctcpCount {
  kAgentDctcpConnections,    /* with ECN */
  kAgentDctcpWithoutEcn,     /* whose peer negotiated none: left to Reno */
  kAgentDctcpAckedBytes,     /* sent and acknowledged */
  kAgentDctcpEchoedBytes,    /* of these, by ACKs with ECE */
  kAgentDctcpMarkReductions, /* of the window */
  kAgentDctcpLossReductions, /* of the window; each time-out counts */
  kAgentDctcpCeChanges,      /* of received segments, from CE to not or back */
  kAgentDctcpCounts
};
