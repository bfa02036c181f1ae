import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { anonymous, master, type Principal } from '../../access/index.ts';
import { ServiceError } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { createSchema } from '../../records/index.ts';
import { masterContext } from '../../records/testing/context.ts';
import { type Store, wholeText } from '../../storage/port.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import { openAnyway } from '../../storage/testing/open.ts';
import { provision } from '../../systems/provision.ts';
import type { Users } from '../../users/index.ts';
import type { ApiRequest } from '../endpoint/endpoint.ts';
import { aggregateEndpoints, recordEndpoints } from './records.ts';

const base = '/classes/:className';
const endpoints = [...recordEndpoints(null as unknown as Users, base, ({ className = '' }) => className), ...aggregateEndpoints];
const lists = base;
const one = `${base}/:objectId`;
const aggregations = '/classes-aggregate/:className';

const user: Principal = { kind: 'user', userId: 'u1', roles: [] };
const all = { '*': true };

/** A parameter by itself, and its error. */
type Fault = readonly [name: string, value: JsonValue];

const unknown: Fault = ['nope', '1'];
const noNames: readonly Fault[] = [
  ['keys', 5],
  ['excludeKeys', { a: 1 }],
  ['include', ['a', 5]],
  ['includeAll', 'x'],
  ['include', Array.from({ length: 600 }, (_, n) => `a${n}`).join()],
];
const manyStages = Array.from({ length: 51 }, () => ({ $limit: 1 }));

/** Each error takes precedence over those that follow. */
const ofLists: readonly Fault[] = [
  unknown,
  ['redirectClassNameForKey', 5],
  ['where', '{'],
  ['where', '[]'],
  ['where', 'x'.repeat(5_000_000)],
  ['where', '{"$bad":1}'],
  ...noNames,
  ['keys', 'a-b'],
  ['keys', 'hidden'],
  ['include', 'to-nobody'],
  ['order', 5],
  ['order', 'a b'],
  ['order', 'hidden'],
  ['limit', 'x'],
  ['skip', '-1'],
  ['count', 'x'],
];
const ofUnknownTables = ofLists.filter(([, value]) => value !== 'hidden');
/** Errors that are detected without cost. */
const ofNobody: readonly Fault[] = [
  unknown,
  ['redirectClassNameForKey', 5],
  ['where', '{'],
  ['where', '[]'],
  ...noNames,
  ['order', 5],
  ['limit', 'x'],
  ['skip', 1.5],
  ['count', 'x'],
];
const ofReads: readonly Fault[] = [unknown, ...noNames, ['keys', 'a-b'], ['keys', 'hidden'], ['include', 'a-b']];
const ofPipelines: readonly Fault[] = [
  unknown,
  ['where', '{'],
  ['where', '{"$bad":1}'],
  ['pipeline', '{'],
  ['pipeline', '[[[['.repeat(30)],
  ['pipeline', 5],
  ['pipeline', JSON.stringify(manyStages)],
  ['pipeline', [5]],
  ['pipeline', [{ $nope: 1 }]],
];
const ofShortForms: readonly Fault[] = [
  unknown,
  ['where', '{'],
  ['where', '{"$bad":1}'],
  ['unwind', '{'],
  ['group', '{'],
  ['project', 'a,'.repeat(3_000)],
  ['sort', 'a,'.repeat(3_000)],
  ['skip', 'x'],
  ['limit', 'x'],
  ['unwind', 'a'],
  ['group', 5],
  ['sort', 'a-b'],
];

describe('of several faults the first counts', () => {
  let directory = '';
  let engine: SqliteEngine;
  let store: Store;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'rds-refusals-'));
    engine = new SqliteEngine(directory, { timeLimit: 30_000, report: assert.fail, addressesOf });
    store = await openAnyway(engine, 'app');
    await provision(store);
    const fields = { a: { type: 'String' }, hidden: { type: 'String' } };
    for (const [className, classLevelPermissions] of Object.entries({
      Open: { find: all, get: all, count: all, protectedFields: { '*': ['hidden'] } },
      Shut: { create: all },
      Counted: { count: all },
    }))
      await createSchema(masterContext(store), undefined, { className, fields, classLevelPermissions });
  });
  after(async () => {
    await store.close();
    await engine.close();
    await rm(directory, { recursive: true });
  });

  async function call(path: string, className: string, principal: Principal, query: JsonObject): Promise<string> {
    const endpoint = endpoints.find((each) => each.method === 'GET' && each.path === path);
    assert.ok(endpoint);
    const context = { ...masterContext(store), principal };
    const params = { className, objectId: 'nobody' };
    const request = { context, principal, params, query: new Map(Object.entries(query)) } as unknown as ApiRequest;
    return wholeText((await endpoint.handle(request)).json);
  }

  async function refusal(...asked: Parameters<typeof call>): Promise<string> {
    const error = await call(...asked).then(
      (text) => assert.fail(`answered ${text.slice(0, 100)}`),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof ServiceError, String(error));
    return `${error.key} ${error.message}`;
  }

  const orders: ReadonlyArray<readonly [what: string, path: string, className: string, principal: Principal, readonly Fault[]]> =
    [
      ['a list', lists, 'Open', user, ofLists],
      ['a list of a table that is not there', lists, 'Nowhere', master, ofUnknownTables],
      ['a list of a table that is not there, for anybody', lists, 'Nowhere', anonymous, ofNobody],
      ['a record', one, 'Open', user, ofReads],
      ['a pipeline', aggregations, 'Open', user, ofPipelines],
      ['stages by name', aggregations, 'Open', user, ofShortForms],
    ];
  for (const [what, path, className, principal, faults] of orders)
    test(what, async () => {
      for (const [at, [name, value]] of faults.entries()) {
        const alone = await refusal(path, className, principal, { [name]: value });
        for (const [other, otherValue] of faults.slice(at + 1)) {
          if (other === name) continue;
          // The order of the parameters does not matter.
          for (const query of [
            { [name]: value, [other]: otherValue },
            { [other]: otherValue, [name]: value },
          ])
            assert.equal(await refusal(path, className, principal, query), alone, `${JSON.stringify(query).slice(0, 200)}`);
        }
      }
    });

  test('a caller who may not read learns of nothing else, but of the form that the query should have', async () => {
    const denied = async (...asked: Parameters<typeof call>) => assert.match(await refusal(...asked), /^permissionDenied/);
    for (const [name, value] of ofLists.filter(([name]) => name !== 'redirectClassNameForKey'))
      await denied(lists, 'Shut', user, { [name]: value });
    for (const [name, value] of ofReads) await denied(one, 'Shut', user, { [name]: value });
    for (const [name, value] of [...ofPipelines, ...ofShortForms]) {
      await denied(aggregations, 'Shut', user, { [name]: value });
      await denied(aggregations, 'Nowhere', anonymous, { [name]: value });
    }
    assert.match(await refusal(lists, 'Shut', user, { redirectClassNameForKey: 5 }), /^badParameterValue/);
    assert.match(await refusal(lists, 'Shut', user, { redirectClassNameForKey: 'a', nope: 1 }), /^invalidParameter/);
    await denied(lists, 'Shut', user, { redirectClassNameForKey: 'a' });
    await denied(lists, 'Shut', user, { redirectClassNameForKey: '', nope: 1 });
  });

  test('the right to count is enough for the number alone, and for nothing that is malformed', async () => {
    for (const query of [
      { limit: '0', count: '1' },
      { limit: 0, count: true },
      { limit: '0', count: 'true', where: '{"a":"b"}' },
    ])
      assert.equal(await call(lists, 'Counted', user, query), '{"results":[],"count":0}');
    for (const query of [
      { limit: '0', count: 'x' },
      { limit: '00', count: '1' },
      { limit: '0' },
      { limit: 'x', count: '1' },
      { count: '1' },
    ])
      assert.match(await refusal(lists, 'Counted', user, query), /^permissionDenied/);
    assert.match(await refusal(lists, 'Counted', user, { limit: '0', count: '1', nope: '1' }), /^invalidParameter/);
    assert.match(await refusal(lists, 'Counted', user, { limit: '0', count: '1', skip: 'x' }), /^badParameterValue/);
  });

  test('a table that is not there has no rows, whatever the stages are', async () => {
    assert.equal(await call(aggregations, 'Nowhere', user, { where: '{', limit: 'x' }), '{"results":[]}');
    assert.match(await refusal(aggregations, 'Nowhere', user, { where: '{', nope: 'x' }), /^invalidParameter/);
    assert.match(await refusal(aggregations, 'Nowhere', user, { pipeline: '{', limit: 'x' }), /^invalidParameter/);
    assert.match(await refusal(one, 'Nowhere', user, { nope: 'x' }), /^objectNotFound/);
  });

  test('forms that are taken', async () => {
    for (const query of [
      { keys: '', excludeKeys: '', include: '', order: '', redirectClassNameForKey: '' },
      { keys: ['a', ' a ', ''], order: ['-a', 'a'], limit: '007', skip: '0', count: 1 },
      { keys: ' a ,,a', includeAll: 0, limit: '99999999999999999999', count: false },
      { where: {}, limit: 1, count: '0' },
    ] as JsonObject[])
      assert.match(await call(lists, 'Open', user, query), /^\{"results":\[\]/);
    for (const query of [
      { group: '{"_id":null}', sort: '-a', limit: '1', unwind: '$a', count: 'n' },
      { pipeline: '[{"group":{"_id":null}}]' },
      { pipeline: [{ $match: { a: 'b' } }], where: { a: 'b' } },
      { project: 'a,b', skip: 0 },
    ] as JsonObject[])
      assert.match(await call(aggregations, 'Open', user, query), /^\{"results":\[/);
  });
});
