#!/usr/bin/env bash
# Resident memory and CPU of `situationd run` with a hosted queue manager, 1 s
# samples, measured 60 s after it is ready: empty and with N queues watched.
#
#   bench/idle.sh [N]
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d "${BENCH_DIR:-/tmp}/bench.XXXXXX")
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
(cd .. && CGO_ENABLED=0 go build -o "$work/situationd" ./cmd/situationd)
ready() { for _ in $(seq 1200); do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done; echo "not ready: $*" >&2; return 1; }
one() { # QUEUES
  local d=$work/$1; mkdir -p "$d"
  { echo "DEFINE CHANNEL(C1.QM1) CHLTYPE(CLUSRCVR) CONNAME('127.0.0.1(21417)') CLUSTER(C1)"; echo "ALTER QMGR REPOS(C1)"
    for i in $(seq "$1"); do echo "DEFINE QLOCAL(APP.Q$i) CLUSTER(C1) DEFBIND(NOTFIXED)"; done; } >"$d/q.mqsc"
  cat >"$d/rules.yaml" <<R
version: 1
defaults: {sample: 1s}
situations:
  - name: Idle
    watch: {queue: "APP.*", cluster: C1}
    formula: IPPROCS == 0 and CURDEPTH > 0
    actions: [{event: "no reader"}]
R
  cat >"$d/situationd.yaml" <<R
queue_manager: {name: QM1, connect: hosted, hosted: {listen: "127.0.0.1:21417", mqsc: [q.mqsc]}}
rules: [rules.yaml]
data: $d/data
http: {listen: "127.0.0.1:19420"}
R
  "$work/situationd" run --config "$d/situationd.yaml" >"$d/out" 2>&1 & local pid=$!
  ready curl -sf http://127.0.0.1:19420/-/ready
  local hz t0 t1; hz=$(getconf CLK_TCK)
  sleep "${SETTLE:-60}"
  t0=$(awk '{print $14+$15}' "/proc/$pid/stat"); sleep 20; t1=$(awk '{print $14+$15}' "/proc/$pid/stat")
  echo "idle queues=$1 VmRSS_KiB=$(awk '/VmRSS/{print $2}' "/proc/$pid/status") cpu_percent=$(awk -v a="$t0" -v b="$t1" -v h="$hz" 'BEGIN{printf "%.2f",(b-a)/h/20*100}')"
  kill "$pid"; wait "$pid" 2>/dev/null || true
}
one 0
one "${1:-10000}"
