import inspect
import json
import unittest
from unittest import mock

import gateway
from metrics.bench import names
from metrics.limits import tokens
from metrics.web.table import Call, Table
from scripts.bench.forms import CHAT, FORMS, Question

PICTURE = "iVBORw0KGgo="
TABLE = Table(gateway.ROUTES)


def parsed(form, question):
    """The question as the gateway reads it, at the path it is sent to."""
    path = form.path(question)
    route, parts = TABLE.find("POST", path.partition("?")[0])
    call = Call("POST", path, body=json.dumps(form.body(question)).encode(), parts=parts)
    with mock.patch.object(names, "resolve", lambda model, reply=None: (model, reply or "all")):
        return inspect.unwrap(route.handler).args[0].parse(call)


class FormsTest(unittest.TestCase):
    def test_chat_is_the_first_and_no_format_is_left_out(self):
        self.assertEqual(FORMS[0].name, CHAT)
        asked = {TABLE.find("POST", form.path(Question("m", "")).partition("?")[0])[0] for form in FORMS}
        self.assertEqual({inspect.unwrap(route.handler).args[0] for route in asked}, set(gateway.FORMATS))

    def test_each_is_the_same_question(self):
        for form in FORMS:
            for stream in (False, True):
                for picture in ("", PICTURE) if form.sees else ("",):
                    with self.subTest(form.name, stream=stream, picture=picture):
                        request = parsed(form, Question("bench/one", "hello", stream, picture))
                        self.assertEqual((request.model, request.stream), ("bench/one", stream))
                        self.assertEqual(list(tokens.texts(request.messages)), ["hello"])
                        self.assertEqual(tokens.images(request.messages), len(picture) and 1)

    def test_a_job_is_right_when_the_last_word_came(self):
        job = FORMS[0].job(7, Question("m", "hello"), connections=3)
        self.assertEqual((job.port, job.path, job.connections), (7, "/v1/chat/completions", 3))
        self.assertEqual(json.loads(job.body)["messages"], [{"role": "user", "content": "hello"}])
        self.assertEqual(job.mark, "dog.")
