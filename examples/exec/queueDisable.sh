#!/bin/sh
# queueDisable.sh QUEUE QMGR: nobody reads the queue here. Take the instance out
# of the balancing, then put the waiting messages again, so that they go elsewhere.
set -eu
echo "ALTER QLOCAL($1) PUT(DISABLED)" | runmqsc "$2"
q "-I$1" "-m$2" "-o$1" -p1
