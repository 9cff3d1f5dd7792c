#!/usr/bin/env python3
"""Linux hosts on machines of their own, at either side of a machine with the switch: the kernel's
NIC driver with its offloads on, CUBIC and the kernel's DCTCP with ECN, and a training job whose
bursts outrider-hostagent announces."""
import re
import shlex

import guest
import rack_test

DOCUMENT = guest.ROOT / "docs/linux-hosts.md"
[REHEARSAL] = re.findall(r"^```bash\n(.*?)^```", DOCUMENT.read_text(encoding="utf-8"),
                         re.MULTILINE | re.DOTALL)

SCRIPT = f"rehearsal={shlex.quote(REHEARSAL)}" + r"""
ln -s "$root/conf" conf
kept rehearsed bash -ec "$rehearsal"
on switch 'cat switch.json' >rehearsed.json
for machine in senders receivers; do kept $machine on $machine 'ethtool -k eth1'; done

# Bursts last for tens of milliseconds here, and so do the guests' pauses.
on switch 'sed -i "s/idle_end = .*/idle_end = \"100ms\"\nexpiry = \"2s\"/" switch.toml'
on switch 'outrider-switch --config switch.toml --report again.json' >switch.log 2>&1 &
switch=$!
until_says switch.log "senders: link is up"
until_says switch.log "receivers: link is up"
kept ping on senders 'for try in {1..30}; do ping -c 1 -W 2 10.0.2.1 && break; done'

# transfer CONTROL FLOWS: and what the sender's kernel says of its connections meanwhile
transfer() {
  kept $1 on senders "iperf3 --client 10.0.2.1 --port 7001 -C $1 --parallel $2 --bytes 4M & p=\$!
    while kill -0 \$p 2>/dev/null; do ss -tino dport = :7001 >>$1.ss; sleep 0.3; done; wait \$p"
  on senders "cat $1.ss" >$1-ss.txt
}
transfer dctcp 1
transfer cubic 4
kept counts on receivers 'nstat -asz IpExtInCEPkts TcpExtTCPOFOQueue'
kept nic on senders 'ethtool -S eth1'

# The job knows nothing of the agents beside it.
job=$root/tests/hosts/training_job.py
shape="10.0.2.1 5000 --profile $root/conf/models/resnet32-cifar.toml --scale 4 --iterations 4"
on senders 'outrider-hostagent announce --interface eth1 --server 10.0.2.1:5000 --job 1 \
  --idle-gap 500ms --threshold 5 --report announce.json' >announce.log 2>&1 &
announce=$!
on receivers 'outrider-hostagent answer --interface eth1 --accept-from 10.0.1.0/24 \
  --report answer.json' >answer.log 2>&1 &
answer=$!
until_says announce.log "watching eth1"
until_says answer.log "answering at eth1"
on receivers "python3 -u $job server $shape --workers 1" >job-server.log 2>&1 &
server=$!
until_says job-server.log ready
kept job on senders "python3 -u $job worker $shape --rank 0 --compute 1.5"
ended job-server $server
on senders 'pkill -INT outrider'
on receivers 'pkill -INT outrider'
ended announce $announce
ended answer $answer
on switch 'pkill -INT outrider'
ended switch $switch
on senders 'cat announce.json' >announce.json
on receivers 'cat answer.json' >answer.json
on switch 'cat again.json' >switch.json
"""


class RackHosts(rack_test.RackTest):
    SCRIPT = SCRIPT
    MACHINE = {"newer": True}  # 7.2 sends IP fragments where TSO is on
    CABLES = [("senders", "switch"), ("receivers", "switch")]

    def queue(self, report="switch.json"):
        return next(q for q in self.json(report)["queues"] if q["port_name"] == "to_receivers")

    def marks(self, report):
        return sum(self.queue(report)["marks"]["background"].values())

    def seen(self, file):
        """Packets with CE, as the receivers count them."""
        return int(re.search(r"IpExtInCEPkts\s+(\d+)", self.text(file))[1])

    def test_offloads_are_on(self):
        for name in ("senders", "receivers"):
            for offload in ("tcp-segmentation-offload", "generic-receive-offload",
                            "tx-checksumming"):
                self.assertIn(f"{offload}: on", self.text(f"{name}.txt"))
        completed = int(re.search(r"tx_tcp_seg_good: (\d+)", self.text("nic.txt"))[1])
        self.assertGreater(completed, 0, "the NIC cut segments into frames")

    def test_the_documented_rehearsal_runs(self):
        said = self.text("rehearsed.txt")
        self.assertEqual(self.status_of("rehearsed"), 0, said)
        self.assertIn("5 received, 0% packet loss", said)
        self.assertGreater(self.seen("rehearsed.txt"), 0)
        self.assertEqual(self.seen("rehearsed.txt"), self.marks("rehearsed.json"))

    def test_senders_hear_of_marks_and_nothing_is_lost(self):
        for control in ("dctcp", "cubic"):
            self.assertEqual(self.status_of(control), 0, self.text(f"{control}.txt"))
            self.assertRegex(self.text(f"{control}-ss.txt"),
                             rf" ecn .*{control} .*delivered_ce:[1-9]")
        self.assertEqual(self.seen("counts.txt"),
                         self.marks("rehearsed.json") + self.marks("switch.json"))
        self.assertEqual(sum(sum(d.values()) for d in self.queue()["drops"].values()), 0)

    def test_a_bulk_transfer_keeps_its_order(self):
        early = int(re.search(r"TcpExtTCPOFOQueue\s+(\d+)", self.text("counts.txt"))[1])
        self.assertEqual(early, 0, "segments that came before their turn")

    def test_bursts_of_the_job_are_announced_and_answered(self):
        self.assertEqual(self.status_of("job"), 0, self.text("job.txt"))
        self.assertEqual(self.status_of("announce"), 0, self.text("announce.log"))
        self.assertEqual(self.status_of("answer"), 0, self.text("answer.log"))
        sent = self.json("announce.json")["starts_sent"]
        self.assertEqual(sent, 4)
        self.assertEqual(self.json("answer.json")["answered"], sent)
        self.assertEqual(self.queue()["starts_armed"], sent)
        # A START may come after its burst: the agent waits for the guest's processor.
        self.assertGreater(self.queue()["recovered_burst_end"], 0)

    def test_the_switch_accounts_for_every_packet(self):
        self.assertEqual(self.status_of("switch"), 0, self.text("switch.log"))
        self.assertTrue(self.json("switch.json")["ledger_balanced"])


if __name__ == "__main__":
    guest.main()
