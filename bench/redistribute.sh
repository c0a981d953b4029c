#!/usr/bin/env bash
# G4b: 100,000 persistent messages of 1 KiB that lie on an instance nobody reads are
# redistributed to the instance of another queue manager in another process, each
# exactly once: by the verb redistribute, units of work of 50, with ledger and
# journal. Beside it RabbitMQ's shovel plugin (acknowledged when confirmed, 1000
# under way) between two quorum queues and between two classic queues of one node.
# Interleaved rounds, every server fresh in every round; the receiver's syncs are
# counted for a tenth of the messages.
#
#   bench/redistribute.sh [-rounds 5] [-messages 100000]
#
# Needs strace and rabbitmq-server; a peer that is missing is left out and named.
# BENCH_DIR is a folder on the disk to measure.
set -euo pipefail
cd "$(dirname "$0")"
bin=$(mktemp -d "${BENCH_DIR:-/tmp}/bench.XXXXXX")
trap 'rm -rf "$bin"' EXIT
(cd .. && CGO_ENABLED=0 go build -trimpath -o "$bin/situationd" ./cmd/situationd)
CGO_ENABLED=0 go build -o "$bin/bench" .
"$bin/bench" redistribute -situationd "$bin/situationd" -dir "${BENCH_DIR:-/tmp}" "$@"
