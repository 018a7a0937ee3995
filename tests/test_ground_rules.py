"""No process of the tests reaches another host, this one checks shapes as it runs, and lessons come last."""

import inspect
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import last_lines
import library
import nbformat
import pytest
import run_time_types
import torch
from jaxtyping import TypeCheckError
from jupyter_client.manager import start_new_kernel

from course_lib import widgets
from course_lib.masks import length_mask
from course_lib.processes import Progress, side_by_side
from course_lib.recurrent import EncoderDecoder

FAR = "192.0.2.1"  # an address kept for documentation


def ask_for_a_name():
    socket.getaddrinfo("example.org", 80)


def ask_for_a_name_the_old_way():
    socket.gethostbyname("example.org")


def connect():
    socket.create_connection((FAR, 80), timeout=1)


def connect_directly():
    with socket.socket() as far:
        far.connect((FAR, 80))


def send_a_datagram():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as far:
        far.sendto(b"hello", (FAR, 53))


WAYS_OUT = [ask_for_a_name, ask_for_a_name_the_old_way, connect, connect_directly, send_a_datagram]
CODE = f"import socket; socket.create_connection(({FAR!r}, 80), timeout=1)"


@pytest.mark.parametrize("leave", WAYS_OUT)
def test_this_process_reaches_no_other_host(leave):
    with pytest.raises(PermissionError, match="the tests allow no network"):
        leave()


def test_a_python_that_the_tests_start_reaches_no_other_host():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True)
    assert "PermissionError: the tests allow no network" in done.stderr


def test_a_worker_process_reaches_no_other_host():
    with pytest.raises(PermissionError, match="the tests allow no network"):
        side_by_side({"leave": connect})


@pytest.mark.slow
def test_a_kernel_reaches_no_other_host():
    manager, client = start_new_kernel(kernel_name="python3", transport_encryption="auto")
    try:
        reply = client.execute_interactive(CODE, timeout=60, output_hook=lambda _: None)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert reply["content"]["ename"] == "PermissionError"
    assert "the tests allow no network" in reply["content"]["evalue"]


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_this_machine_is_reached(host):
    with socket.create_server(("127.0.0.1", 0)) as server:
        with socket.create_connection((host, server.getsockname()[1]), timeout=5) as near:
            near.sendall(b"hello")
        with server.accept()[0] as accepted:
            assert accepted.recv(5) == b"hello"


# ---- shapes ----


def test_a_wrong_shape_is_refused():
    with pytest.raises(TypeCheckError, match="lengths"):
        length_mask(torch.zeros(2, 3, dtype=torch.int64))


def test_a_wrong_kind_of_number_is_refused():
    with pytest.raises(TypeCheckError, match="lengths"):
        length_mask(torch.zeros(2))


def test_axes_of_one_name_must_be_of_one_length():
    model = EncoderDecoder(10, 10, hidden_size=8)
    with pytest.raises(TypeCheckError, match="target_input"):
        model(torch.ones(2, 3, dtype=torch.int64), None, torch.ones(3, 3, dtype=torch.int64))


def test_an_integer_will_do_for_a_float_and_a_word_will_not():
    assert Progress("a run", 1).advance(loss=1) is None
    with pytest.raises(TypeCheckError, match="figures='low'"):
        Progress("a run", 1).advance(loss="low")


def test_the_checks_of_a_function_within_another_are_made_once():
    made = []

    def check(function):
        made.append(function)
        return run_time_types.check(function)

    def given(wanted):
        @run_time_types.jaxtyped(typechecker=check)
        def give(x: int) -> wanted:
            return x + more

        return give

    for more in (1, 2):
        assert given(int)(1) == 1 + more
    with pytest.raises(TypeCheckError, match="'three'"):
        given(int)("three")
    assert len(made) == 1
    with pytest.raises(TypeCheckError, match="return"):
        given(str)(1)  # since this annotation is another


def test_what_stands_in_a_folder_of_the_library_is_checked_too():
    with pytest.raises(TypeCheckError, match="words"):
        widgets.softmax_frame(3, 1.0)


def test_every_function_with_annotations_is_checked():
    functions = {
        f"{module.__name__}.{name}": thing
        for module in library.modules()
        for name, thing in vars(module).items()
        if inspect.isfunction(thing) and thing.__module__ == module.__name__ and thing.__annotations__
    }
    assert {"course_lib.masks.length_mask", "course_lib.widgets.drawing.svg"} <= functions.keys()
    assert [name for name, function in functions.items() if inspect.unwrap(function) is function] == []


# ---- a failure ----


def test_the_last_lines_say_what_is_wrong_and_how_to_try_it_again():
    message = "AssertionError: wrong\n" + "more\n" * 99 + "ValueError: the cause"
    crash = SimpleNamespace(message=message, path="/a/b.py", lineno=7)
    first, wrong, *_, cause, again = told = last_lines.told(
        SimpleNamespace(nodeid="b.py::c[1 2]", longrepr=SimpleNamespace(reprcrash=crash))
    )
    assert len(told) <= 8 and first.endswith("b.py::c[1 2], line 7 of /a/b.py") and wrong == "AssertionError: wrong"
    assert cause == "ValueError: the cause"
    assert again.endswith("'b.py::c[1 2]'")
    cell = SimpleNamespace(
        nodeid="a.ipynb::Cell 3", longrepr="Traceback\n" + "more\n" * 99 + "\x1b[31mNameError\x1b[0m: x"
    )
    assert last_lines.told(cell)[-2] == "NameError: x" and len(last_lines.told(cell)) <= 8


# ---- lessons ----


@pytest.mark.notebook
def test_lessons_come_last_offline_and_can_be_left_out(tmp_path):
    cells = [nbformat.v4.new_code_cell(source) for source in ("one = 1", CODE, "one + 1")]
    cells[1].metadata["tags"] = ["raises-exception"]
    lesson = tmp_path / "01_trial.ipynb"
    nbformat.write(nbformat.v4.new_notebook(cells=cells), lesson)
    masks = Path(__file__).parent / "test_masks.py"

    def run(*options):
        command = [sys.executable, "-m", "pytest", "-v", "--nbval-lax", "--nbval-current-env", *options, lesson, masks]
        done = subprocess.run(command, capture_output=True, text=True)
        return [line for line in done.stdout.splitlines() if "::" in line]

    listed = run("-k", "test_causal_mask or Cell")
    assert ["Cell" in line for line in listed] == [False] + [True] * 3
    assert all("PASSED" in line for line in listed)
    assert ["Cell" in line for line in run("-k", "test_causal_mask or Cell", "-m", "not notebook")] == [False]
