"""What the documents tell people to type is typed here."""

import json
import re
import shlex
import unittest
import urllib.request

from tests.running import ROOT, Running

DOCUMENTS = ("README.md", "docs/GATEWAY.md")


def commands():
    """Every curl of the documents: (document, its words). A line that ends in a backslash goes on."""
    for name in DOCUMENTS:
        text = (ROOT / name).read_text(encoding="utf-8").replace("\\\n", " ")
        for line in re.findall(r"^    (curl .*)$", text, re.MULTILINE):
            yield name, shlex.split(line)


def request(words, url):
    """The request that curl would make of `words`, at the server `url`."""
    address, headers, body = words[1], {}, None
    for flag, value in zip(words[2::2], words[3::2], strict=True):
        if flag == "-H":
            name, _, content = value.partition(":")
            headers[name] = content.strip()
        else:
            body = value.encode()
    return urllib.request.Request(address.replace("http://127.0.0.1:8122", url), body, headers)


class CurlTest(unittest.TestCase):
    def test_every_curl_answers(self):
        asked = list(commands())
        self.assertGreaterEqual(len(asked), 7)
        with Running() as bench:
            for name, words in asked:
                asking = request(words, bench.url)
                with self.subTest(name, url=words[1]), urllib.request.urlopen(asking) as answer:
                    self.assertIn("practice-lint", json.dumps(json.loads(answer.read())))
