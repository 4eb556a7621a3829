# SPDX-License-Identifier: Apache-2.0
#
#   docker build -t cermic .                   # 2 GB on top of BASE
#   docker run --rm -p 127.0.0.1:8888:8888 cermic    # then open the address that it prints, with JupyterLab's token; only this machine reaches it
#
#   docker build -t cermic:gpu --build-arg GPU=1 .              # with XLA for NVIDIA GPUs, 4 GB more
#   docker run --rm --gpus all -p 127.0.0.1:8888:8888 cermic:gpu          # the host has the driver and NVIDIA's container toolkit
#
# BASE is any Debian or Ubuntu with Python 3.11 or newer. One without Go, such as debian:bookworm-slim, gets the official
# archive by checksum. Python packages and Go modules are those that the repository names, by version and checksum.
#
# A tag can be moved to another image, so the base is named by what it is: the digest is of the index for all processors. Another one:
# docker buildx imagetools inspect golang:1.26.8-bookworm --format '{{.Manifest.Digest}}', compared with the registry's page, then
# docker build --build-arg BASE=golang:1.26.8-bookworm@sha256:..., which fails if the image is another one.
ARG BASE=golang:1.26.8-bookworm@sha256:a688600ca24f8a4d3ca77f95b0dd40704a9fc787c826660eb7ba0b641b8b175d
FROM ${BASE}

ENV PATH=/usr/local/go/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
WORKDIR /home/researcher/cermic
COPY .ci/install .ci/install
COPY go.mod go.sum ./
RUN .ci/install system tini curl ca-certificates && .ci/install go && apt-get clean && rm -rf /var/lib/apt/lists/*

RUN useradd --create-home --uid 1000 researcher && chown -R researcher: /home/researcher
USER researcher
RUN go mod download
COPY --chown=researcher . .
# Empty, or anything for a GPU; there need not be one where the image is built.
ARG GPU=
RUN go run ./reproduce setup ${GPU:+-gpu} && rm -rf ~/.cache/pip
# Proves that notebooks run here, and leaves what their cells compile in the build cache.
RUN go run ./reproduce notebooks -budget smoke -only 00_start && rm -rf notebooks/.executed
# A program of its own, and signals to all that it started: `go run` would not pass them on, and JupyterLab could not end its kernels.
RUN go build -o .bin/reproduce ./reproduce

# What NVIDIA's container toolkit brings in; without it they mean nothing.
ENV NVIDIA_VISIBLE_DEVICES=all NVIDIA_DRIVER_CAPABILITIES=compute,utility
ENV JUPYTER_PATH=/home/researcher/cermic/reproduce/jupyter
EXPOSE 8888
ENTRYPOINT ["tini", "-g", "--"]
CMD [".bin/reproduce", "lab", "--", "--no-browser", "--ip=0.0.0.0", "--port=8888"]
