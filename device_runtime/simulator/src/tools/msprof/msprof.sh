#!/bin/sh
# The simulated CANN's msprof. It needs python3 of version 3.9 or newer, and nothing else.
exec python3 "$(dirname "$(readlink -f "$0")")/../profiler_tool/analysis/msprof/msprof.py" "$@"
