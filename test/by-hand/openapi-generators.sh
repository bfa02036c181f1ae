#!/bin/sh
# Generates clients from openapi.json of a running service by two usual generators, compiles them, and creates, reads, finds and deletes a record with
# each. It needs the npm registry, and Node 24 as `node`.
#
#     sh test/by-hand/openapi-generators.sh http://127.0.0.1:8080 APP API_KEY
set -eu
url=$1 app=$2 key=$3
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
curl -sSf "$url/platform/openapi.json" -H "X-Platform-Application-Id: $app" -H "X-Platform-API-Key: $key" > system.json
npm init -y > npm.log
npm install --no-audit --no-fund --ignore-scripts --loglevel=error @hey-api/openapi-ts@0.99.0 swagger-typescript-api@13.13.0 typescript@5.9.3 >> npm.log
npx openapi-ts -i system.json -o hey -c @hey-api/client-fetch > hey.log
npx swagger-typescript-api generate -p system.json -o swagger -n api.ts > swagger.log

cat > use.ts <<END
import { type AccountsWhere, accountsCreate, accountsDelete, accountsFind, accountsGet } from './hey/index';
import { client } from './hey/client.gen';
import { Api } from './swagger/api';
const headers = { 'X-Platform-Application-Id': '$app', 'X-Platform-API-Key': '$key' };
const conditions: AccountsWhere = { Name: 'Made by a generated client' };
const where = JSON.stringify(conditions);
const body = { Name: 'Made by a generated client', City: 'Haifa' };
(async () => {
  client.setConfig({ baseUrl: '$url', headers });
  const made = await accountsCreate({ body, throwOnError: true });
  const path = { objectId: made.data.objectId };
  const read = await accountsGet({ path, throwOnError: true });
  const found = await accountsFind({ query: { where, count: '1' }, throwOnError: true });
  await accountsDelete({ path, throwOnError: true });
  console.log('@hey-api/openapi-ts:', made.response.status, read.data.Name, found.data.count);
  const api = new Api({ baseUrl: '$url', securityWorker: () => ({ headers }), baseApiParams: { secure: true, format: 'json' } });
  const { data } = await api.platform.accountsCreate(body);
  const one = await api.platform.accountsGet(data.objectId);
  const some = await api.platform.accountsFind({ where, count: '1' });
  await api.platform.accountsDelete(data.objectId);
  console.log('swagger-typescript-api:', one.status, one.data.Name, some.data.count);
})();
END
npx tsc --strict --skipLibCheck --module commonjs --moduleResolution node10 --target es2022 --lib es2022,dom,dom.iterable --outDir js use.ts
node js/use.js
