// Goal: a fault of a plan is told once, under the key that the user wrote, with the arm and the
// point only where others are without it. Method: experiments with one fault, and the lines they
// give.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/unit/lab/experiment/experiment_fixture.h"
#include "tools/lab/plan/plan.h"

namespace outrider::case_faults_test {
using namespace lab;
namespace {

/// Returns "key: problem" of each fault of the small experiment.
std::vector<std::string> faults_of(const std::string& parameters, const std::string& more) {
  const auto file = read_experiment(
      with(small_experiment(more), "[parameters]\n", "[parameters]\n" + parameters));
  if (!file) return {format_issues("file", file.issues)};
  std::vector<std::string> lines;
  for (const auto& issue : make_plan(*file.config).issues)
    lines.push_back(issue.key + ": " + issue.problem);
  return lines;
}

struct Row {
  std::string parameters, more;
  std::vector<std::string> lines;
};

const std::string kSweep = "[[sweep]]\nworkers = [1, 3, 4, 5, 6]\n";
const std::string kTwoQueues = "switch.scheduler = \"dwrr\"\n";

void expect_lines(const std::vector<Row>& rows) {
  for (const Row& row : rows)
    EXPECT_EQ(faults_of(row.parameters, row.more), row.lines) << row.parameters << row.more;
}

TEST(CaseFaults, EachIsToldOnceWithThePointOnlyIfOthersAreWithoutIt) {
  const std::string small = ": 1000 bytes: must be at least 9018";
  const std::string full = ": 40 packets: must be below the queue's limit_packets, 30";
  const std::string sizes =
      ": background.sizes: \"\": is required with background.load, e.g. \"web-search\"";
  expect_lines({
      {"switch.queue.limit_bytes = \"1kB\"\n",
       kSweep,
       {"parameters.switch.queue.limit_bytes" + small}},
      {"switch.queue.limit_packets = 30\n",
       kSweep,
       {"parameters.switch.marker.threshold_packets" + full}},
      {"",
       "[[arm]]\nlabel = \"off-none\"\nswitch.queue.limit_bytes = \"1kB\"\n" + kSweep,
       {"arm[3]: arm \"off-none\": switch.queue.limit_bytes" + small}},
      {"",
       "[[sweep]]\nswitch.queue.limit_packets = [30, 50]\n",
       {"sweep[0]: at switch.queue.limit_packets = 30: switch.marker.threshold_packets" + full}},
      {"switch.marker.threshold_packets = 40\n",
       "[[sweep]]\nswitch.queue.limit_packets = [30, 50]\n",
       {"parameters.switch.marker.threshold_packets" + full +
        ", at switch.queue.limit_packets = 30"}},
      {"",
       "[[sweep]]\nbackground.load = [0.5, 0.6]\n",
       {"sweep[0]: at background.load = 0.5 and at 1 more of the points" + sizes}},
      {"",
       "[[arm]]\nlabel = \"off-sizes\"\nbackground.sizes = \"web-search\"\n"
       "[[sweep]]\nbackground.load = [0.5]\n",
       {"sweep[0]: arm \"off\" at background.load = 0.5" + sizes}},
  });
}

TEST(CaseFaults, AFaultOfARolesQueueHasTheKeyThatTheUserWrote) {
  const std::string above = ": 500 packets: must be below the queue's limit_packets, 60";
  expect_lines({
      {kTwoQueues + "switch.ddl_queue.marker.threshold_packets = 500\n",
       "",
       {"parameters.switch.ddl_queue.marker.threshold_packets" + above}},
      {kTwoQueues + "switch.background_queue.marker.threshold_packets = 500\n",
       "",
       {"parameters.switch.background_queue.marker.threshold_packets" + above}},
      // The threshold is a default there, and no fault of other queues.
      {kTwoQueues + "switch.ddl_queue.limit_packets = 5\n",
       "",
       {"parameters.switch.ddl_queue.marker.threshold_packets: 40 packets: must be below the "
        "queue's limit_packets, 5"}},
      {kTwoQueues + "switch.ddl_queue.weight = 3.0\nswitch.queue.limit_packets = "
                    "300\nswitch.queue.lossless.xoff_bytes = 1000\n"
                    "switch.queue.lossless.xon_bytes = 2000\n",
       "",
       {"parameters.switch.queue.lossless.xon_bytes: 2000 B: must be below xoff_bytes, 1000 B"}},
      {"",
       "[[arm]]\nlabel = \"off-two\"\n" + kTwoQueues +
           "switch.ddl_queue.marker.threshold_packets = 500\n" + kSweep,
       {"arm[3]: arm \"off-two\": switch.ddl_queue.marker.threshold_packets" + above}},
  });
}

}  // namespace
}  // namespace outrider::case_faults_test
