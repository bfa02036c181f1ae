import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { applyChange } from '../../schema/change.ts';
import type { Mutation } from '../../storage/port.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import { makeWorld, type World } from '../testing/world.ts';
import { dataOf, type LoggedRun, logError, logRow } from './trigger-log.ts';

let world: World;
before(async () => {
  world = await makeWorld((directory) => new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf }));
});
after(() => world.close());

const row: LoggedRun = {
  id: 'run0000001',
  at: 0,
  triggerId: 'trigger001',
  actionId: null,
  event: 'create',
  objectId: 'r',
  data: '{}',
  error: null,
};
const write = (steps: (schema: ReturnType<World['store']['schema']>) => readonly Mutation[]) =>
  world.store.write({ plan: (schema) => ({ changes: [], mutations: steps(schema) }) });
const rows = () => world.all('_syslogTriggers');

test('a row has the fields of the reference, its error as a JSON string; errors change and go', async () => {
  await write((schema) => logRow(schema, row));
  const master = { __type: 'Pointer', className: '_User', objectId: 'master' };
  const [made] = await rows();
  assert.deepEqual(made, {
    objectId: row.id,
    createdAt: '1970-01-01T00:00:00.000Z',
    updatedAt: '1970-01-01T00:00:00.000Z',
    createdBy: master,
    updatedBy: master,
    ACL: {},
    triggerId: 'trigger001',
    event: 'create',
    objectIdValue: 'r',
    data: '{}',
  });
  await write((schema) => logRow(schema, { ...row, id: 'run0000002', actionId: 'action0001', error: 'it "broke"\0\ud800' }));
  const errors = async () => (await rows()).map(({ error }) => error);
  assert.deepEqual(await errors(), [undefined, '"it \\"broke\\"\\u0000\\ud800"']);
  await write((schema) => logError(schema, 'run0000002', 'other'));
  assert.deepEqual(await errors(), [undefined, '"other"']);
  await write((schema) => logError(schema, 'run0000002', null));
  await write((schema) => logError(schema, 'nowhere', 'x'));
  assert.deepEqual(await errors(), [undefined, undefined]);
  assert.equal((await rows())[1]?.actionId, 'action0001');
});

test('a long error is cut', async () => {
  const [step] = logRow(world.store.schema(), { ...row, error: 'x'.repeat(1_000_000) });
  const error = step?.kind === 'insert' ? step.values.find(([field]) => field.name === 'error')?.[1] : null;
  assert.equal(JSON.parse(error as string), `${'x'.repeat(10_000)}…`);
});

test('a table that has not all the columns any more takes no rows', () => {
  const schema = applyChange(world.store.schema(), { kind: 'dropField', className: '_syslogTriggers', name: 'data' } as never);
  assert.deepEqual([logRow(schema, row), logError(schema, 'a', null)], [[], []]);
});

test('data are the record; the longest values are left out until it fits, secrets always', () => {
  const fields = {
    objectId: 'a',
    one: 'x'.repeat(60_000),
    two: 'y'.repeat(60_001),
    three: 'z'.repeat(30_000),
    four: [1, { a: null }],
  };
  const of = (className: string, given: object) => JSON.parse(dataOf({ className, objectId: 'a', fields: given as never }));
  const { two: _two, ...kept } = fields;
  assert.deepEqual(of('Probes', fields), kept);
  assert.deepEqual(of('Probes', kept), kept);
  assert.deepEqual(of('Probes', { objectId: 'a', huge: 'x'.repeat(1_000_000) }), { objectId: 'a' });
  assert.deepEqual(of('_User', { objectId: 'a', password: 'hash', name: 'n' }), { objectId: 'a', name: 'n' });
  const many = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`f${at}`, 'x'.repeat(at)]));
  const text = dataOf({ className: 'Probes', objectId: 'a', fields: many as never });
  assert.ok(text.length <= 100_000 && text.length > 97_000);
  assert.deepEqual(Object.keys(JSON.parse(text)).slice(0, 3), ['f0', 'f1', 'f2']);
});
