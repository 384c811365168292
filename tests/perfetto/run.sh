#!/bin/sh
# Runs perfetto_test.py with the Python that has the package perfetto: run.sh VIRTUAL_ENVIRONMENT PROGRAM. 77: there is none.
set -u
here=$(dirname "$0")
for python in "$1/bin/python3" python3; do
  if "$python" -c "import perfetto.protos.perfetto.trace.perfetto_trace_pb2" 2>/dev/null; then
    exec "$python" -B "$here/perfetto_test.py" "$2"
  fi
done
echo "SKIPPED: no Python here has perfetto; with access to PyPI: scripts/install-deps.sh trace"
exit 77
