#!/usr/bin/env bash
# Builds the image of kaisched-kubernetes, kaisched-device-plugin and kaisched-reservation: `build_image.sh [TAG]`. Needs docker or
# podman and a network. The tests of this project do not build it: they check that what it copies is there.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
tag=${1:-kaisched-kubernetes:$(cat VERSION)}
for tool in docker podman; do
  if command -v "$tool" >/dev/null; then
    exec "$tool" build --file examples/kubernetes/deploy/Dockerfile --tag "$tag" .
  fi
done
echo "build_image.sh: neither docker nor podman is installed" >&2
exit 1
