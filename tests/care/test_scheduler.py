import unittest
from collections.abc import Iterator

from metrics.bench import settings
from metrics.care import scheduler
from metrics.care.scheduler import DAY, FIRST_S, Job, Scheduler, due
from metrics.evidence import offloads, panels, verdicts
from metrics.store import bodies
from metrics.store.stamps import epoch
from tests.bench.bench import BY, BenchCase


class Clock:
    """Time that moves only while somebody sleeps, and ends after so many sleeps."""

    def __init__(self, sleeps: int) -> None:
        self.at = 1000.0
        self.left = sleeps
        self.slept: list[float] = []

    def now(self) -> float:
        return self.at

    def sleep(self, seconds: float) -> bool:
        self.slept.append(seconds)
        self.at += seconds
        self.left -= 1
        return self.left < 0


class Running(unittest.TestCase):
    def run_jobs(self, sleeps: int, *jobs: Job) -> tuple[Clock, list[str]]:
        clock, logged = Clock(sleeps), []
        Scheduler(jobs, log=logged.append, now=clock.now, sleep=clock.sleep).run()
        return clock, logged

    def test_each_at_its_interval(self) -> None:
        ran: list[tuple[str, float]] = []
        clock, logged = self.run_jobs(
            4,
            Job("often", 100.0, lambda now: ran.append(("often", now))),
            Job("daily", DAY, lambda now: ran.append(("daily", now))),
        )
        first = 1000.0 + FIRST_S
        expected = [
            ("often", first),
            ("daily", first),
            ("often", first + 100),
            ("often", first + 200),
            ("often", first + 300),
        ]
        self.assertEqual((ran, logged), (expected, []))
        self.assertEqual(clock.slept[0], FIRST_S)

    def test_a_failing_job_is_logged_and_tried_again_at_its_turn(self) -> None:
        ran: list[float] = []

        def fail(now: float) -> None:
            ran.append(now)
            raise OSError("disk on fire")

        _, logged = self.run_jobs(
            3, Job("bad", 100.0, fail), Job("good", 100.0, lambda now: ran.append(-now))
        )
        self.assertEqual(len(ran), 6)
        self.assertEqual(logged[0], "scheduler: bad failed: OSError: disk on fire")

    def test_a_clock_set_back_does_not_spin(self) -> None:
        times: Iterator[float] = iter([1000.0, 2000.0, 2000.0, 500.0, 500.0, 500.0])
        slept: list[float] = []
        running = Scheduler(
            [Job("x", 10.0, lambda now: None)],
            log=print,
            now=lambda: next(times),
            sleep=lambda seconds: slept.append(seconds) or True,  # type: ignore[func-returns-value]
        )
        running.run()
        self.assertGreaterEqual(slept[0], 1.0)

    def test_without_jobs_it_ends(self) -> None:
        self.assertEqual(self.run_jobs(5)[0].slept, [])

    def test_due_keeps_the_tables_order(self) -> None:
        jobs = [Job(name, 1.0, print) for name in ("b", "a", "c")]
        self.assertEqual([job.name for job in due(jobs, {"a": 5.0, "b": 5.0, "c": 5.1}, 5.0)], ["b", "a"])

    def test_stop_ends_the_thread(self) -> None:
        running = Scheduler([Job("x", 10.0, lambda now: None)], log=print)
        thread = running.start_thread()
        running.stop()
        thread.join(5.0)
        self.assertFalse(thread.is_alive())


class Jobs(BenchCase):
    def body(self, day: str, n: int = 1) -> str:
        name = f"p{day}-120000-0000000{n}"
        at = f"{day[:4]}-{day[4:6]}-{day[6:]}T12:00:00.000Z"
        call = f"{name}.member1"
        seat = {"call": call, "seat": "member", "alias": "a", "model": "a", "model_id": "b:a", "status": "ok"}
        panels.record({"panel": name, "at": at, "collection": "core", "seats": [seat]})
        offloads.record({**seat, "at": at, "panel": name, "collection": "core", "shape": "general"})
        bodies.keep(name, {"messages": [], "answers": {call: "x"}})
        bodies.flush()
        return name

    def test_bodies_of_unjudged_panels_go_after_their_days(self) -> None:
        old, judged, young = self.body("20260101", 1), self.body("20260101", 2), self.body("20260120", 3)
        verdicts.give(f"{judged}.member1", useful=True)
        settings.save({"body_days": 10}, BY)
        self.assertEqual(scheduler.sweep_bodies(epoch("2026-01-25")), 1)
        self.assertIsNone(bodies.read(old))
        self.assertTrue(bodies.read(judged) and bodies.read(young))

    def test_months_of_records_are_kept_as_the_setting_says(self) -> None:
        old, young = self.body("20250101"), self.body("20260120")
        panels.LOG.flush()
        now = epoch("2026-01-25")
        self.assertEqual(scheduler.drop_old_months(now), 0)
        settings.save({"log_months": 6}, BY)
        self.assertGreater(scheduler.drop_old_months(now), 0)
        self.assertIsNone(panels.find(old))
        self.assertTrue(panels.find(young))

    def test_the_table(self) -> None:
        self.assertEqual(
            [(job.name, job.every_s) for job in scheduler.JOBS], [("bodies", DAY), ("old months", DAY)]
        )
        running = scheduler.start()
        running.stop()


if __name__ == "__main__":
    unittest.main()
