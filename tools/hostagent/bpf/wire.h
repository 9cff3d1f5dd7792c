/* The data that the BPF programs and the agent exchange. It is C, because both include it.
 * Addresses and ports are in network byte order, everything else in that of the host. */
#pragma once

#include <linux/types.h>

/* A server whose connections are watched. */
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

/* The state of one direction of a connection. Only the program writes it. */
struct AgentFlow {
  __u64 burst_begun_ns;  /* CLOCK_MONOTONIC, as all times here */
  __u64 last_payload_ns; /* time of the burst's last payload, retransmissions included */
  __u64 burst_bytes;     /* payload since the last onset, without retransmissions */
  __u64 onsets;
  __u32 next_sequence; /* sequence number after the newest payload */
  __u32 from_server;   /* 1: incoming, 0: outgoing */
};

/* The first payload of a flow after a pause, and the burst before the pause. */
struct AgentOnset {
  struct AgentFlowKey flow;
  __u32 sequence;    /* of the first payload */
  __u32 from_server; /* as in AgentFlow */
  __u64 at_ns;
  __u64 previous_begun_ns;
  __u64 previous_ended_ns;
  __u64 previous_bytes; /* 0: there was none */
};

enum AgentWatchCount {
  kAgentPayloads, /* packets with payload of watched flows */
  kAgentOnsets,
  kAgentEventsLost, /* onsets that found the ring full */
  kAgentFlowsLost,  /* packets whose flow found the table full */
  kAgentTosAcks,    /* answers to STARTs of the TOS form */
  kAgentWatchCounts
};

enum AgentAnswerCount {
  kAgentAnswered,
  kAgentNotUnderstood, /* looked like a START but cannot be answered, and was passed on */
  kAgentNotForHost,    /* START for another MAC or IP address, or from a group's MAC address */
  kAgentNotAccepted,   /* START from an address that is not accepted */
  kAgentOverRate,      /* START beyond the token bucket */
  kAgentAnswerCounts
};

/* A network whose STARTs are answered; the key of a longest-prefix match. */
struct AgentPrefix {
  __u32 bits;
  __u32 address;
};

#define AGENT_MAX_ADDRESSES 1024 /* of the host, and of networks whose STARTs are answered */

/* The name by which sockets choose our congestion control, at most 15 characters. */
#define AGENT_DCTCP_NAME "outrider_dctcp"

/* Bytes are counted when a window of data ends and when the connection ends. */
enum AgentDctcpCount {
  kAgentDctcpConnections,    /* connections with ECN */
  kAgentDctcpWithoutEcn,     /* connections whose peer negotiated no ECN; they use Reno */
  kAgentDctcpAckedBytes,     /* bytes sent and acknowledged */
  kAgentDctcpEchoedBytes,    /* those of them acknowledged with ECE */
  kAgentDctcpMarkReductions, /* window reductions after marks */
  kAgentDctcpLossReductions, /* window reductions after losses; each time-out counts */
  kAgentDctcpCeChanges,      /* changes between CE and no CE in received segments */
  kAgentDctcpCounts
};
