#!/bin/sh
# Generates Python clients from openapi.json of a running service by two usual generators, and creates, reads, changes, finds, counts and deletes a record
# with each. It needs the npm registry, Node 24 as `node`, Java, and Python with what the generated clients import.
#
#     sh test/by-hand/openapi-python.sh http://127.0.0.1:8080 APP API_KEY
#
# - OpenAPI Generator, in the last version whose npm package has the program in it. It reads OpenAPI 3.0, to which a converter brings the description.
#   Its clients import urllib3, dateutil, six and certifi (Debian: python3-urllib3 python3-dateutil python3-six python3-certifi).
# - openapi-python-client, which reads 3.1, if a command of that name is there. Its clients import httpx and attrs.
#
# PYTHON and CLIENT_PYTHON name the interpreters for the clients, if they are others than `python3`.
set -eu
url=$1 app=$2 key=$3
# Not where only root writes: the interpreters may be another user's.
dir=$(mktemp -d "${TMPDIR:-/tmp}/openapi-python-XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir"
curl -sSf "$url/platform/openapi.json" -H "X-Platform-Application-Id: $app" -H "X-Platform-API-Key: $key" > system.json

npm init -y > npm.log
npm install --no-audit --no-fund --ignore-scripts --loglevel=error @openapitools/openapi-generator-cli@1.0.18-5.0.0-beta2 @apiture/openapi-down-convert@0.14.2 >> npm.log
npx openapi-down-convert -i system.json -o converted.json
# The converter leaves this key of 3.1.
node -e "
const { readFileSync, writeFileSync } = require('node:fs');
const whole = JSON.parse(readFileSync('converted.json'), (key, value) => (key === 'contentSchema' ? undefined : value));
writeFileSync('system-3.0.json', JSON.stringify(whole));"
java -jar node_modules/@openapitools/openapi-generator-cli/bin/openapi-generator.jar generate -i system-3.0.json -g python -o generator \
  --package-name records > generator.log 2>&1 || { grep -v WARN generator.log; exit 1; }

cat > use-generator.py <<END
import datetime, json, sys
sys.path.insert(0, 'generator')
import records
from records import AccountsCreate, AccountsUpdate, AccountsWhere, DateValue

client = records.ApiClient(records.Configuration(host='$url', api_key={'ApplicationId': '$app', 'ApiKey': '$key'}))
accounts = records.AccountsApi(client)
name = 'Made by a generated client'
birthday = datetime.datetime(1990, 5, 17, tzinfo=datetime.timezone.utc)
made = accounts.accounts_create(accounts_create=AccountsCreate(name=name, city='Haifa', birthday=DateValue('Date', birthday)))
read = accounts.accounts_get(made.object_id)
assert (read.name, read.city, read.birthday.iso, read.created_at) == (name, 'Haifa', birthday, made.created_at), read
accounts.accounts_update(made.object_id, accounts_update=AccountsUpdate(city='Acre'))
where = json.dumps(client.sanitize_for_serialization(AccountsWhere(name=name, city='Acre')))
found = accounts.accounts_find(where=where, count='1', order='-createdAt')
assert [(one.object_id, one.city) for one in found.results] == [(made.object_id, 'Acre')] and found.count == 1, found
counted = accounts.accounts_find(where=where, count='1', limit=0)
assert (counted.count, counted.results) == (1, []), counted
accounts.accounts_delete(made.object_id)
try:
    accounts.accounts_get(made.object_id)
    raise AssertionError('It is still there.')
except records.ApiException as error:
    assert (error.status, json.loads(error.body)['code']) == (404, 101), error
print('OpenAPI Generator, python: created, read, changed, found', found.count, 'and deleted', made.object_id)
END
"${PYTHON:-python3}" use-generator.py

command -v openapi-python-client > /dev/null || { echo 'openapi-python-client is not installed: left out'; exit 0; }
# What it would leave out of the bytes of files otherwise.
cat > config.yml <<END
project_name_override: record-client
package_name_override: record_client
content_type_overrides:
  '*/*': application/octet-stream
  text/csv: application/octet-stream
  application/x-ndjson: application/octet-stream
post_hooks: []
END
openapi-python-client generate --path "$dir/system.json" --config "$dir/config.yml" --output-path "$dir/client" > client.log 2>&1 || { cat client.log; exit 1; }
cat > use-client.py <<END
import datetime, json, sys
sys.path.insert(0, '$dir/client')
from record_client import Client
from record_client.api.accounts import accounts_create, accounts_delete, accounts_find, accounts_get, accounts_update
from record_client.models import AccountsCreate, AccountsFindCount, AccountsUpdate, AccountsWhere, DateValue, DateValueType, StringConditionType2

client = Client('$url', headers={'X-Platform-Application-Id': '$app', 'X-Platform-API-Key': '$key'})
name = 'Made by a generated client'
birthday = DateValue(DateValueType.DATE, datetime.datetime(1990, 5, 17, tzinfo=datetime.timezone.utc))
made = accounts_create.sync(client=client, body=AccountsCreate(name=name, city='Haifa', birthday=birthday))
read = accounts_get.sync(made.object_id, client=client)
assert (read.name, read.city, read.birthday, read.created_at) == (name, 'Haifa', birthday, made.created_at), read
accounts_update.sync(made.object_id, client=client, body=AccountsUpdate(city='Acre'))
where = json.dumps(AccountsWhere(name=name, city=StringConditionType2(in_=['Acre', 'Haifa'])).to_dict())
found = accounts_find.sync(client=client, where=where, count=AccountsFindCount.VALUE_1, order='-createdAt')
assert [(one.object_id, one.city) for one in found.results] == [(made.object_id, 'Acre')] and found.count == 1, found
counted = accounts_find.sync(client=client, where=where, count=AccountsFindCount.VALUE_1, limit=0)
assert (counted.count, counted.results) == (1, []), counted
accounts_delete.sync(made.object_id, client=client)
gone = accounts_get.sync_detailed(made.object_id, client=client)
assert (gone.status_code, gone.parsed.code) == (404, 101), gone
print('openapi-python-client: created, read, changed, found', found.count, 'and deleted', made.object_id)
END
"${CLIENT_PYTHON:-python3}" "$dir/use-client.py"
