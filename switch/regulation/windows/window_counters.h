#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "common/core/figure.h"
#include "common/core/per_reason.h"

namespace outrider {

/// The reason for the window that an answer of a background flow left with. Every answer has
/// exactly one.
enum class WindowReason : std::uint8_t {
  kUnknown,    ///< left alone: no handshake was seen, or rewriting is not allowed
  kHandshake,  ///< left alone: SYN, RST, or no ACK flag
  kClosing,    ///< left alone: the sender has sent FIN or RST
  kReceiver,   ///< left alone: the receiver offers less than the clamp would
  kRecovery,   ///< the sender repairs a loss: twice the window kept otherwise
  kSmall,      ///< less than a bandwidth-delay product sent since its handshake: never held
  kStanding,   ///< nothing is regulated
  kHeld,       ///< regulated: the window that the rule leaves
  kReleasing,  ///< opening, on the way from held to standing
  kOld,        ///< acknowledges less than one before it: at most the edge that was told
};
inline constexpr std::size_t kWindowReasons = 10;
inline constexpr std::array<std::string_view, kWindowReasons> kWindowReasonNames{
    "unknown", "handshake", "closing", "receiver",  "recovery",
    "small",   "standing",  "held",    "releasing", "old"};
static_assert(static_cast<std::size_t>(WindowReason::kOld) + 1 == kWindowReasons);
constexpr const auto& names_of(WindowReason) noexcept { return kWindowReasonNames; }

/// Identities: sum of answers == answers of background that came back through the port;
/// rewritten <= answers[kRecovery] + ... + answers[kOld];
/// flows_added == flows_evicted + flows in the table.
struct WindowCounters {
  PerReason<WindowReason> answers{};
  std::uint64_t rewritten = 0;  ///< answers whose window field was changed
  std::uint64_t flows_added = 0;
  std::uint64_t flows_evicted = 0;
  std::uint64_t flows_refused = 0;            ///< the table was full of flows in use
  std::uint64_t flows_without_handshake = 0;  ///< first seen in mid-stream
  std::uint64_t flows_without_answers = 0;    ///< answers take another path: nothing to rewrite
  std::uint64_t flows_authenticated = 0;
  std::uint64_t segments_out_of_window = 0;  ///< no receiver would accept them: state unchanged
  std::uint64_t bursts_refused = 0;          ///< no room: windows are not held for them
  std::uint64_t releases = 0;      ///< changes of the queue's windows from held to releasing
  std::uint64_t spared_marks = 0;  ///< filled in by the caller that marks
  /// STARTs at which held flows would keep more of path and queue than any lead makes up for. They
  /// are counted where the lead is measured.
  std::uint64_t starts_beyond_lead = 0;
  std::uint64_t leads_told = 0;  ///< filled in by the caller that writes them
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, WindowCounters>
void fields(V& v, R& r) {
  v.value(counter("answers", "packets", "Answers of background, by what became of their window"),
          r.answers);
  v.value(counter("rewritten", "packets", "Answers whose window was changed"), r.rewritten);
  v.value(counter("flows_added", "flows", "Background flows taken into the table"), r.flows_added);
  v.value(counter("flows_evicted", "flows", "Background flows that left the table for others"),
          r.flows_evicted);
  v.value(counter("flows_refused", "flows", "Background flows for which the table had no room"),
          r.flows_refused);
  v.value(counter("flows_without_handshake", "flows", "Background flows met in mid-stream"),
          r.flows_without_handshake);
  v.value(counter("flows_without_answers", "flows",
                  "Background flows whose answers do not come back through the port"),
          r.flows_without_answers);
  v.value(counter("flows_authenticated", "flows", "Background flows that may not be rewritten"),
          r.flows_authenticated);
  v.value(
      counter("segments_out_of_window", "packets",
              "Segments of background that no receiver would accept: nothing learned from them"),
      r.segments_out_of_window);
  v.value(counter("bursts_refused", "bursts", "Bursts for which no window is held: no room"),
          r.bursts_refused);
  v.value(counter("releases", "changes", "Changes of the queue's windows from held to releasing"),
          r.releases);
  v.value(counter("spared_marks", "packets", "Marks that packets of held flows were spared"),
          r.spared_marks);
  v.value(counter("starts_beyond_lead", "signals",
                  "STARTs at which held flows keep more than a sixth of path and queue: no lead is "
                  "enough"),
          r.starts_beyond_lead);
  v.value(counter("leads_told", "signals", "Answers to STARTs that a lead was written into"),
          r.leads_told);
}

/// Windows of a queue; zeros unless its mode rewrites them.
struct WindowFigures {
  WindowCounters window{};
};

template <class V, class R>
requires std::same_as<std::remove_const_t<R>, WindowFigures>
void fields(V& v, R& r) { v.value("window", r.window); }

}  // namespace outrider
