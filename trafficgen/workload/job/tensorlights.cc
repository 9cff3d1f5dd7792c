#include "trafficgen/workload/job/tensorlights.h"

namespace outrider::tg {

TensorLights::TensorLights(const TensorLightsConfig& config,
                           std::span<const std::uint64_t> model_bytes, Host& host)
    : config_(config),
      host_(host),
      bands_(model_bytes, config.bands),
      band_of_class_(model_bytes.size() + 1, static_cast<std::uint8_t>(config.bands)) {
  assign();
  host_.nic().queue().make_classes(band_of_class_, kTensorLightsFloor);
}

void TensorLights::assign() noexcept {
  bands_.assign(rotation_, std::span(band_of_class_).subspan(1));
}

void TensorLights::start(Time now) {
  if (config_.mode == TensorLightsMode::kRotate) host_.set_timer(*this, 0, now + config_.interval);
}

void TensorLights::on_timer(std::uint32_t, Time now) noexcept {
  ++rotation_;
  assign();
  host_.nic().queue().set_bands(band_of_class_);
  host_.set_timer(*this, 0, now + config_.interval);
}

}  // namespace outrider::tg
