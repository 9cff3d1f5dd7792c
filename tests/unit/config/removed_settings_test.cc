// Goal: a file of an earlier version is refused by keys that are gone, each with what holds now,
// and no setting that there is counts as one of them. Method: files with removed keys, and the
// programs' own lists of settings.
#include "common/config/removed_settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/config/config_file.h"
#include "common/config/toml_file.h"
#include "switch/config/config_toml.h"
#include "switch/config/switch_settings.h"
#include "trafficgen/config/config_toml.h"
#include "trafficgen/config/generator_settings.h"

namespace outrider::removed_settings_test {
namespace {

using testing::HasSubstr;

TEST(RemovedSettings, AreRefusedWithWhatHolds) {
  const auto sw = sw::switch_config_from(parse_toml(R"(
[[switch]]
name = "s"
[switch.marker.pie]
alpha = 0.5
[[switch.port]]
name = "p"
[[switch.port.regulation.window.beyond]]
name = "far"
threshold_packets = 5
[switch.port.regulation.window]
release_rtt = 2.0
)")
                                             .config.value());
  const std::string faults = format_issues("f", sw.issues);
  EXPECT_THAT(faults, HasSubstr("switch[0].marker.pie.alpha: is gone: it follows from target"));
  EXPECT_THAT(faults, HasSubstr("window.beyond[0].threshold_packets: is gone: the threshold of"));
  EXPECT_THAT(faults, HasSubstr("window.release_rtt: unknown key")) << "never a setting";
}

TEST(RemovedSettings, AreToldByTheirTable) {
  EXPECT_THAT(removed_setting("transport[2].dctcp_gain"), HasSubstr("1/16"));
  EXPECT_THAT(removed_setting("parameters.ddl.transport.dctcp_gain"), HasSubstr("1/16"));
  EXPECT_EQ(removed_setting("job[0].dctcp_gain"), "");
  EXPECT_EQ(removed_setting("upstream.sweep"), "") << "part of a name";
  EXPECT_THAT(removed_setting("stream[0].sweep"), HasSubstr("ndr"));
}

TEST(RemovedSettings, AreNoSettings) {
  for (const auto* settings : {&sw::switch_settings(), &tg::generator_settings()})
    for (const auto& e : settings->entries()) EXPECT_EQ(removed_setting(e.path), "") << e.path;
}

}  // namespace
}  // namespace outrider::removed_settings_test
