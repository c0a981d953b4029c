#!/usr/bin/env bash
# Durable puts side by side on loopback: situationd, RabbitMQ (quorum queue),
# NATS (sync always), Redis (appendfsync always). Rounds are interleaved, every
# server starts fresh in every round on the same file system.
#
#   bench/peers.sh [ROUNDS] [CLIENTS] [WINDOW]
#
# Needs rabbitmq-server, redis-server and nats-server (NATS=path); a peer that is missing is left out and named.
set -euo pipefail
cd "$(dirname "$0")"
rounds=${1:-5} clients=${2:-16} window=${3:-1} seconds=${SECONDS_PER_RUN:-2s}
work=$(mktemp -d "${BENCH_DIR:-/tmp}/bench.XXXXXX")
trap 'kill $(jobs -p) 2>/dev/null || true; wait 2>/dev/null || true; rm -rf "$work"' EXIT
(cd .. && CGO_ENABLED=0 go build -o "$work/situationd" ./cmd/situationd)
CGO_ENABLED=0 go build -o "$work/bench" .

# ready COMMAND...: polls until the command succeeds, at most 60 s.
ready() { for _ in $(seq 600); do "$@" >/dev/null 2>&1 && return 0; sleep 0.1; done; echo "not ready: $*" >&2; return 1; }
port() { (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }
put() { "$work/bench" -clients "$clients" -window "$window" -for "$seconds" "$@" | tee -a "$work/lines"; }
end() { kill "$1" 2>/dev/null || true; wait "$1" 2>/dev/null || true; }

situationd() {
  local d=$work/s$1
  printf "DEFINE QLOCAL(BENCH.Q) DEFPSIST(YES) MAXDEPTH(99999999)\n" >"$work/q.mqsc"
  "$work/situationd" strmqm BENCH --create --data "$d" --listen none --mqsc "$work/q.mqsc" >"$work/s.out" 2>&1 & local pid=$!
  ready grep -q '^ready' "$work/s.out"
  put -socket "$d/qmgrs/BENCH" situationd
  end "$pid"; rm -rf "$d"
}
redis() {
  local d=$work/r$1; mkdir "$d"
  redis-server --bind 127.0.0.1 --port 16379 --dir "$d" --save '' --appendonly yes --appendfsync always >/dev/null 2>&1 & local pid=$!
  ready port 16379; put -url 127.0.0.1:16379 redis
  end "$pid"; rm -rf "$d"
}
nats() {
  local d=$work/n$1; mkdir "$d"
  printf 'listen: "127.0.0.1:14222"\njetstream { store_dir: "%s", sync_interval: always }\n' "$d" >"$d/c"
  "${NATS:-nats-server}" -c "$d/c" >/dev/null 2>&1 & local pid=$!
  ready port 14222; put -url nats://127.0.0.1:14222 nats
  end "$pid"; rm -rf "$d"
}
rabbitmq() {
  local d=$work/q$1; mkdir "$d"; printf '[].\n' >"$d/plugins"
  RABBITMQ_NODENAME=bench@localhost RABBITMQ_NODE_IP_ADDRESS=127.0.0.1 RABBITMQ_NODE_PORT=15672 RABBITMQ_DIST_PORT=35672 \
    RABBITMQ_MNESIA_BASE=$d/mnesia RABBITMQ_LOG_BASE=$d/log RABBITMQ_ENABLED_PLUGINS_FILE=$d/plugins ERL_EPMD_ADDRESS=127.0.0.1 \
    HOME=$d ERL_CRASH_DUMP=$d/dump /usr/lib/rabbitmq/bin/rabbitmq-server >/dev/null 2>&1 & local pid=$!
  ready port 15672; put -url amqp://guest:guest@127.0.0.1:15672/ rabbitmq
  end "$pid"; pkill -f bench@localhost 2>/dev/null || true
  for _ in $(seq 300); do pgrep -f 'beam.*bench@localhost' >/dev/null || break; sleep 0.1; done; rm -rf "$d"
}

peers=(situationd)
command -v redis-server >/dev/null && peers+=(redis) || echo "left out: redis-server" >&2
command -v "${NATS:-nats-server}" >/dev/null && peers+=(nats) || echo "left out: nats-server (set NATS=path)" >&2
[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ] && peers+=(rabbitmq) || echo "left out: rabbitmq-server" >&2
for i in $(seq "$rounds"); do for p in "${peers[@]}"; do "$p" "$i"; done; done

echo "--- median of $rounds rounds, $clients clients, $window outstanding, 1 KiB"
ours=
for p in "${peers[@]}"; do
  sorted=$(sed -n "s/^$p .*per_second=\([0-9]*\).*/\1/p" "$work/lines" | sort -n)
  median=$(sed -n "$(((rounds + 1) / 2))p" <<<"$sorted")
  ours=${ours:-$median}
  echo "$p min $(head -1 <<<"$sorted") median $median max $(tail -1 <<<"$sorted") ratio situationd/$p $(awk -v a="$ours" -v b="$median" 'BEGIN{printf "%.2f", a/b}')"
done
