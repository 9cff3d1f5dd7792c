#!/usr/bin/env python3
"""virtio-net through vfio-pci: the quick experiment runs, a link that goes and comes is told and
counted under load, captures and telemetry show what moves, and a device that is unplugged ends both
programs in good order."""
import guest

SCRIPT = r"""
sysctl -q vm.nr_hugepages=256
dpdk-devbind.py --bind=vfio-pci $NICS
configure
quick
printf '[telemetry]\nprometheus = "127.0.0.1:9464"\n' >>switch.toml
both_run --capture s1.to_servers=servers.pcapng --capture-packets 50 --eal=--file-prefix=virtio
captured() {
  local - _; set +x
  for _ in {1..300}; do
    kept capture tcpdump -nn -r servers.pcapng
    [[ $(grep -c '^[0-9].* IP ' capture.txt) -ge 50 ]] && return
    sleep 0.2
  done
}
captured
kept scrape curl -sS --max-time 60 http://127.0.0.1:9464/metrics
echo /outrider/queue,s1.to_servers,0 | timeout 60 dpdk-telemetry.py -f virtio >queue.txt 2>&1
hand link 0 off
until_says switch.log "workers: link is down"
hand link 0 on
until_said_twice switch.log "workers: link is up"
hand unplug 2
ended switch $switch
hand unplug 3
ended trafficgen $trafficgen
"""


class Virtio(guest.GuestTest):
    SCRIPT = SCRIPT
    MACHINE = {"model": "virtio", "cables": 2}

    def test_the_quick_experiment_runs(self):
        self.quick_experiment_ran()

    def test_a_capture_can_be_read(self):
        self.assertEqual(self.status_of("capture"), 0, self.text("capture.txt"))
        packets = [line for line in self.text("capture.txt").splitlines() if " IP 10.0." in line]
        self.assertEqual(len(packets), 50)

    def test_telemetry_answers_while_packets_move(self):
        self.assertEqual(self.status_of("scrape"), 0, self.text("scrape.txt"))
        labels = r'switch="s1",port="to_servers",queue="0"'
        self.assertRegex(self.text("scrape.txt"),
                         r"outrider_queue_arrived_packets_total\{[^}]*" + labels + r"[^}]*\} [1-9]")
        self.assertRegex(self.text("queue.txt"), r'"arrived": \{?.*[1-9]')

    def test_a_link_that_goes_and_comes_is_told(self):
        told = self.text("switch.log")
        self.assertRegex(told, r"(?s)workers: link is up.*workers: link is down"
                               r".*workers: link is up")

    def test_an_unplugged_device_ends_both_programs_with_a_report(self):
        for program, device in (("switch", "servers"), ("trafficgen", "servers")):
            self.assertEqual(self.status_of(program), 3, self.text(f"{program}.log"))
            self.assertIn(f"device {device}: was unplugged", self.text(f"{program}.log"))
            report = self.json(f"{program}.json")
            self.assertTrue(report["ledger_balanced"])

if __name__ == "__main__":
    guest.main()
