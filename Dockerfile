# SPDX-License-Identifier: Apache-2.0
#
#   docker build -t cermic .
#   docker run --rm -p 8888:8888 cermic        # then open the address that it prints
#
# BASE is any Debian or Ubuntu with Python 3.11 or newer. One without Go, such as debian:bookworm-slim, gets the official
# archive by checksum. Python packages and Go modules are those that the repository names, by version and checksum.
ARG BASE=golang:1.26.8-bookworm
FROM ${BASE}

ENV PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
WORKDIR /home/researcher/cermic
COPY .ci/install .ci/install
COPY go.mod go.sum ./
RUN .ci/install system tini curl ca-certificates && .ci/install go && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home --uid 1000 researcher && chown -R researcher: /home/researcher
USER researcher
RUN go mod download
COPY --chown=researcher . .
RUN go run ./reproduce setup && rm -rf ~/.cache/pip
# Proves that every notebook runs, and leaves what its cells compile in the build cache.
RUN go run ./reproduce notebooks -budget smoke

ENV JUPYTER_PATH=/home/researcher/cermic/notebooks
EXPOSE 8888
ENTRYPOINT ["tini", "--"]
CMD ["go", "run", "./reproduce", "lab", "--", "--no-browser", "--ip=0.0.0.0", "--port=8888"]
