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

#define AGENT_MAX_JOB_PORTS 16

enum AgentHoldCount {
  kHoldStarts,            /* STARTs that hold, or will when they are due */
  kHoldStartsRepeated,    /* of a burst that is known already, or is over */
  kHoldNotUnderstood,     /* looked like a START and is none */
  kHoldNotForHost,        /* START for another MAC or IP address, or from a group's MAC address */
  kHoldNotAccepted,       /* START from an address that is not accepted */
  kHoldOverRate,          /* START beyond the token bucket */
  kHoldNotConnected,      /* START for a connection that this host does not have */
  kHoldOverBudget,        /* START whose sender, or all together, have used up their time */
  kHoldOverTable,         /* START that found the table of bursts or senders full */
  kHoldAgentGone,         /* START while no agent runs */
  kHoldConnections,       /* connections whose handshake was seen */
  kHoldWithoutHandshake,  /* connections left alone: their window scale is unknown */
  kHoldAuthenticated,     /* connections left alone: MD5 or TCP-AO, which cover the window */
  kHoldWithoutTimestamps, /* connections left alone: what is in flight is unknown */
  kHoldAnsweredElsewhere, /* connections left alone: data come, but no ACK leaves here */
  kHoldOutOfWindow,       /* segments with data outside what was offered */
  kHoldAcksHeld,          /* ACKs whose window was lowered: while held */
  kHoldAcksOpening,       /* the same, soon after it */
  kHoldAcksStanding,      /* the same, while bursts are expected */
  kAgentHoldCounts
};

/* What a connection whose receiver is this host is known by. Its ends' programs write different
 * members, but for the mark, which ACKs set and data clear. */
struct AgentHoldFlow {
  __u64 mark_ns; /* when the ACK left that is timed */
  __u64 rtt_ns;  /* base round trip: the second shortest; 0: not measured */
  __u64 shortest_rtt_ns;
  __u64 rtt_at_ns;      /* when it was measured anew, without a queue; 0: never */
  __u64 recent_rtt_ns;  /* last round trip, with the queue */
  __u64 probe_from_ns;  /* held to measure: ACKs from then on find no queue; 0: not so */
  __u64 sent_bytes;     /* new payload since the handshake */
  __u64 epoch_ns;       /* when the epoch of the largest flight began */
  __u64 job_until_ns;   /* it is the job's, by its last START */
  __u32 acknowledged;   /* by the last ACK that left */
  __u32 edge;           /* furthest right edge that the sender was told */
  __u32 end;            /* one past the highest data that came */
  __u32 mark_timestamp; /* of the ACK that is timed */
  __u32 mark_acknowledged;
  __u32 last_timestamp;        /* of the last ACK */
  __u32 flight, flight_before; /* largest of this epoch and the one before [bytes] */
  __u32 active_epoch, active_bytes;
  __u32 start_sequence;           /* of its last START */
  __u32 segment_bytes;            /* largest payload of a segment, by this host's MSS option */
  __u16 true_window, told_window; /* fields of the last ACK */
  __u8 scale;
  __u8 known;    /* its handshake was seen */
  __u8 job_port; /* it is the job's, by its port */
  __u8 has_edge, marked, has_timestamp, active, limited, has_start, without_timestamps;
  __u8 slot; /* of its burst in the table, plus one; 0: none */
};
