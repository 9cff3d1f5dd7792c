// Goal: the pcap preview holds what a run sends, when it sends it. Method: the file is
// read back by the reader of replay; streams are judged by their own receiver, SYNs
// against the CSV preview. No EAL runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "common/net/headers.h"
#include "common/net/tcp_segment.h"
#include "common/runtime/poll_program.h"
#include "tests/support/file_size_limit.h"
#include "tests/support/source_path.h"
#include "trafficgen/apps/preview.h"
#include "trafficgen/hosts/host.h"
#include "trafficgen/import/pcap_trace.h"
#include "trafficgen/streams/engine/stream_receiver.h"
#include "trafficgen/streams/replay/pcap_writer.h"
#include "trafficgen/transport/connection/initial_sequence.h"

namespace outrider::preview_pcap_test {
using namespace tg;
namespace {

using namespace std::chrono_literals;

class PreviewPcap : public testing::Test {
 protected:
  PreviewPcap() {
    std::string directory = std::filesystem::temp_directory_path() / "outrider-preview-XXXXXX";
    directory_ = mkdtemp(directory.data());
    file_ = directory_ + "/p.pcap";
    config_.devices = {{.name = "d", .device = "net_null0"}};
  }
  ~PreviewPcap() override { std::filesystem::remove_all(directory_); }

  PcapTrace shown(Duration until, std::uint64_t limit = 1000) {
    result_ = preview_pcap(config_, until, limit, file_);
    PcapResult read = load_pcap(file_, {});
    EXPECT_EQ(read.problem, "");
    EXPECT_EQ(read.trace.packets.size(), result_.frames);
    return std::move(read.trace);
  }

  std::string directory_, file_;
  GeneratorConfig config_;
  PreviewFrames result_;
};

StreamConfig stream(const std::string& name, std::uint64_t pps) {
  StreamConfig s;
  s.name = name;
  s.device = "d";
  s.rate = StreamRate{StreamRate::Unit::kPackets, pps};
  s.source = "10.0.0.1";
  s.destination = "10.1.0.1";
  return s;
}

TEST_F(PreviewPcap, StreamsAreSentWholeAndOnTime) {
  StreamConfig slow = stream("slow", 1000);
  slow.start = 0ms;
  StreamConfig fast = stream("fast", 3000);
  fast.frame_bytes = 700;
  fast.flows = 7;
  fast.start = 500us;
  config_.streams = {slow, fast};
  const PcapTrace trace = shown(10ms);
  ASSERT_EQ(trace.packets.size(), 10U + 29U) << "due from 0.5 ms to 9.83 ms, and from 0 to 9 ms";

  StreamReceiver receiver({{.id = 0, .flows = std::make_shared<const StreamFlows>(slow)},
                           {.id = 1, .flows = std::make_shared<const StreamFlows>(fast)}},
                          1'000'000'000);
  std::map<std::uint32_t, std::vector<Duration>> due;  // by size
  for (std::size_t i = 0; i < trace.packets.size(); ++i) {
    const auto frame = trace.frame(i);
    const auto at = static_cast<std::uint64_t>(trace.packets[i].at.count());
    EXPECT_EQ(receiver.receive(frame, static_cast<std::uint32_t>(frame.size()), at),
              StreamEnd::kTaken)
        << i;
    due[trace.packets[i].size].push_back(trace.packets[i].at);
  }
  ASSERT_EQ(due[60].size(), 10U);
  ASSERT_EQ(due[696].size(), 29U);
  for (int k = 0; k < 10; ++k) EXPECT_EQ(due[60][static_cast<std::size_t>(k)], k * 1ms);
  for (int k = 0; k < 29; ++k)
    EXPECT_EQ(due[696][static_cast<std::size_t>(k)], 500us + Duration{k * 1'000'000 / 3}) << k;
  for (std::size_t s = 0; s < 2; ++s) {
    EXPECT_EQ(receiver.counters(s).missing(), 0U);
    EXPECT_EQ(receiver.counters(s).distinct, s == 0 ? 10U : 29U);
    EXPECT_EQ(receiver.latency(s).max(), 0U) << "the stamp is the due time";
  }
}

TEST_F(PreviewPcap, TellsWhenItIsCutOff) {
  config_.streams = {stream("s", 1000)};
  EXPECT_EQ(shown(10ms, 4).packets.size(), 4U);
  EXPECT_TRUE(result_.ends_before_run);
  EXPECT_EQ(shown(10ms, 10).packets.size(), 10U);
  EXPECT_FALSE(result_.ends_before_run);
}

TEST_F(PreviewPcap, FlowsBeginWithTheirSyn) {
  config_.hosts = {{.name = "a", .address = "10.0.0.1", .device = "d"},
                   {.name = "b", .address = "10.0.0.2", .device = "d"}};
  config_.transports = {{"t", {}}};
  config_.long_flows = {{"bulk", {"a"}, {"b"}, 2, "t", 0ms, 0ms, 20000}};
  FlowsConfig flows;
  flows.name = "mice";
  flows.from = {"b"};
  flows.to = {"a"};
  flows.distribution = source_path("conf/distributions/hadoop.cdf");
  flows.rate = BitRate{20'000'000};
  flows.transport = "t";
  flows.tcp_port = 555;
  config_.flows = {flows};
  JobConfig job;
  job.name = "train";
  job.workers = {"a"};
  job.servers = {"b"};
  job.transport = "t";
  job.burst_bytes = 1000;
  job.iterations = 3;
  config_.jobs = {job};

  const PcapTrace trace = shown(5s);
  const Preview listed = preview(config_, 5s);
  EXPECT_EQ(result_.without_frame, 1U) << "the job's start";
  ASSERT_EQ(trace.packets.size() + 1, listed.events);
  ASSERT_GT(trace.packets.size(), 10U);
  std::map<std::uint32_t, std::uint16_t> next_port{{0x0A000001, 32768}, {0x0A000002, 32768}};
  std::istringstream lines(listed.csv);
  std::string line;
  std::getline(lines, line);
  for (std::size_t i = 0; i < trace.packets.size(); ++i) {
    do std::getline(lines, line);
    while (line.find("job_start") != std::string::npos);
    EXPECT_EQ(trace.packets[i].at.count(), std::stoll(line));
    const auto frame = trace.frame(i);
    const auto& ip = *reinterpret_cast<const Ipv4Header*>(frame.data() + sizeof(EthernetHeader));
    const auto tcp = frame.subspan(sizeof(EthernetHeader) + sizeof(Ipv4Header));
    const auto& header = *reinterpret_cast<const TcpHeader*>(tcp.data());
    TcpSegment segment;
    const auto tcp_bytes = static_cast<std::uint32_t>(ip.total_length.get() - sizeof(Ipv4Header));
    ASSERT_TRUE(decode_tcp(tcp, tcp_bytes, segment));
    EXPECT_TRUE(segment.has(kTcpSyn));
    EXPECT_FALSE(segment.has(kTcpAck));
    EXPECT_NE(segment.mss, 0);
    const bool mouse = line.find("mice") != std::string::npos;
    EXPECT_EQ(header.destination_port.get(), mouse ? 555 : 20000 + i);
    EXPECT_EQ(header.source_port.get(), next_port.at(ip.source.get())++);
    EXPECT_EQ(segment.sequence,
              initial_sequence_of({ip.source.get(), ip.destination.get(), header.source_port.get(),
                                   header.destination_port.get()},
                                  sequence_key_of(GeneratorConfig{}.seed)));
  }
}

TEST_F(PreviewPcap, LeavesNothingBehindUnlessWhole) {
  {
    PcapWriter writer(file_);
    const std::array<std::uint8_t, 60> frame{};
    writer.write(Time{} + 1500ms + 7ns, frame);
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
  EXPECT_THROW(PcapWriter(directory_ + "/none/p.pcap"), std::runtime_error);
}

// The write that fails is an early one, of which the stream keeps no cause.
TEST_F(PreviewPcap, NamesTheCauseIfItDoesNotFit) {
  const FileSizeLimit limit(10'000);
  {
    PcapWriter writer(file_);
    const std::array<std::uint8_t, 1000> frame{};
    for (int i = 0; i < 100; ++i) writer.write(Time{} + 1ms * i, frame);
    errno = 0;
    try {
      writer.close();
      ADD_FAILURE() << "100 kB in 10 kB";
    } catch (const std::runtime_error& error) {
      EXPECT_THAT(error.what(), testing::HasSubstr("cannot be written: File too large"));
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(directory_));
}

TEST(PreviewLimit, RefusesWhatIsBeyondTheDisk) {
  EXPECT_EQ(preview_limit({}, 1518), 1'000'000U);
  EXPECT_EQ(preview_limit(5'000'000, 1518), 5'000'000U);
  EXPECT_THROW(preview_limit(6'000'000, 1518), UsageError) << "9.2 GB";
  EXPECT_THROW(preview_limit(0, 64), UsageError);
}

}  // namespace
}  // namespace outrider::preview_pcap_test
