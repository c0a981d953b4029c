#!/usr/bin/env bash
# Reaction: last close of a reader on QM2 -> QM1 no longer routes there. Three
# queue managers as processes, a daemon with on_change beside QM2.
#
#   bench/reaction.sh [ROUNDS]                      with on_change
#   ON_CHANGE=false EVERY=200ms PACE=3s bench/reaction.sh [ROUNDS]   sampled
set -euo pipefail
cd "$(dirname "$0")"
work=$(mktemp -d "${BENCH_DIR:-/tmp}/bench.XXXXXX"); data=$work/d
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
(cd .. && CGO_ENABLED=0 go build -o "$work/situationd" ./cmd/situationd)
CGO_ENABLED=0 go build -o "$work/bench" .
ready() { for _ in $(seq 600); do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done; echo "not ready: $*" >&2; return 1; }
mq() { # NAME PORT MQSC...
  local n=$1 p=$2; shift 2; printf '%s\n' "$@" >"$work/$n.mqsc"
  "$work/situationd" strmqm "$n" --create --data "$data" --listen "127.0.0.1:$p" --mqsc "$work/$n.mqsc" >"$work/$n.out" 2>&1 &
  ready grep -q '^ready' "$work/$n.out"
}
rcvr() { echo "DEFINE CHANNEL(C1.$1) CHLTYPE(CLUSRCVR) CONNAME('127.0.0.1($2)') CLUSTER(C1)"; }
sdr() { echo "DEFINE CHANNEL(C1.$1) CHLTYPE(CLUSSDR) CONNAME('127.0.0.1($2)') CLUSTER(C1)"; }
queue="DEFINE QLOCAL(BENCH.Q) CLUSTER(C1) DEFBIND(NOTFIXED)"
mq QM1 21414 "ALTER QMGR REPOS(C1)" "$(rcvr QM1 21414)" "$(sdr QM2 21415)"
mq QM2 21415 "ALTER QMGR REPOS(C1)" "$(rcvr QM2 21415)" "$(sdr QM1 21414)" "$queue"
mq QM3 21416 "$(rcvr QM3 21416)" "$(sdr QM1 21414)" "$queue"
cat >"$work/rules.yaml" <<R
version: 1
defaults: {sample: {every: ${EVERY:-100ms}, on_change: ${ON_CHANGE:-true}}}
situations:
  - availability: {queue: BENCH.Q, cluster: C1, by: put}
R
cat >"$work/situationd.yaml" <<R
queue_manager: {name: QM2}
rules: [rules.yaml]
data: $data
startup_grace: 1s
limits: {budget: 100000}
R
"$work/situationd" run --config "$work/situationd.yaml" >"$work/run.out" 2>&1 &
"$work/bench" -socket "$data/qmgrs/QM2" -remote "$data/qmgrs/QM1" -count "${1:-60}" -pace "${PACE:-1500ms}" reaction || { tail -5 "$work"/*.out; exit 1; }
