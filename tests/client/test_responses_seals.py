import unittest

from metrics.client import responses_seals, seals

ITEM = {"id": "rs_1", "type": "reasoning", "status": "completed", "summary": [], "encrypted_content": "gA"}
SENT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gA"}


class SealsTest(unittest.TestCase):
    def setUp(self):
        self.addCleanup(seals.forget)
        self.addCleanup(responses_seals.forget)

    def test_only_its_own_model_gets_it(self):
        responses_seals.note("e:m", ITEM)
        self.assertEqual(responses_seals.fit("e:m", [ITEM]), [SENT])
        self.assertEqual(responses_seals.fit("e:other", [ITEM]), [])

    def test_one_that_nobody_knows_is_believed_until_it_is_refused(self):
        self.assertEqual(responses_seals.fit("e:m", [ITEM]), [SENT])
        responses_seals.distrust("e:m")
        self.assertEqual(responses_seals.fit("e:m", [ITEM]), [])
        self.assertEqual(responses_seals.fit("e:other", [ITEM]), [SENT])

    def test_after_a_refusal_only_what_came_since_is_sent(self):
        responses_seals.note("e:m", ITEM)
        responses_seals.distrust("e:m")
        self.assertEqual(responses_seals.fit("e:m", [ITEM]), [])
        responses_seals.note("e:m", ITEM)
        self.assertEqual(responses_seals.fit("e:m", [ITEM]), [SENT])

    def test_what_holds_nothing_sealed_is_left_out(self):
        self.assertEqual(responses_seals.fit("e:m", [{**ITEM, "encrypted_content": None}, {}]), [])
