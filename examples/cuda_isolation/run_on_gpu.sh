#!/usr/bin/env bash
# The plan for a machine with a GPU, in three lots of at most 25 minutes: ab (nothing differs; memory at the edge), cd (crashes;
# compute), ef (overhead; HAMi-core and MPS beside it). Changes no setting of the card.
#
#   run_on_gpu.sh ab|cd|ef|all [--build FOLDER] [--out FILE] [--fake]
#
# --build   a build of this project (default build/release); what is missing of it is built
# --out     where lines of JSON are appended (default gpu-results.jsonl)
# --fake    on the fake driver, smaller: a test of the plan
# TRANSPARENCY="cmd;cmd"  programs of yours that must end the same with a guard as without
# HAMI_CORE=/path/libvgpu.so, MPS=1  compare with those
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
lot=${1:-}
build="$top/build/release"
out=gpu-results.jsonl
fake=
case "$lot" in ab | cd | ef | all) shift ;; *) sed -n '2,12s/^# \{0,1\}//p' "$0"; exit 2 ;; esac
while [ $# -gt 0 ]; do
  case "$1" in
    --build) build=$2; shift 2 ;;
    --out) out=$2; shift 2 ;;
    --fake) fake=1; shift ;;
    *) echo "run_on_gpu.sh: unknown argument $1" >&2; exit 2 ;;
  esac
done
if [ -z "$fake" ] && ! nvidia-smi -L >/dev/null 2>&1; then
  echo "run_on_gpu.sh: no GPU here (nvidia-smi -L); --fake tries the plan without one" >&2
  exit 2
fi
if [ ! -f "$build/build.ninja" ]; then
  cmake -S "$top" --preset release >/dev/null
  build="$top/build/release"
fi
if [ -z "${KAISCHED_GPU_BUILT:-}" ]; then
  ninja -C "$build" kaisched_guard kaisched_guard_dlsym kaisched_gpu_check kaisched_guard_overhead kaisched_shim_trace \
    kaisched_fake_cuda kaisched_fake_nvml >/dev/null
fi
parts="$build/examples/cuda_isolation"
exec python3 "$here/shim/gpu/plan.py" "$lot" --bin "$build/bin" --guard "$parts/shim/lib" --out "$out" \
  --commit "$(git -C "$top" rev-parse --short HEAD 2>/dev/null || echo unknown)" ${fake:+--fake "$parts/fake/lib"}
