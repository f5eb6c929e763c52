"""Threads that share tasks: what comes back, in what order it is done, and what errors do."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import Event, current_thread
from threading import enumerate as threads_alive
from time import monotonic, sleep

import pytest

from wayfield.kernels._team import Team

WAIT = 20.0
"""No test waits for longer, in seconds."""


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_calls(threads: int) -> None:
    with Team(threads) as team:
        assert team.run([partial(pow, 3, k) for k in range(20)]) == [3**k for k in range(20)]
        begun = team.begin(partial(pow, 2, k) for k in range(20))
        later = team.begin([partial(pow, 5, 2)], urgent=False)
        assert team.finish(begun[7:]) == [2**k for k in range(7, 20)]
        assert team.finish(later) == [25]
        assert team.finish(begun) == [2**k for k in range(20)]
        assert team.begin([]) == []
        assert team.finish([]) == []


def test_alone_what_was_begun_last_is_done_first_and_the_rest_only_if_it_is_waited_for() -> None:
    done: list[str] = []
    note: Callable[[str], None] = done.append
    team = Team(1)
    late = team.begin([partial(note, "late")], urgent=False)
    first = team.begin([partial(note, "first")])
    team.begin([partial(note, "second")])
    team.finish(first)
    assert done == ["second", "first"]
    team.finish(late)
    assert done == ["second", "first", "late"]


def test_another_thread_takes_what_waits() -> None:
    """The call cannot return before another one has: two threads are at work."""
    met = Event()
    names = []

    def signal() -> None:
        names.append(current_thread().name)
        met.set()

    with Team(2) as team:
        assert team.run([partial(met.wait, WAIT), signal]) == [True, None]
    assert names != [current_thread().name]


def test_the_first_thread_does_not_get_stuck_with_what_is_not_urgent() -> None:
    """What is not urgent takes as long as it is let; the urgent task is done meanwhile."""
    begun, go_on = Event(), Event()

    def slow() -> bool:
        begun.set()
        return go_on.wait(WAIT)

    with Team(2) as team:
        late = team.begin([slow, slow], urgent=False)
        assert begun.wait(WAIT)
        assert team.run([partial(abs, -1), partial(abs, -2)]) == [1, 2]
        go_on.set()
        assert team.finish(late) == [True, True]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_is_raised_where_the_result_is_asked_for(threads: int) -> None:
    with Team(threads) as team:
        begun = team.begin([partial(int, "seven"), partial(int, "7")])
        assert team.finish(begun[1:]) == [7]
        with pytest.raises(ValueError, match="seven"):
            team.finish(begun)


def test_threads_end_with_the_block_whatever_happens_in_it() -> None:
    before = set(threads_alive())

    def interrupted() -> None:
        with Team(3) as team:
            team.begin([partial(Event().wait, 0.1)] * 50)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert set(threads_alive()) == before


def test_parts_cover_a_range() -> None:
    assert Team(3).parts(8) == [(0, 2), (2, 5), (5, 8)]
    assert Team(2).parts(1) == [(0, 0), (0, 1)]


def test_an_interrupt_is_raised_at_once() -> None:
    """Whatever waits is left undone, also if the call that was interrupted is not asked for."""
    done: list[int] = []

    def interrupted() -> None:
        raise KeyboardInterrupt

    def run() -> None:
        with Team(1) as team:
            first = team.begin(partial(done.append, k) for k in range(20))
            team.begin([interrupted])
            team.finish(first)

    with pytest.raises(KeyboardInterrupt):
        run()
    assert done == []


def test_no_more_threads_are_started_than_there_is_work_for() -> None:
    before = len(threads_alive())
    with Team(100) as team:
        for _ in range(30):
            team.run([int, int])
            until = monotonic() + WAIT
            while team._idle < 1 and monotonic() < until:  # the other one looks for more
                sleep(0.001)
        assert len(threads_alive()) <= before + 1
        team.begin([partial(Event().wait, 0.05)] * 3)
        assert len(threads_alive()) <= before + 3
