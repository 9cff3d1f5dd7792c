"""RSS over two receive queues and two lcores of the switch, on any kind of NIC that has it. The
packets are probes, into which the switch writes hop records."""
import guest

SCRIPT = r"""
sysctl -q vm.nr_hugepages=256
dpdk-devbind.py --bind=vfio-pci $NICS
{
  echo 'more_lcores = [1]'
  two_ports $near_a $near_b
  stream_routes
  printf '[switch.hop_records]\nudp_port = 5001\n'
} >two-lcores.toml
settings=('rate = "1kpps"' 'frame_bytes = 128' 'flows = 64' 'hops = 1' 'latency_samples = 4000')
{
  stream_ends 'lcore = 2' 'duration = "3s"' 'stream_drain = "2s"'
  stream forth "${settings[@]}"
  stream back "${settings[@]}"
} >streams.toml
outrider-switch --config two-lcores.toml --report rss.json --eal "--file-prefix=rss" \
  >rss.log 2>&1 &
switch=$!
until_says rss.log "right: link is up"
kept streams outrider-trafficgen --config streams.toml --report streams.json --hops hops.csv
for port in 0 1; do
  echo "/ethdev/xstats,$port" | dpdk-telemetry.py -f rss >"xstats-$port.txt" 2>&1
  echo "/ethdev/info,$port" | dpdk-telemetry.py -f rss >"info-$port.txt" 2>&1
done
kill -INT $switch
ended rss $switch
"""


class RssTest(guest.GuestTest):
    SCRIPT = SCRIPT

    def no_packet_was_lost_or_overtook_one_of_its_flow(self):
        self.assertEqual(self.status_of("streams"), 0, self.text("streams.txt"))
        self.assertEqual(self.status_of("rss"), 0, self.text("rss.log"))
        # A slow guest sends fewer than the 3,000 packets that were asked for.
        said = self.text("streams.txt")
        self.assertEqual(said.count("lost 0, reordered 0"), 2, said)
        self.assertRegex(said, r"received [1-9]\d{3}, lost 0")
        self.assertTrue(self.json("rss.json")["ledger_balanced"])

    def both_queues_were_opened(self):
        for port in (0, 1):
            self.assertRegex(self.text(f"info-{port}.txt"), r'"nb_rx_queues": 2\b')

    def each_packet_has_one_hop_record(self):
        switch, streams = self.json("rss.json"), self.json("streams.json")["streams"]["streams"]
        arrived = {s["name"]: s["distinct"] for s in streams}
        # Ports in the order of the file: "left" is 0, and what goes forth leaves by "right".
        for stream, port in (("back", 0), ("forth", 1)):
            [hops] = [s["hops"] for s in streams if s["name"] == stream]
            self.assertEqual((hops["probes"], hops["incomplete"]), (arrived[stream], 0))
            [hop] = hops["hops"]
            self.assertEqual((hop["switch_id"], hop["port"], hop["queue"]), (0, port, 0))
            records = [line.split(",") for line in self.text("hops.csv").splitlines()
                       if line.startswith(f"{stream},")]
            self.assertEqual(len(records), arrived[stream])
        self.assertEqual(sum(q["hop_records"] for q in switch["queues"]), sum(arrived.values()))
        self.assertEqual(sum(q["hop_records_no_room"] for q in switch["queues"]), 0)
