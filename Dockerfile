# The server in an image: `docker build -t anabranch .`; with aegra in place of it: `--target aegra -t anabranch-aegra`.
ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS packages
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1
RUN python -m venv /opt/anabranch
ENV PATH=/opt/anabranch/bin:$PATH
WORKDIR /src
# Extras with commas between them; `providers` brings the clients of hosted models beside OpenAI's.
ARG EXTRAS=formats,serve,postgres,telemetry
# What Anabranch stands on, in the tested versions: a layer that is made anew when these files change, not for each source.
COPY pyproject.toml constraints.txt scripts/requirements.py ./
RUN python requirements.py "$EXTRAS" > requirements.txt && pip install -c constraints.txt -r requirements.txt

FROM packages AS built
COPY . .
RUN pip install --no-deps . && pip uninstall --yes pip

FROM packages AS packages-aegra
RUN pip install -c constraints.txt aegra-api==0.11.0

FROM packages-aegra AS built-aegra
COPY . .
RUN pip install --no-deps . && pip uninstall --yes pip

FROM python:${PYTHON}-slim AS runtime
RUN useradd --uid 10001 --user-group --no-log-init --no-create-home --home-dir /data --shell /usr/sbin/nologin anabranch \
 && install -d -o anabranch -g anabranch /data /corpora /inbox
ENV PATH=/opt/anabranch/bin:$PATH PYTHONUNBUFFERED=1 \
    ANABRANCH_CORPUS=/corpora/default ANABRANCH_INGEST_ROOT=/inbox ANABRANCH_FILE_LINKS=false \
    ANABRANCH_AUTH=/run/secrets/auth.yaml
VOLUME /data /corpora /inbox
WORKDIR /data
# By number, so that Kubernetes sees that it is not root.
USER 10001:10001

FROM runtime AS aegra
COPY --from=built-aegra /opt/anabranch /opt/anabranch
# It loads the graphs by the paths of their files.
COPY langgraph.json /app/
COPY graph /app/graph
WORKDIR /app
EXPOSE 2026
HEALTHCHECK --interval=30s --timeout=5s --start-period=90s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:2026/ready', timeout=4)"]
# Not by `aegra serve`, which does not pass SIGTERM on to its child.
CMD ["python", "-m", "uvicorn", "aegra_api.main:app", "--host", "0.0.0.0", "--port", "2026"]

FROM runtime AS serve
COPY --from=built /opt/anabranch /opt/anabranch
ENV ANABRANCH_DATA=/data ANABRANCH_LOG_FORMAT=json
EXPOSE 8300
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://127.0.0.1:8300/ready', timeout=4)"]
ENTRYPOINT ["anabranch"]
CMD ["serve", "--host", "0.0.0.0"]
