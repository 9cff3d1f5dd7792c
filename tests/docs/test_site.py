#!/usr/bin/env python3
"""Goal: tools/site makes a site of all pages, whose search finds a word, and no link of which leads
nowhere. Method: it is built and served on a loopback port of the test's own to a headless browser."""
import functools
import http.server
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/report"))
import browser  # pylint: disable=wrong-import-position

PATIENCE = 30  # seconds, of failing tests alone


class Silent(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):  # pylint: disable=arguments-differ
        pass


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="outrider-site-")
        cls.addClassCleanup(scratch.cleanup)
        cls.site = pathlib.Path(scratch.name, "site")
        subprocess.run([ROOT / "tools/site", cls.site], check=True, stdout=subprocess.DEVNULL)

    def test_every_page_is_there_and_links_lead_somewhere(self):
        pages = list((ROOT / "docs").rglob("*.md"))
        self.assertGreater(len(pages), 50)
        for page in pages:
            name = page.relative_to(ROOT / "docs").with_suffix(".html")
            if page.name == "README.md":
                name = name.with_name("index.html")
            self.assertTrue((self.site / name).is_file(), name)
        for page in self.site.rglob("*.html"):
            if page.name == "404.html":  # served in any folder
                continue
            for target in re.findall(r'(?:href|src)="([^"#?]+)[^"]*"', page.read_text()):
                if not re.match(r"\w+:|//", target):
                    with self.subTest(page=page.name, target=target):
                        self.assertTrue((page.parent / target).exists())

    def test_the_search_finds_a_word(self):
        if browser.program() is None:
            self.skipTest("no browser is installed")
        handler = functools.partial(Silent, directory=self.site)
        with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server, \
                browser.Browser() as page:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            page.call("Page.navigate",
                      url=f"http://127.0.0.1:{server.server_port}/search.html?q=headroom")
            end, found = time.monotonic() + PATIENCE, ""
            while "pfc.html" not in found and time.monotonic() < end:
                found = page.evaluate("[...document.querySelectorAll('#mkdocs-search-results a')]"
                                      ".map((a) => a.href).join(' ')")
                time.sleep(0.05)
            server.shutdown()
        self.assertIn("pfc.html", found)


if __name__ == "__main__":
    if not shutil.which("mkdocs"):
        print("skipped: MkDocs is not installed")
        sys.exit(77)
    unittest.main()
