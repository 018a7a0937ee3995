# The tested environment for Binder, JupyterHub or a machine of your own:
#   docker build -t attention-measured . && docker run -p 8888:8888 attention-measured
FROM python:3.12-slim

ARG NB_USER=jovyan
ARG NB_UID=1000
ENV USER=${NB_USER} \
    HOME=/home/${NB_USER}
ENV COURSE=${HOME}/attention-measured
ENV PATH=${COURSE}/.venv/bin:${PATH} \
    JUPYTER_CONFIG_PATH=${COURSE}/course_lib/data/jupyter

RUN useradd --create-home --uid ${NB_UID} ${NB_USER}
COPY --chown=${NB_UID} . ${COURSE}
WORKDIR ${COURSE}
USER ${NB_USER}

# The first `lab` installs what it needs and makes the workbook, so that no visit waits for it; `hub` brings what
# JupyterHub and Binder start.
RUN python -m course_lib lab --version \
    && python -m pip install --no-cache-dir --constraint constraints.txt --editable ".[hub]"

EXPOSE 8888
CMD ["python", "-m", "course_lib", "lab", "--no-browser", "--ip=0.0.0.0"]
