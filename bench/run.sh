#!/usr/bin/env bash
# Everything that is measured, in one run: durable puts and gets beside peers,
# the sample, the restart, memory, channel and redistribution, the reaction, and what
# an idle daemon costs.
#
#   bench/run.sh                           all of it, about 30 minutes
#   bench/run.sh suite -only G1,G2a,G2b,G3 [-rounds 5] [-for 2s] [-peers nats,redis]
#   bench/run.sh suite -only sample,restart,memory
#
# Needs strace, and of the peers rabbitmq-server, redis-server and nats-server
# (NATS=path); one that is missing is left out and named. BENCH_DIR is a folder on
# the disk to measure. Tables go to stdout, what happens meanwhile to stderr.
set -euo pipefail
cd "$(dirname "$0")"
bin=$(mktemp -d "${BENCH_DIR:-/tmp}/bench.XXXXXX")
trap 'rm -rf "$bin"' EXIT
(cd .. && CGO_ENABLED=0 go build -trimpath -o "$bin/situationd" ./cmd/situationd)
CGO_ENABLED=0 go build -o "$bin/bench" .
suite() { "$bin/bench" suite -situationd "$bin/situationd" -nats "${NATS:-nats-server}" -dir "${BENCH_DIR:-/tmp}" "$@"; }
if [ "${1:-}" = suite ]; then shift; suite "$@"; exit; fi
failed=0
suite || failed=$?
./channel.sh || failed=$?
./redistribute.sh || failed=$?
printf '\n### G5: reaction, on_change and sampled every 200 ms\n\n'
./reaction.sh "${REACTIONS:-80}" || failed=$?
ON_CHANGE=false EVERY=200ms PACE=3s ./reaction.sh 20 || failed=$?
printf '\n### G9: idle\n\n'
./idle.sh "${QUEUES:-10000}" || failed=$?
exit "$failed"
