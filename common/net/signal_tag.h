#pragma once

#include "common/core/flow_key.h"
#include "common/core/signal_key.h"
#include "common/net/udp_signal.h"

namespace outrider::udp_signal {

/// Signs a START. Any change of the signal afterwards makes the tag wrong.
///
/// The tag is SipHash-2-4 with 128 bits (Aumasson, Bernstein, INDOCRYPT 2012; libsodium's
/// crypto_shorthash_siphashx24) of 60 bytes: all of the message before the tag, then the
/// datagram's source and destination addresses and its source and destination ports in network
/// byte order. An ACK has the tag of the START that it answers.
/// @param datagram  addresses and UDP ports of the START
void sign(Signal& start, const SignalKey& key, const FlowKey& datagram) noexcept;

/// Returns whether the signal has the tag that the key gives it. The time it takes depends on no
/// secret. It does not say whether the message is new: that is ReplayWindow's.
/// @param datagram  addresses and UDP ports of the message itself, of a START or an ACK
/// @pre signal.proof
[[nodiscard]] bool is_signed_by(const Signal& signal, const SignalKey& key,
                                const FlowKey& datagram) noexcept;

}  // namespace outrider::udp_signal
