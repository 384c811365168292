#!/bin/sh
# Runs the tests with the Python that has tlslite-ng: run.sh VIRTUAL_ENVIRONMENT PEER ham|openssl. Where there is none the tests
# are skipped (77), but fail with CI=true, where nobody reads what was skipped.
set -u
here=$(dirname "$0")
for python in "$1/bin/python3" python3; do
  if "$python" -c "import tlslite.api" 2>/dev/null; then
    exec "$python" -B "$here/interop_test.py" "$2" "$3"
  fi
done
missing="no Python here has tlslite-ng; with access to PyPI: scripts/install-deps.sh tls"
if [ "${CI-}" = true ]; then
  echo "FAILS: $missing"
  exit 1
fi
echo "SKIPPED: $missing"
exit 77
