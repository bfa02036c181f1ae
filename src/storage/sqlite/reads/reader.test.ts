import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize, master } from '../../../access/index.ts';
import { turnsDuring } from '../../../automation/testing/turns.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { buildQuery, buildSelection, FindParameters, ReadParameters } from '../../../query/index.ts';
import { createRecord, updateRecord } from '../../../records/index.ts';
import { masterContext } from '../../../records/testing/context.ts';
import { tableOf } from '../../../schema/model.ts';
import { type JsonText, wholeText } from '../../port.ts';
import type { SqliteStore } from '../store.ts';
import { eachWithStore } from '../testing/stores.ts';
import { ReaderPool } from './reader-pool.ts';

let store: SqliteStore;
eachWithStore((opened) => {
  store = opened;
});

function asked(className: string, parameters: Record<string, string>) {
  const schema = store.schema();
  const grant = authorize(master, 'find', tableOf(schema, className));
  const scope = { schema, principal: master };
  const given = new Map(Object.entries(parameters));
  return {
    selection: () => buildSelection(new ReadParameters(given), grant, scope),
    query: () => buildQuery(new FindParameters(given), grant, scope),
  };
}
const record = async (text: JsonText | null): Promise<JsonObject> => JSON.parse(await wholeText(text ?? 'null'));

const DEPTH = 7;
/** Places that two fields lead to, level by level. */
const placesOf = (levels: number): string[] =>
  levels === 0
    ? ['']
    : ['left', 'right'].flatMap((name) => placesOf(levels - 1).map((rest) => (rest ? `${name}.${rest}` : name)));

test('many include places are expanded on a thread, while others have their turns', async () => {
  const node = (objectId: string) => ({ __type: 'Pointer', className: 'Node', objectId });
  await createRecord(masterContext(store), 'Node', { objectId: 'one' });
  await createRecord(masterContext(store), 'Node', { objectId: 'other', left: node('other'), right: node('one') });
  await updateRecord(masterContext(store), 'Node', 'one', { left: node('one'), right: node('other') });

  const places = Array.from({ length: DEPTH }, (_, at) => placesOf(at + 1))
    .flat()
    .slice(0, 240);
  const include = places.join(',');
  const one = asked('Node', { include }).selection();
  const few = asked('Node', { include: 'left,right' }).selection();
  assert.ok(one.places === 240);

  const reads = [
    async () => record(await store.reader.get(one, 'one')),
    async () => {
      const { results } = await store.reader.find(asked('Node', { include, where: '{"objectId":"one"}' }).query());
      const [found] = JSON.parse(await wholeText(results));
      return found as JsonObject;
    },
  ];
  for (const read of reads) {
    let found: JsonObject = {};
    const turns = await turnsDuring(async () => {
      found = await read();
    });
    assert.ok(turns > 20, `${turns} turns`);
    for (const place of places) {
      const names = place.split('.');
      const target = names.reduce((from, name) => ((from === 'one') === (name === 'left') ? 'one' : 'other'), 'one');
      const value = names.reduce((from, name) => from[name] as JsonObject, found);
      assert.deepEqual([value.__type, value.objectId], ['Object', target], place);
    }
  }
  const turns = await turnsDuring(async () => void (await record(await store.reader.get(few, 'one'))));
  assert.ok(turns <= 2, 'a few places are expanded at once');
});

test('a thread asks how to read the classes that Arrays name, and nothing else', async (t) => {
  const node = (objectId: string) => ({ __type: 'Pointer', className: 'Node', objectId });
  await createRecord(masterContext(store), 'Node', { objectId: 'leaf', name: 'leaf' });
  await createRecord(masterContext(store), 'Node', { objectId: 'one', name: 'one', left: node('leaf'), list: [node('leaf')] });
  await createRecord(masterContext(store), 'Node', { objectId: 'top', name: 'top', left: node('one'), list: [node('one'), 5] });
  const classes: string[] = [];
  const find = ReaderPool.prototype.find;
  t.mock.method(ReaderPool.prototype, 'find', function (this: ReaderPool, ...asked: Parameters<typeof find>) {
    const [path, plans, resolve, onFailed] = asked;
    const noting: typeof resolve = (at, met, className) => {
      classes.push([...met, className].join());
      return resolve(at, met, className);
    };
    return find.call(this, path, plans, noting, onFailed);
  });
  const read = async (include: string) => {
    // A pattern may take long.
    const { results } = await store.reader.find(asked('Node', { include, where: '{"name":{"$regex":"t[o]p"}}' }).query());
    return JSON.parse(await wholeText(results))[0];
  };
  const pointers = await read('left.left');
  assert.deepEqual([pointers.left.left.name, pointers.list[0].name, classes], ['leaf', undefined, []]);
  const arrays = await read('left.left,list.left,list.list');
  assert.deepEqual([arrays.list[0].left.name, arrays.list[0].list[0].name, arrays.list[1]], ['leaf', 'leaf', 5]);
  assert.deepEqual(classes, ['Node', 'Node,Node']);
});

test('a record of many values that are each short enough is written out by a thread, its table too after the first look', async (t) => {
  const threads = t.mock.method(ReaderPool.prototype, 'find');
  const values = Object.fromEntries(Array.from({ length: 85 }, (_, at) => [`t${at}`, 'x'.repeat(200 * 1024)]));
  await createRecord(masterContext(store), 'Wide', { objectId: 'small', t0: 'x' });
  const get = async (id: string) => record(await store.reader.get(asked('Wide', {}).selection(), id));
  assert.equal((await get('small')).t0, 'x');
  assert.equal(threads.mock.callCount(), 0);
  await createRecord(masterContext(store), 'Wide', { objectId: 'large', ...values });
  const { t0, t84 } = await get('large');
  assert.deepEqual([t0, t84], [values.t0, values.t84]);
  assert.equal(threads.mock.callCount(), 1);
  assert.equal((await get('small')).t0, 'x');
  assert.equal(threads.mock.callCount(), 2);
});
