#!/usr/bin/env python3
"""outrider-hostagent keeps no more rights than its end needs, and still cleans up with them."""
import os
import pathlib

import agents
from agents import PORT, SERVER

NET_ADMIN, BPF = 1 << 12, 1 << 39
NOBODY = 65534


def status_of(process):
    """Of /proc/PID/status: key to list of words."""
    lines = pathlib.Path(f"/proc/{process.process.pid}/status").read_text().splitlines()
    return {line.split(":")[0]: line.split(":")[1].split() for line in lines}


class Privileges(agents.AgentTest):
    def expect(self, agent, uid):
        status = status_of(agent)
        self.assertEqual(status["Uid"], [str(uid)] * 4)
        for kind in ("CapEff", "CapPrm"):
            self.assertEqual(int(status[kind][0], 16), NET_ADMIN | BPF, kind)
        for kind in ("CapInh", "CapAmb"):
            self.assertEqual(int(status[kind][0], 16), 0, kind)
        self.assertEqual(status["NoNewPrivs"], ["1"])

    def test_announcing_as_nobody(self):
        agent = self.announce("--server", f"{SERVER}:{PORT}", "--user", "nobody")
        self.expect(agent, NOBODY)
        self.assertEqual(status_of(agent)["Groups"], [str(NOBODY)])
        self.assertNotEqual(self.filters("worker"), [])
        self.interrupt(agent)
        self.assertEqual(self.filters("worker"), [])
        self.assertEqual(self.lab.report("announce")["onsets"], 0, "in a directory of root's")

    def test_announcing_in_the_tos_byte_and_answering_as_nobody(self):
        self.start(agents.config(accept_tos="true"))
        self.assertEqual(self.ping("worker", SERVER, agents.lab.PATIENCE), 64)
        form = ["--form", "tos", "--user", "nobody"]
        answer = self.answer(*form)
        agent = self.announce("--server", f"{SERVER}:{PORT}", *form)
        for each in (agent, answer):
            self.expect(each, NOBODY)
        self.lab.run_in(self.hosts["server"], "ip", "address", "add", "10.99.0.1/24", "dev", "eth0")
        self.job(3)
        self.interrupt(agent, answer)
        self.assertEqual(self.lab.report("announce")["starts_sent"], 4)
        self.assertEqual(self.lab.report("answer")["answered"], 4, "maps are read to the end")
        for host in ("worker", "server"):
            self.assertEqual(self.filters(host), [])

    def test_recording_as_nobody(self):
        self.lab.directory.chmod(0o711)
        out = self.lab.directory / "recording"
        words = ["record", "--interface", "eth0", "--server", f"{SERVER}:{PORT}", "--out", out,
                 "--user", "nobody"]
        agent = self.agent("worker", *words)
        agent.says("recording at eth0")
        self.expect(agent, NOBODY)
        self.assertEqual(out.stat().st_uid, NOBODY)
        self.interrupt(agent)
        self.assertIn("bursts.csv", os.listdir(out))

        os.chown(out, 0, 0)
        refused = self.agent("worker", *words)
        self.ended(refused, 3)
        self.assertIn("user nobody may not make files there; name its owner with --user",
                      refused.output())
        self.assertEqual(self.filters("worker"), [])

    def test_root_without_the_rest_of_its_rights(self):
        agent = self.announce("--server", f"{SERVER}:{PORT}")
        self.expect(agent, 0)
        self.assertIn("--user NAME takes another user", agent.output())
        self.interrupt(agent)
        self.assertEqual(self.filters("worker"), [])

    def test_who_called_sudo_is_the_default(self):
        agents.lab.ENVIRONMENT["SUDO_UID"] = str(NOBODY)
        self.addCleanup(agents.lab.ENVIRONMENT.pop, "SUDO_UID")
        agent = self.announce("--server", f"{SERVER}:{PORT}")
        self.expect(agent, NOBODY)
        self.interrupt(agent)

    def test_a_user_that_is_not_there_is_refused(self):
        agent = self.agent("worker", "announce", "--interface", "eth0", "--server",
                           f"{SERVER}:{PORT}", "--user", "no-such-user")
        self.ended(agent, 3)
        self.assertIn("--user: no-such-user: there is no such user", agent.output())
        self.assertEqual(self.filters("worker"), [])


if __name__ == "__main__":
    agents.main()
