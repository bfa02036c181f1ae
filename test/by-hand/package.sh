#!/usr/bin/env bash
# Makes the package, runs it with npx in an empty folder, and uses it: records, a function in TypeScript, the console, commands.
# Usage: test/by-hand/package.sh [directory with Node 24's `node`, which then comes first in PATH]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
work=$(mktemp -d)
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null || true; rm -rf "$work"' EXIT
npm pack --silent --pack-destination "$work"
package=$(echo "$work"/*.tgz)
if tar -tzf "$package" | grep -E '\.test\.|/testing/|/\.env|credentials\.json|^package/(src|test|console)/'; then
  echo 'the package holds files that do not belong there' >&2
  exit 1
fi
PATH=${1:-$PWD/node_modules/node/bin}:$PATH
mkdir -p "$work/empty/functions"
cd "$work/empty"
# npx takes an absolute path for the name of a program.
package=../$(basename "$package")
cat >functions/hello.ts <<'TS'
import { defineFunction, z } from 'record-data-service';

const input = z.object({ name: z.string() });
export default defineFunction({
  input,
  run: async ({ input, system }) => ({ hello: input.name as string, found: await system.find('Accounts', { limit: 1 }) }),
});
TS
echo "Node $(node --version), $(du -k "$package" | cut -f1) KB"
time npx --yes "$package" --version
PORT=18431 npx --yes "$package" start >out 2>err &
pid=$!
for _ in $(seq 600); do
  grep -q '^Console:' out && break
  kill -0 "$pid"
  sleep 0.1
done
cat err
node --input-type=module - <<'JS'
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

const url = 'http://127.0.0.1:18431';
const { appId, masterKey } = JSON.parse(readFileSync('data/credentials.json', 'utf8'));
const headers = { 'X-Platform-Application-Id': appId, 'X-Platform-Master-Key': masterKey, 'Content-Type': 'application/json' };
const ask = async (path, options = {}) => {
  const answer = await fetch(url + path, { headers, ...options });
  const text = await answer.text();
  assert.ok(answer.ok, `${path}: ${answer.status} ${text}`);
  console.log(answer.status, path.slice(0, 60));
  return text;
};
await ask('/health/ready');
await ask('/platform/classes/Accounts', { method: 'POST', body: '{"Name":"Dana"}' });
// A pattern is matched on a reader thread.
const where = encodeURIComponent('{"Name":{"$regex":"an"}}');
assert.equal(JSON.parse(await ask(`/platform/classes/Accounts?where=${where}`)).results.length, 1);
assert.equal(JSON.parse(await ask(`/functions/${appId}/hello?name=Dana`)).result.hello, 'Dana');
const page = await ask('/console/', { headers: { Accept: 'text/html' } });
const assets = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path);
assert.ok(assets.length > 2);
for (const path of assets) await ask(path);
JS
for command in 'system list' check "backup --to $work/backups" 'help'; do
  echo "--- $command"
  # shellcheck disable=SC2086
  npx --yes "$package" $command | head -3
done
kill "$pid"
pid=
echo 'the package works'
