# Benchwarmers in a container: `docker compose up` (compose.yaml), or see docs/HOSTING.md.
#
# The first stage makes the wheel from this folder, the second installs it and holds nothing else.

FROM python:3.13-slim AS build
WORKDIR /source
COPY . .
RUN python3 scripts/package.py wheel --out /wheels

FROM python:3.13-slim
COPY --from=build /wheels /wheels
RUN pip install --no-cache-dir --no-index --root-user-action=ignore /wheels/*.whl \
    && rm -r /wheels \
    && useradd --system --uid 10001 --home-dir /data --shell /usr/sbin/nologin bench \
    && install -d -o bench -g bench -m 0700 /data

# Beyond the container only with an admin token: without BENCHWARMERS_ADMIN_TOKEN the server says so and ends.
ENV BENCHWARMERS_HOME=/data \
    BENCH_BIND=0.0.0.0 \
    BENCH_PORT=8122 \
    BENCHWARMERS_INSTALL=container \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1

USER 10001
WORKDIR /data
VOLUME /data
EXPOSE 8122
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
    CMD ["python3", "-c", "import os, urllib.request as r; r.urlopen('http://127.0.0.1:' + os.environ['BENCH_PORT'] + '/health', timeout=4)"]
CMD ["bench", "serve", "--no-browser"]
