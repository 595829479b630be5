"""Scheduling of speech: the newest and most important first, and nothing twice in a row."""

from companion.panel.cues import Rank, Topic
from companion.panel.panel import Announcement
from companion.voice.speech_queue import REPEAT_S, STALE_S, SpeechQueue, enqueue, next_sentence


def said(text: str, topic: Topic = Topic.TABLE, rank: Rank = Rank.CALM) -> Announcement:
    return Announcement("x", text, None, topic=topic, rank=rank)


MOVE, ALARM = said("move"), said("alarm", rank=Rank.ALARM)
DARK, MOVED = said("dark", Topic.VIEW, Rank.TROUBLE), said("moved", Topic.VIEW, Rank.NOTICE)
NOTE = said("note", Topic.NOTICE, Rank.NOTICE)


def spoken(*heard_at: tuple[float, Announcement], ends: tuple[float, ...] = ()) -> list[tuple[float, str]]:
    """Return (time, text) of each sentence that is begun, as sentences arrive and spoken ones end."""
    queue, begun = SpeechQueue(), []
    happenings = [*((t_s, one) for t_s, one in heard_at), *((t_s, None) for t_s in ends)]
    for t_s, one in sorted(happenings, key=lambda each: each[0]):
        before = queue.now
        queue = next_sentence(queue, t_s) if one is None else enqueue(queue, one, t_s)
        if queue.now is not None and queue.now is not before:
            begun.append((t_s, queue.now.said.text))
    return begun


def test_the_first_is_spoken_at_once() -> None:
    assert spoken((1.0, MOVE)) == [(1.0, "move")]


def test_news_of_the_same_cuts_what_is_out_of_date() -> None:
    assert spoken((1.0, ALARM), (1.5, said("restored"))) == [(1.0, "alarm"), (1.5, "restored")]


def test_the_more_important_cuts_the_less() -> None:
    assert spoken((1.0, MOVE), (1.5, DARK), ends=(3.0,)) == [(1.0, "move"), (1.5, "dark")]


def test_the_less_important_waits() -> None:
    assert spoken((1.0, ALARM), (1.5, DARK), ends=(3.0,)) == [(1.0, "alarm"), (3.0, "dark")]


def test_of_those_that_wait_the_most_important_comes_first_and_the_newest_of_its_kind_only() -> None:
    begun = spoken((1.0, ALARM), (1.2, NOTE), (1.4, DARK), (1.6, MOVED), ends=(3.0, 4.0, 5.0))
    assert begun == [(1.0, "alarm"), (3.0, "moved"), (4.0, "note")]


def test_what_had_to_wait_long_is_left_out() -> None:
    assert spoken((1.0, ALARM), (1.5, DARK), ends=(1.6 + STALE_S,)) == [(1.0, "alarm")]


def test_the_same_words_are_not_said_again_at_once_but_later_they_are() -> None:
    begun = spoken((1.0, ALARM), (3.0, MOVE), (4.0, ALARM), (2.0 + REPEAT_S, ALARM))
    assert begun == [(1.0, "alarm"), (3.0, "move"), (2.0 + REPEAT_S, "alarm")]


def test_a_storm_is_one_sentence() -> None:
    flicker = [(t / 10, (DARK, said("clear", Topic.VIEW))[t % 2]) for t in range(40)]
    assert spoken(*flicker) == [(0.0, "dark"), (0.1, "clear")]


def test_the_same_words_do_not_cut_themselves() -> None:
    queue = enqueue(SpeechQueue(), MOVE, 1.0)
    assert enqueue(queue, said("move"), 1.5) == queue


def test_what_was_said_long_ago_is_forgotten() -> None:
    queue = SpeechQueue()
    for t in range(100):
        queue = enqueue(queue, said(f"move {t}"), float(t))
    assert len(queue.begun) <= REPEAT_S + 1
