import unittest

from metrics.play import failing
from metrics.records import Answer, Seat, Target

TARGET = Target("mm", "e:mm", "e", "e", "mm", "http://127.0.0.1:9/v1")


def failed(status, error, message="no", retry_after=None, code=None, kind="error"):
    seat = Seat("r20261129-114140-0a1b2c3d.1", "member", TARGET)
    return Answer(
        seat, kind, error=error, message=message, http_status=status, retry_after=retry_after, code=code
    )


LIMITED = failed(429, "rate_limited", retry_after=9)
LATE = failed(504, "timeout", kind="timeout")
CONTEXT = failed(400, "context", "maximum context length is 8", code="context_length_exceeded")
LARGE = failed(413, "context", "prompt is too long")


class FailingTest(unittest.TestCase):
    TOGETHER = [
        ("all limited", [LIMITED, failed(429, "rate_limited", retry_after=3)], 429, 3, None),
        ("limited, no times said", [failed(429, "rate_limited")] * 2, 429, None, None),
        ("all late", [LATE, LATE], 504, None, None),
        ("no credit, in different words", [failed(402, "payment"), failed(403, "payment")], 402, None, None),
        ("no credit, called a rate limit", [failed(429, "payment", retry_after=3)] * 2, 402, None, None),
        ("the same refusal", [failed(400, "bad_request")] * 2, 400, None, None),
        ("bad keys", [failed(401, "auth")] * 2, 401, None, None),
        ("too long", [CONTEXT, CONTEXT], 400, None, "context_length_exceeded"),
        ("too long, in different statuses", [CONTEXT, LARGE], 400, None, "context_length_exceeded"),
        ("broken", [failed(500, "upstream")] * 2, 502, None, None),
        ("mixed", [LIMITED, failed(400, "bad_request")], 502, None, None),
        ("mixed with a long one", [CONTEXT, LIMITED], 502, None, None),
    ]

    def test_what_they_have_in_common_counts(self):
        for name, answers, status, wait, code in self.TOGETHER:
            with self.subTest(name):
                problem = failing.together(answers, "every member", "no member of core")
                self.assertEqual((problem.status, problem.retry_after, problem.code), (status, wait, code))
                self.assertRegex(problem.message, "^(every member|no member of core) .*mm: ")

    def test_one_failure_is_passed_on(self):
        for answer, code in [(LIMITED, None), (CONTEXT, "context_length_exceeded"), (LARGE, failing.CONTEXT)]:
            with self.subTest(answer.error, status=answer.http_status):
                problem = failing.alone(answer)
                self.assertEqual((problem.status, problem.kind), (answer.http_status, answer.error))
                self.assertEqual((problem.code, problem.retry_after), (code, answer.retry_after))
                self.assertIn(answer.message, problem.message)

    def test_a_failure_that_says_nothing(self):
        problem = failing.alone(Answer(Seat("c", "member", TARGET), "empty"))
        self.assertEqual((problem.status, problem.message), (502, "mm: empty"))
