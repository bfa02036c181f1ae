#!/usr/bin/env bash
# Builds the image and runs it as its user, on a read-only root file system, without capabilities.
# Needs root and Debian's packages buildah, runc, debootstrap and curl. The base image is made here from Debian and the
# project's Node, since not every machine reaches a registry of images; NODE_IMAGE=node:24.21.0-bookworm-slim uses the real one.
# Usage: test/by-hand/image.sh [work directory, kept]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=${1:-$(mktemp -d)}
base=${NODE_IMAGE:-localhost/node:24.21.0-bookworm-slim}
image=localhost/record-data-service:by-hand
mkdir -p "$work/bundle" "$work/data"

if [ -z "${NODE_IMAGE:-}" ] && ! buildah inspect --type image "$base" >/dev/null 2>&1; then
  root=$work/base
  debootstrap --variant=minbase --include=ca-certificates,libstdc++6 bookworm "$root" http://deb.debian.org/debian
  cp -L node_modules/node/bin/node "$root/usr/local/bin/node"
  mkdir -p "$root/usr/local/lib/node_modules"
  cp -a "$(npm root --global)/npm" "$root/usr/local/lib/node_modules/"
  ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/local/bin/npm"
  # The certificates of this machine, by which npm reaches the registry.
  cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
  chroot "$root" groupadd --gid 1000 node
  chroot "$root" useradd --uid 1000 --gid node --create-home node
  container=$(buildah from scratch)
  buildah add --quiet "$container" "$root" /
  buildah config --env PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    --env npm_config_cafile=/etc/ssl/certs/ca-certificates.crt "$container"
  buildah commit --rm --quiet "$container" "$base"
fi
buildah bud --isolation chroot --format docker --network host --layers --build-arg "NODE_IMAGE=$base" \
  --build-arg BUILDPLATFORM=linux/amd64 --build-arg TARGETARCH=amd64 --tag "$image" .
buildah images "$image"

container=$(buildah from "$image")
root=$(buildah mount "$container")
echo "/app compressed: $(($(tar -C "$root" -czf - app | wc -c) / 1000000)) MB"
chown 1000:1000 "$work/data"
cd "$work/bundle"
rm -f config.json
runc spec
node - "$root" "$work/data" <<'JS'
const { readFileSync, writeFileSync } = require('node:fs');
const [root, data] = process.argv.slice(2);
const spec = JSON.parse(readFileSync('config.json', 'utf8'));
const sets = ['bounding', 'effective', 'inheritable', 'permitted'];
Object.assign(spec.process, {
  terminal: false,
  user: { uid: 1000, gid: 1000 },
  args: ['node', '--disable-warning=ExperimentalWarning', '/app/dist/main.js', 'start'],
  cwd: '/app',
  env: ['PATH=/usr/local/bin:/usr/bin:/bin', 'NODE_ENV=production', 'HOST=127.0.0.1', 'PORT=18432', 'DATA_DIR=/data',
    'FUNCTIONS_DIR=/functions', 'NODE_COMPILE_CACHE=/tmp/node-compile-cache'],
  capabilities: Object.fromEntries(sets.map((set) => [set, []])),
  noNewPrivileges: true,
});
spec.root = { path: root, readonly: true };
spec.linux.namespaces = spec.linux.namespaces.filter(({ type }) => type !== 'network' && type !== 'cgroup');
spec.mounts = spec.mounts.filter(({ destination }) => !destination.startsWith('/sys'));
spec.mounts.push({ destination: '/data', type: 'bind', source: data, options: ['rbind', 'rw'] });
spec.mounts.push({ destination: '/tmp', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'nodev', 'size=256m'] });
writeFileSync('config.json', JSON.stringify(spec));
JS

name=record-data-service-by-hand
for round in 'first start' 'second start'; do
  began=$(date +%s%N)
  timeout 300 runc run "$name" >out 2>err &
  pid=$!
  until grep -q '^Console:' out; do
    kill -0 "$pid"
    sleep 0.02
  done
  echo "$round: $((($(date +%s%N) - began) / 1000000)) ms"
  curl -sS --fail http://127.0.0.1:18432/health/ready && echo
  curl -sS --fail -o /dev/null -w 'console %{http_code}\n' http://127.0.0.1:18432/console/
  runc exec "$name" id
  if runc exec "$name" touch /app/x; then exit 1; fi
  runc exec "$name" record-service system list
  runc exec "$name" record-service backup --to /data/backups
  runc kill "$name" TERM
  wait "$pid"
done
for delay in 0.1 0.2 0.4 0.8; do
  timeout 300 runc run "$name" >out 2>err &
  pid=$!
  sleep "$delay"
  runc kill "$name" TERM || true
  for _ in $(seq 100); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 0.05
  done
  if kill -0 "$pid" 2>/dev/null; then
    echo "SIGTERM after $delay s: lost"
    runc kill "$name" KILL
  fi
  code=0
  wait "$pid" || code=$?
  echo "SIGTERM after $delay s: exit $code"
done
buildah rm "$container" >/dev/null
echo 'the image works'
