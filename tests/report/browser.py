"""Headless Chromium over the DevTools protocol, with the standard library alone.

The protocol runs over two pipes (--remote-debugging-pipe: descriptors 3 and 4, messages of
JSON that end with a zero byte), so no port is opened.
"""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 60  # seconds; of failing tests: a passing one never waits so long


def program():
    """Path of a browser, or None."""
    return next(filter(None, map(shutil.which, PROGRAMS)), None)


class Browser:
    """One page in a browser of its own; `complaints` collects what its console says."""

    def __init__(self):
        self.profile = tempfile.mkdtemp(prefix="outrider-browser-")
        to_browser, self.write = os.pipe()
        self.read, from_browser = os.pipe()
        self.process = subprocess.Popen(  # pylint: disable=consider-using-with
            ["/bin/sh", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "sh", program(),
             "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--hide-scrollbars", "--no-first-run", "--disable-background-networking",
             "--remote-debugging-pipe", f"--user-data-dir={self.profile}", "about:blank"],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer = b""
        self.number = 0
        self.session = None
        self.complaints = []
        self.requests = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.read)
        os.close(self.write)
        shutil.rmtree(self.profile, ignore_errors=True)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.write, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self._message(end)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]

    def _message(self, end):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read], [], [], max(0, end - time.monotonic()))
            data = os.read(self.read, 1 << 20) if ready else b""
            if not data:
                raise RuntimeError("the browser went away" if ready else "the browser is silent")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        event = json.loads(message)
        self._note(event)
        return event

    def _note(self, event):
        parameters = event.get("params", {})
        if event.get("method") == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif event.get("method") == "Runtime.consoleAPICalled" and \
                parameters["type"] in ("error", "warning", "assert"):
            self.complaints.append(str([a.get("value") for a in parameters["args"]]))
        elif event.get("method") == "Log.entryAdded" and \
                parameters["entry"]["level"] in ("error", "warning"):
            self.complaints.append(parameters["entry"]["text"])
        elif event.get("method") == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def evaluate(self, expression):
        """Value of a JavaScript expression, in the page."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise RuntimeError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def open(self, path, scheme="light", width=1280, height=800):
        """Loads a file and waits until the page says that it is ready, or complains."""
        self.complaints.clear()
        self.requests.clear()
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height,
                  deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia",
                  features=[{"name": "prefers-color-scheme", "value": scheme}])
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        end = time.monotonic() + PATIENCE
        while not self.evaluate("document.documentElement?.dataset.ready === 'yes'"):
            if self.complaints or time.monotonic() > end:
                return
            time.sleep(0.05)

    def screenshot(self, path, whole=False):
        clip = {}
        if whole:
            size = self.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
            clip = {"clip": {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1},
                    "captureBeyondViewport": True}
        data = self.call("Page.captureScreenshot", format="png", **clip)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
