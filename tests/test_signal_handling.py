"""A signal ends the program at once, except where Python would lose the exception."""

import os
import signal
import time

import llvmlite.binding as llvm
import pytest

from companion.signal_handling import SIGNALS, TerminationSignal, interrupted_by_signals

GENEROUS_S = 60


@pytest.fixture(autouse=True)
def heard():
    """Install a handler for all signals, even if the tests were started by nohup."""
    before = {number: signal.signal(number, signal.default_int_handler) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def run(act):
    """Run ``act`` and then wait, with signals turned into interrupts."""
    with interrupted_by_signals():
        act()
        time.sleep(GENEROUS_S)


@pytest.mark.parametrize("number", SIGNALS)
def test_each_signal_ends_what_is_being_done(number):
    with pytest.raises(TerminationSignal) as ended:
        run(lambda: os.kill(os.getpid(), number))
    assert ended.value.number == number


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_while_machine_code_is_kept_is_heard_after_it(number, capfd):
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly("define i32 @one() {\n ret i32 1\n}\n")
    module.triple = llvm.get_process_triple()
    engine = llvm.create_mcjit_compiler(module, llvm.Target.from_triple(module.triple).create_target_machine())
    done = []

    def keep(*_):
        os.kill(os.getpid(), number)
        done.append("kept")

    engine.set_object_cache(keep, lambda _: None)

    def compiled():
        engine.finalize_object()
        done.append("compiled")

    with pytest.raises(TerminationSignal):
        run(compiled)
    assert done == ["kept", "compiled"]
    assert capfd.readouterr().err == ""


class Held:
    """An object whose finalizer receives a signal."""

    def __init__(self, done):
        self.done = done

    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)
        self.done.append("finalized")


def test_a_signal_in_a_finalizer_is_not_lost(capfd):
    done = []
    with pytest.raises(TerminationSignal):
        run(lambda: Held(done) and None)
    assert done == ["finalized"]
    assert capfd.readouterr().err == ""
