import assert from 'node:assert/strict';
import { test } from 'node:test';
import { actorId, anonymous, invalid, master, type Principal } from '../access/index.ts';
import type { CallObservation } from '../observe/index.ts';
import { applyChange } from '../schema/change.ts';
import { planTable } from '../schema/definition.ts';
import type { Schema } from '../schema/model.ts';
import type { PreparedWrite, Store } from '../storage/port.ts';
import { logRequest } from './request-log.ts';

const pointer = { type: 'Pointer', targetClass: '_User' };
const fields: Record<string, { type: string; targetClass?: string }> = {
  ...Object.fromEntries(
    ['path', 'method', 'ip', 'country', 'referer', 'userAgent', 'service', 'installationId', 'keyName'].map((name) => [
      name,
      { type: 'String' },
    ]),
  ),
  ...Object.fromEntries(['usingMK', 'internal', 'trustedIP'].map((name) => [name, { type: 'Boolean' }])),
  ...Object.fromEntries(['duration', 'statusCode', 'contentLength', 'retries'].map((name) => [name, { type: 'Number' }])),
  user: pointer,
};
const empty: Schema = { version: 0, tables: new Map(), referencesTo: new Map() };
const schemaOf = (columns: typeof fields): Schema =>
  planTable(empty, '_RequestLog', { fields: columns }, () => {}).reduce(applyChange, empty);

/** Returns the row that a request leaves; `undefined` if it leaves none. */
function logged(
  { principal = null, ...request }: Partial<CallObservation> & { readonly principal?: Principal | null },
  schema = schemaOf(fields),
  later = schema,
): Record<string, unknown> | undefined {
  let write: PreparedWrite | undefined;
  const store = { schema: () => schema, writeBehind: (one: PreparedWrite) => (write = one) } as unknown as Store;
  logRequest(store, {
    ...{
      method: 'PUT',
      url: '/platform/classes/T/1',
      ip: '203.0.113.9',
      user: principal && actorId(principal),
      keyName: principal?.kind === 'apiKey' ? principal.name : null,
      status: 200,
      bytes: 2,
      ms: 1.6,
    },
    ...({ kind: 'call', system: 'app' } as const),
    ...{ country: undefined, referer: undefined, userAgent: undefined, installationId: undefined, credentials: [] },
    ...request,
  });
  const [mutation] = write?.plan(later).mutations ?? [];
  return mutation?.kind === 'insert'
    ? Object.fromEntries(mutation.values.map(([field, value]) => [field.name, value]))
    : undefined;
}

test('a row has all columns', () => {
  const row = logged({
    url: '/platform/login?password=Secret12',
    country: 'IL',
    referer: 'https://a/?token=x',
    userAgent: 'curl',
  });
  assert.deepEqual(
    Object.keys(row ?? {}).sort(),
    ['objectId', 'createdAt', 'updatedAt', 'createdBy', 'updatedBy', ...Object.keys(fields)].sort(),
  );
  const { objectId, createdAt, updatedAt, ...rest } = row as Record<string, unknown>;
  assert.match(String(objectId), /^\w{10}$/);
  assert.equal(createdAt, updatedAt);
  assert.deepEqual(rest, {
    createdBy: 'master',
    updatedBy: 'master',
    path: '/platform/login',
    method: 'PUT',
    ip: '203.0.113.9',
    country: 'IL',
    referer: 'https://a/?token=***',
    userAgent: 'curl',
    user: null,
    usingMK: false,
    internal: false,
    trustedIP: false,
    duration: 2,
    statusCode: 200,
    contentLength: 2,
    service: 'platform',
    retries: 0,
    installationId: null,
    keyName: null,
  });
});

for (const [principal, user, usingMK, keyName] of [
  [master, 'master', true, null],
  [{ kind: 'apiKey', name: 'erp' }, 'master', true, 'erp'],
  [{ kind: 'user', userId: 'u', roles: [] }, 'u', false, null],
  [anonymous, null, false, null],
  [invalid, null, false, null],
  [null, null, false, null],
] as const satisfies readonly (readonly [Principal | null, string | null, boolean, string | null])[])
  test(`who: ${principal?.kind}`, () => {
    const row = logged({ principal });
    assert.deepEqual([row?.user, row?.usingMK, row?.keyName], [user, usingMK, keyName]);
  });

for (const [ip, trusted] of [
  ['127.0.0.1', true],
  ['127.8.0.1', true],
  ['::1', true],
  ['::ffff:127.0.0.1', true],
  ['10.0.0.1', false],
  ['::ffff:10.0.0.1', false],
  ['12.7.0.0', false],
] as const)
  test(`trustedIP of ${ip}`, () => assert.equal(logged({ ip })?.trustedIP, trusted));

test('texts are bounded', () => {
  const long = 'x'.repeat(60_000);
  const row = logged({
    url: `/${long}`,
    userAgent: long,
    referer: `https://a/${long}`,
    installationId: long,
    country: long,
    ip: long,
  });
  const lengths = ['path', 'userAgent', 'referer', 'installationId', 'country', 'ip'].map((name) => String(row?.[name]).length);
  assert.deepEqual(lengths, [1000, 500, 1000, 256, 100, 100]);
});

test('a secret is hidden before the text is cut', () => {
  const row = logged({ referer: `https://user:Secret12${'x'.repeat(2_000)}@a/` });
  assert.equal(row?.referer, 'https://a/');
});

const { country: _, ...lacking } = fields;
for (const [why, schema] of [
  ['no table', empty],
  ['a column is missing', schemaOf(lacking)],
  ['a column of another type', schemaOf({ ...fields, path: { type: 'Number' } })],
] as const)
  test(`no row: ${why}`, () => {
    assert.equal(logged({}, schema), undefined);
    assert.equal(logged({}, schemaOf(fields), schema), undefined);
  });
