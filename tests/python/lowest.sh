#!/usr/bin/env bash
# Runs the tests of the package with the lowest versions of what it needs, and of what its tests need, as a wheel that
# others could install.
#   tests/python/lowest.sh VENV [PYTEST-ARGUMENTS...]
# VENV has been used by run.sh: what was built for it is packed, and its pip fetches the versions into build/lowest, once.
# With auditwheel in VENV the wheel is repaired first, which fails where it needs a library that nobody else has. Pages,
# types and data frames are left to the newest versions.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
bin=$PWD/${1:?usage: tests/python/lowest.sh VENV [PYTEST-ARGUMENTS...]}/bin
shift
lowest=(numpy==1.24.4 pytest==7.4.4 hypothesis==6.100.0 pytest-xdist==3.5.0)

if [[ $(cat build/lowest/.installed 2>/dev/null) != "${lowest[*]}" ]]; then
  "$bin/python" -m venv --clear build/lowest
  build/lowest/bin/pip install -q --disable-pip-version-check "${lowest[@]}"
  printf '%s' "${lowest[*]}" >build/lowest/.installed
fi
rm -rf build/wheel
"$bin/pip" wheel -q --disable-pip-version-check --no-build-isolation --no-deps --config-settings=build-dir=build/python \
  --config-settings=cmake.define.KAISCHED_WERROR=ON -w build/wheel .
if "$bin/python" -c 'import auditwheel' 2>/dev/null; then
  PATH=$bin:$PATH "$bin/python" -m auditwheel repair -w build/wheel/repaired build/wheel/*.whl >build/wheel/repair.log 2>&1 ||
    { cat build/wheel/repair.log; exit 1; }
  mv build/wheel/repaired/*.whl build/wheel/
  rm build/wheel/*-linux_*.whl
fi
build/lowest/bin/pip install -q --disable-pip-version-check --no-deps --force-reinstall build/wheel/*.whl
exec build/lowest/bin/python -m pytest -q -n "$(nproc)" --dist loadfile tests/python --ignore=tests/python/test_docs.py \
  --ignore=tests/python/test_typing.py --ignore=tests/python/test_c_interface.py -p no:cacheprovider "$@"
