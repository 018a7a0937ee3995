"""Files are replaced whole or not at all, by however many writers."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from course_lib.files import DATA, ROOT, replacing


def write(file, text):
    with replacing(file) as beside:
        beside.write_text(text)


def test_the_course_lies_where_it_is_looked_for():
    assert (ROOT / "pyproject.toml").exists() and (DATA / "ledger.toml").exists()


def test_folders_are_made_and_nothing_is_left_beside_the_file(tmp_path):
    file = tmp_path / "new" / "deeper" / "marks.json"
    write(file, "one")
    write(file, "two")
    assert file.read_text() == "two" and list(file.parent.iterdir()) == [file]


def test_an_interrupted_writer_leaves_what_was_there(tmp_path):
    file = tmp_path / "marks.json"
    write(file, "whole")
    with pytest.raises(KeyboardInterrupt), replacing(file) as beside:
        beside.write_text("hal")
        raise KeyboardInterrupt
    assert file.read_text() == "whole" and list(tmp_path.iterdir()) == [file]


def test_writers_at_the_same_time_do_not_meet(tmp_path):
    file = tmp_path / "marks.json"
    texts = {str(number) * 100_000 for number in range(8)}
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, [file] * 80, list(texts) * 10))
    assert file.read_text() in texts and list(tmp_path.iterdir()) == [file]


def test_others_may_read_what_is_written(tmp_path):
    write(tmp_path / "ours.txt", "read this")
    (tmp_path / "plain.txt").write_text("read this")
    assert (tmp_path / "ours.txt").stat().st_mode == (tmp_path / "plain.txt").stat().st_mode
