"""What belongs to the course in JupyterHub's configuration; who logs in, and what starts a server, is the hub's own.

It is read by the hub's Python, which need not know the course: so it is data, and imports nothing of it.
"""

from pathlib import Path

c = get_config()  # noqa: F821
COURSE = Path(__file__).resolve().parents[3]
OWN = COURSE / ".venv" / "bin" / "python"

c.Spawner.cmd = [str(OWN) if OWN.exists() else "python", "-m", "course_lib.tools.hub"]
c.Spawner.default_url = "/lab/tree/workbook/start.md"
c.Spawner.environment = {
    "COURSE_LEARNER": "~/attention-measured",
    "JUPYTER_CONFIG_PATH": str(COURSE / "course_lib" / "data" / "jupyter"),
    "OMP_NUM_THREADS": "1",  # more only slow small matrices down, and take the cores of others
}
