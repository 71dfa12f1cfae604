#!/usr/bin/env bash
# Builds the image of kaisched-kubernetes and of what runs on nodes: `build_image.sh [TAG]`. Needs docker or podman and a network.
# Without either of them `build_image.sh --roots FOLDER` carries out the steps of the Dockerfile in roots of Debian that
# debootstrap makes in FOLDER, as root; FOLDER/image is then what the image would hold. A root that is there is taken as it is.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../../.."
dockerfile=examples/kubernetes/deploy/Dockerfile

die() {
  echo "build_image.sh: $*" >&2
  exit 1
}

new_root() { # ROOT: Debian 12
  [[ -e $1/etc/debian_version ]] || debootstrap --variant=minbase bookworm "$1"
  cp /etc/resolv.conf "$1/etc/"
}

in_root() { # ROOT FOLDER COMMAND
  chroot "$1" env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive \
    sh -c "cd '$2' && $3" </dev/null
}

build_roots() { # FOLDER
  ((EUID == 0)) || die "--roots needs root"
  command -v debootstrap >/dev/null || die "debootstrap is not installed"
  local folder=$1 root='' work=/ from word rest step
  local -a words
  mkdir -p "$folder"
  # A step is a line, with those that it goes on in.
  while read -r word rest; do
    step="$word $rest"
    case $word in
      FROM)
        root=$folder/image work=/
        [[ $rest =~ ^debian:12(-slim)?(\ AS\ ([a-z]+))?$ ]] || die "no step of a root: $step"
        [[ -z ${BASH_REMATCH[3]} ]] || root=$folder/${BASH_REMATCH[3]}
        new_root "$root" ;;
      WORKDIR) work=$rest && mkdir -p "$root$work" ;;
      RUN) echo "+ $step" && in_root "$root" "$work" "$rest" ;;
      COPY)
        read -ra words <<<"$rest"
        if [[ ${words[0]} == --from=* ]]; then
          from=$folder/${words[0]#--from=}
          mkdir -p "$root/${words[-1]}"
          for word in "${words[@]:1:${#words[@]}-2}"; do cp -P "$from"$word "$root/${words[-1]}"; done
        else
          [[ $rest == '. .' ]] || die "no step of a root: $step"
          tar -c --anchored --exclude-from=<(sed '/^#/d; s|^|./|' "$dockerfile.dockerignore") . | tar -x -C "$root$work"
        fi ;;
      USER | ENTRYPOINT) ;; # of containers
      *) die "no step of a root: $step" ;;
    esac
  done < <(sed -e '/^#/d' "$dockerfile" | sed -e ':more; /\\$/ { N; s/\\\n */ /; b more }' | sed '/^$/d')
}

if [[ ${1:-} == --roots ]]; then
  build_roots "$(realpath -m "${2:?--roots needs a folder}")"
  exit
fi
tag=${1:-kaisched-kubernetes:$(cat VERSION)}
for tool in docker podman; do
  if command -v "$tool" >/dev/null; then
    exec "$tool" build --file "$dockerfile" --tag "$tag" .
  fi
done
die "neither docker nor podman is installed"
