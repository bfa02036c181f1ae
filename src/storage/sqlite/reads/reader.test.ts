import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize, master } from '../../../access/index.ts';
import { turnsDuring } from '../../../automation/testing/turns.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { parseQuery, parseSelection } from '../../../query/index.ts';
import { createRecord, updateRecord } from '../../../records/index.ts';
import { masterContext } from '../../../records/testing/context.ts';
import { tableOf } from '../../../schema/model.ts';
import { type JsonText, wholeText } from '../../port.ts';
import type { SqliteStore } from '../store.ts';
import { eachWithStore } from '../testing/stores.ts';

let store: SqliteStore;
eachWithStore((opened) => {
  store = opened;
});

function asked(className: string, parameters: Record<string, string>) {
  const schema = store.schema();
  const grant = authorize(master, 'find', tableOf(schema, className));
  const scope = { schema, principal: master };
  const given = new Map(Object.entries(parameters));
  return { selection: () => parseSelection(given, grant, scope), query: () => parseQuery(given, grant, scope) };
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

test('a record of many values that are each short enough is written out by a thread, its table too after the first look', async () => {
  const values = Object.fromEntries(Array.from({ length: 85 }, (_, at) => [`t${at}`, 'x'.repeat(200 * 1024)]));
  await createRecord(masterContext(store), 'Wide', { objectId: 'small', t0: 'x' });
  const get = (id: string) => store.reader.get(asked('Wide', {}).selection(), id);
  assert.equal(typeof get('small'), 'string');
  await createRecord(masterContext(store), 'Wide', { objectId: 'large', ...values });
  const answer = await get('large');
  assert.notEqual(typeof answer, 'string');
  const { t0, t84 } = await record(answer);
  assert.deepEqual([t0, t84], [values.t0, values.t84]);
  const small = get('small');
  assert.notEqual(typeof small, 'string');
  assert.equal((await record(await small)).t0, 'x');
});
