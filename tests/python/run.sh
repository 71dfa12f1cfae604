#!/usr/bin/env bash
# Installs the package into a virtual environment and runs its tests there, with those of benchmarks/bounds.
#   tests/python/run.sh VENV [PYTEST-ARGUMENTS...]
# The environment needs pip, numpy, pytest, scikit-build-core>=0.10 and pybind11>=2.13; without highspy some tests of
# bounds are skipped. Everything built lies in build/python and is used again by the next run. The C library is built as
# well, for the test of the C interface.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python=${1:?usage: tests/python/run.sh VENV [PYTEST-ARGUMENTS...]}/bin/python
shift

if command -v ccache >/dev/null; then
  export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
  # Objects of the preset release are the same but for the folder they are made in.
  export CC=${CC:-gcc} CXX=${CXX:-g++} CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1 CCACHE_SLOPPINESS=pch_defines,time_macros
fi
"$python" -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall \
  --config-settings=build-dir=build/python --config-settings=cmake.define.KAISCHED_WERROR=ON \
  "--config-settings=build.targets=kaisched_python;kaisched" .
parallel=()
if "$python" -c 'import xdist' 2>/dev/null; then
  parallel=(-n "$(nproc)" --dist loadfile)  # files of tests beside each other
fi
KAISCHED_LIBRARY=$PWD/build/python/lib/libkaisched.so exec "$python" -m pytest -q "${parallel[@]}" tests/python tests/bounds "$@"
