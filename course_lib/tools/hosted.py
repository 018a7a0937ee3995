"""Where lessons run without a clone: the first lines of every notebook, and links that open a lesson elsewhere.

Both need the repository's address. pyproject.toml holds it as `Repository` under `[project.urls]`, and a fork sets it
once. Without it there are no such links, and the first lines name the wheel.
"""

import re
import tomllib

from course_lib.files import ROOT
from course_lib.tools.environment import WHEEL

GITHUB = "https://github.com/"
# By service, with {repository} for OWNER/NAME and {path} for the notebook's path.
SERVICES = {
    "Colab": "https://colab.research.google.com/github/{repository}/blob/main/{path}",
    "Kaggle": "https://www.kaggle.com/kernels/welcome?src=https://github.com/{repository}/blob/main/{path}",
    "Binder": "https://mybinder.org/v2/gh/{repository}/HEAD?urlpath=lab/tree/{path}",
}
FIRST_LINES = """\
try:
    import course_lib  # noqa: F401
except ImportError:
    raise ImportError(
        "This kernel has no course_lib. Run the line below, then this cell again.\\n"
        "On Kaggle, turn on Internet first. In a clone, choose the kernel of .venv instead.\\n"
        "%pip install {source}"
    ) from None

"""
SOURCE = re.compile(r'(?<= \\"%pip install )[^\\"]+(?=\\"\\n)')  # in a notebook's file


def repository(pyproject: str) -> str:
    """Returns the address of the repository in this text of pyproject.toml, or "".

    Raises ValueError if it is another host's, since Colab, Kaggle and Binder open notebooks from GitHub.
    """
    address = tomllib.loads(pyproject)["project"].get("urls", {}).get("Repository", "")
    if address and not re.fullmatch(GITHUB + "[^/]+/[^/]+", address):
        raise ValueError(f"Repository in pyproject.toml is {address!r}; it must be like {GITHUB}YOU/REPOSITORY")
    return address


def here() -> str:
    """Returns the address of this repository, or ""."""
    return repository((ROOT / "pyproject.toml").read_text("utf-8"))


def source(address: str) -> str:
    """Returns what pip installs where the course is missing."""
    return f"git+{address}" if address else WHEEL


def services(path: str, address: str) -> dict[str, str]:
    """Returns, by the service's name, the link that opens the notebook at this path; without an address, none."""
    named = {"repository": address.removeprefix(GITHUB), "path": path}
    return {name: link.format(**named) for name, link in SERVICES.items() if address}
