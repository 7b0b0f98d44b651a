import json
import unittest

from scripts.bench import voices


class Voices(unittest.TestCase):
    def test_it_says_whole_markdown_in_pieces_of_a_words_length(self) -> None:
        said = voices.tokens(600)
        self.assertEqual(len(said), 600)
        self.assertTrue(all(len(word.strip()) <= 6 for word in said))
        whole = "".join(said)
        for mark in ("## What the retry does, part 1", "\n```python\n", "\n| torn |", "part 2"):
            self.assertIn(mark, whole)

    def test_the_stream_is_chat_completions_whole(self) -> None:
        lines = [event.removeprefix(b"data: ").strip() for event in voices.events(["a", " b"])]
        self.assertEqual(lines.pop(), b"[DONE]")
        chunks = [json.loads(line) for line in lines]
        deltas = [chunk["choices"][0]["delta"] for chunk in chunks[:-1]]
        self.assertEqual("".join(delta.get("content", "") for delta in deltas), "a b")
        self.assertEqual(chunks[-2]["choices"][0]["finish_reason"], "stop")
        self.assertEqual(chunks[-1]["usage"]["completion_tokens"], 2)

    def test_a_late_token_makes_no_other_one_late(self) -> None:
        now, slept, heard = [0.0], [], []

        def sleep(seconds: float) -> None:
            slept.append(round(seconds, 6))
            now[0] += seconds

        def write(event: bytes) -> None:
            heard.append(event)
            now[0] += 0.025 if len(heard) == 2 else 0.0

        voices.say(write, ["a", "b", "c", "d"], lambda: now[0], sleep)
        self.assertEqual(len(heard), 7)
        self.assertEqual(slept[:5], [0.0, 0.01, 0.0, 0.0, 0.005])


if __name__ == "__main__":
    unittest.main()
