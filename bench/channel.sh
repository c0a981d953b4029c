#!/usr/bin/env bash
# G4a: 100,000 persistent messages of 1 KiB over a channel between two queue
# managers in two processes, beside RabbitMQ's shovel plugin (acknowledged when
# confirmed, 1000 under way) between two quorum queues and between two classic
# queues of one node. Interleaved rounds, every server fresh in every round; the
# receiver's syncs are counted for a tenth of the messages.
#
#   bench/channel.sh [-rounds 5] [-messages 100000]
#
# Needs strace and rabbitmq-server; a peer that is missing is left out and named.
# BENCH_DIR is a folder on the disk to measure.
set -euo pipefail
cd "$(dirname "$0")"
bin=$(mktemp -d "${BENCH_DIR:-/tmp}/bench.XXXXXX")
trap 'rm -rf "$bin"' EXIT
(cd .. && CGO_ENABLED=0 go build -trimpath -o "$bin/situationd" ./cmd/situationd)
CGO_ENABLED=0 go build -o "$bin/bench" .
"$bin/bench" channel -situationd "$bin/situationd" -dir "${BENCH_DIR:-/tmp}" "$@"
