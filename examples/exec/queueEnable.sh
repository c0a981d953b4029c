#!/bin/sh
# queueEnable.sh QUEUE QMGR: somebody reads the queue again. Give the instance
# back to the balancing.
set -eu
echo "ALTER QLOCAL($1) PUT(ENABLED)" | runmqsc "$2"
