#!/bin/sh
# Installs the package with this build's libham into FOLDER, or runs its tests there: run.sh install|run ENVIRONMENT LIBHAM
# FOLDER [ARGUMENT OF PYTEST...]. ENVIRONMENT has what scripts/install-deps.sh python installs. 77: something is missing,
# and a line says what.
set -u
action=$1 environment=$2 library=$3 folder=$4
shift 4
source=$(cd "$(dirname "$0")/.." && pwd)
skip() {
  echo "SKIPPED: the Python package is not tested: $1"
  exit 77
}

[ -x "$environment/bin/python3" ] || skip "no $environment; with access to PyPI: scripts/install-deps.sh python"
"$environment/bin/python3" -c "import nanobind, scikit_build_core, numpy, pytest, cffi, cloudpickle" 2>/dev/null ||
  skip "nanobind, scikit-build-core, cloudpickle, cffi, NumPy or pytest is missing in $environment: scripts/install-deps.sh python"
"$environment/bin/python3" -c 'import os, sysconfig; assert os.path.exists(sysconfig.get_paths()["include"] + "/Python.h")' 2>/dev/null ||
  skip "there are no headers of this Python (Debian: python3-dev)"

if [ "$action" = install ]; then
  mkdir -p "$folder"
  "$environment/bin/pip" install -q --disable-pip-version-check --no-build-isolation --no-deps --no-index --upgrade \
    --target "$folder/packages" -C "cmake.define.HAM_LIBRARY=$library" -C "build-dir=$folder/build" "$source" >"$folder/pip.log" 2>&1 || {
    cat "$folder/pip.log"
    exit 1
  }
  exit 0
fi
cd "$source/tests" || exit 1
HAM_TEST_LIBRARY=$library PYTHONPATH=$folder/packages exec "$environment/bin/python3" -B -m pytest -q -rs -p no:cacheprovider "$@"
