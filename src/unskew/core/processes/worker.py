"""The worker's side of a crew (``core/processes/crew``): it hears questions and answers them.

The pipes to the parent are the worker's own. What a user's function prints goes to stderr, and
there is nothing for it to read.

A worker never ends by an exception, because Python can lose an exception that a signal raises:
inside a ``__del__``, inside ``sys.unraisablehook``, or in a user's function that catches
everything. It ends inside the handler of the signal (``Parent.end``).
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, NoReturn, TypeAlias

from numpy.typing import NDArray

from unskew.core.compiled import notice_to
from unskew.core.errors import HealthWarning, UnskewError
from unskew.core.processes.crew import receive, send
from unskew.core.processes.stop import RAISED

STOPPED = 128 + signal.SIGTERM  # the exit code of a worker that was told to stop
Answer: TypeAlias = Callable[[Any], Sequence[NDArray[Any]] | None]  # of a question
Tell: TypeAlias = Callable[..., None]  # called with the facts of a message


class Parent:
    """The process that started this worker: it gives a task, then questions."""

    def __init__(self) -> None:
        """Take the pipes, and listen."""
        self.clean: Callable[[], object] = lambda: None  # called before this process ends
        self.gone: Callable[[], object] = self.end  # called when the parent is gone
        self.is_stopping = False  # if set, no further question is answered
        signal.signal(signal.SIGTERM, lambda *_: self.end())
        asked, answered = _own_pipes()
        self._answers = os.fdopen(answered, "wb")
        self._questions: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()
        threading.Thread(target=self._listen, args=(asked,), daemon=True).start()

    def hear(self) -> Any:
        """Return the task, then one question after another; wait for it."""
        message = self._questions.get()
        return message["question"] if "question" in message else message["task"]

    def tell(self, arrays: Sequence[NDArray[Any]] = (), **facts: Any) -> None:
        """Send a message to the parent."""
        with suppress(BrokenPipeError):  # the parent is gone: the other thread hears that too
            send(self._answers, facts, arrays)

    def end(self) -> NoReturn:
        """Clean up and end this process now. This raises nothing and never returns."""
        try:
            self.clean()
        finally:
            os._exit(STOPPED)

    def _listen(self, asked: int) -> None:
        """Read the questions while this process works. They end when the parent is gone."""
        with os.fdopen(asked, "rb") as questions, suppress(EOFError):
            while True:
                self._questions.put(receive(questions))
        self.gone()


def serve(begin: Callable[[Any, Parent], Answer]) -> NoReturn:
    """Answer the questions of the parent until it is gone, or says stop.

    ``begin`` is called with the task and returns the function that answers a question.
    """
    parent = Parent()
    task, answer = parent.hear(), None
    try:
        while not parent.is_stopping:
            question = parent.hear()
            with reported(parent.tell):
                answer = answer or begin(task, parent)
                parent.tell(answer(question) or (), done=question)
    except KeyboardInterrupt:  # a training that was told to stop has saved its step
        pass
    parent.end()


@contextmanager
def reported(tell: Tell) -> Iterator[None]:
    """Tell the parent of health warnings, notices, and of the error that the block ended with."""
    with warnings.catch_warnings(), notice_to(lambda notice: tell(notice=notice)):
        warnings.simplefilter("always", HealthWarning)
        show = warnings.showwarning

        def show_here(
            message: Warning | str, category: type[Warning], *at: Any, **where: Any
        ) -> None:
            if issubclass(category, HealthWarning):
                tell(warning=str(message))
            else:
                show(message, category, *at, **where)

        warnings.showwarning = show_here
        try:
            yield
        except UnskewError as error:
            tell(error=str(error), expected=True)
        except RAISED as error:  # one line says more than a traceback or an exit
            tell(error=_in_words(error), expected=False)


def _in_words(error: BaseException) -> str:
    """Return an error in words; its class may be a user's own, and raise an error itself."""
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:
        return type(error).__name__


def _own_pipes() -> tuple[int, int]:
    """Take stdin and stdout away from everything else in this process; return their numbers."""
    taken = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)  # for what writes to the descriptor, such as a library in C
    sys.stdout = sys.stderr
    return taken
