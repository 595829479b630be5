"""The voice as a kind of panel: sentences that a panel would show are spoken, without blocking."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from queue import Empty, SimpleQueue
from tempfile import TemporaryDirectory
from threading import Thread

from companion.languages.language import Language
from companion.panel.panel import Announcement, PanelDisplay
from companion.voice.library import Library, VoiceError
from companion.voice.speaker import Speaker
from companion.voice.speech_queue import SpeechQueue, enqueue, next_sentence
from companion.voice.wording import clips

POLL_S = 0.05
"""Interval at which it is checked whether a sentence has ended."""


class VoicePanel:
    """Speaks sentences in a separate thread.

    Args:
        library: the clips made in advance.
        lang: the language of the sentences.
    """

    def __init__(self, library: Library, lang: Language) -> None:
        self._library = library
        self._lang = lang
        self._speaker = Speaker()
        self._spoken: Announcement | None = None
        self._queue: SimpleQueue[Announcement | None] = SimpleQueue()
        self._thread = Thread(target=self._run, name="voice", daemon=True)
        self._thread.start()

    def show(self, shown: PanelDisplay) -> None:
        """Speak the sentence of ``shown``, if it is new."""
        # Compared by identity: the same words said again are new.
        if shown.said is not None and shown.said is not self._spoken:
            self._spoken = shown.said
            self._queue.put(shown.said)

    def close(self) -> None:
        """Stop speaking at once, even in the middle of a word; a second call does nothing."""
        self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        queue = SpeechQueue()
        # Clips not made in advance are made when needed, and deleted with the match: the library does not grow.
        with TemporaryDirectory(prefix="voice-") as folder:
            extra = replace(self._library, folder=Path(folder))
            while True:
                before = queue.now
                try:
                    said = self._queue.get(timeout=POLL_S if before else None)
                except Empty:
                    if not self._speaker.is_playing:
                        queue = next_sentence(queue, time.monotonic())
                else:
                    if said is None:
                        break
                    queue = enqueue(queue, said, time.monotonic())
                if queue.now is not before:
                    self._speak(queue.now.said.text if queue.now else "", extra)
            self._speaker.stop()

    def _speak(self, text: str, extra: Library) -> None:
        files = []
        for clip in clips(text, self._lang):
            file = self._library.file(clip)
            try:
                files.append(file if file.exists() else extra.make(clip))
            except VoiceError:
                # Half a sentence may mean the opposite: this one is left to the lights.
                files = []
                break
        self._speaker.stop()
        if files:
            self._speaker.play(files)
