"""RSS over two receive queues and two lcores of the switch, on any kind of NIC that has it."""
import guest

SCRIPT = r"""
sysctl -q vm.nr_hugepages=256
dpdk-devbind.py --bind=vfio-pci $NICS
{ echo 'more_lcores = [1]'; two_ports $near_a $near_b; stream_routes; } >two-lcores.toml
settings=('rate = "1kpps"' 'frame_bytes = 128' 'flows = 64')
{
  stream_ends 'lcore = 2' 'duration = "3s"' 'stream_drain = "2s"'
  stream forth "${settings[@]}"
  stream back "${settings[@]}"
} >streams.toml
outrider-switch --config two-lcores.toml --report rss.json --eal "--file-prefix=rss" \
  >rss.log 2>&1 &
switch=$!
until_says rss.log "right: link is up"
kept streams outrider-trafficgen --config streams.toml --report streams.json
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
