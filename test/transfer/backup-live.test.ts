/** A backup is one consistent snapshot of a system under writes: records, timeline and queued triggers agree. Reference: backup.md#backup. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { on } from '../audit/rows.ts';
import { createEach, type Row } from '../support/query.ts';
import { engines, type Service, startService } from '../support/service.ts';
import { soon } from '../support/soon.ts';
import { callSystem, type System } from '../systems/cli.ts';
import { backUp, credentialsIn, done, folderForTest, openedFile } from './backups.ts';
import { LiveModel, type Moment, table, targets } from './live-model.ts';

const writers = 32;
/** Writes per second of each. */
const RATE = 20;
const backups = Number(process.env.BACKUPS ?? 1);

/** Creates a table with a timeline, a trigger and a Relation, the target of the Relation, and the table that the trigger fills. */
async function prepare(service: Service): Promise<void> {
  const define = async (className: string, fields: Record<string, object>, more: object = {}) => {
    const { status, text } = await service.call('POST', `/platform/schemas/${className}`, {
      body: { className, fields, ...more },
    });
    assert.equal(status, 200, text);
  };
  await createEach(
    service,
    'Target',
    targets.map((objectId) => ({ objectId })),
  );
  await define('Made', { Of: { type: 'String' } });
  const string = { type: 'String' };
  const fields = { tag: string, a: string, b: string, c: { type: 'Object' }, filler: string };
  await define(table, { ...fields, pair: { type: 'Relation', targetClass: 'Target' } }, { timeline: on });
  const actionData = { table: 'Made', fields: { Of: '{{objectId}}' } };
  const actions = [{ _id: 'makesmadeX', type: 'create-object', actionData }];
  const body = { Name: 'live', table, events: ['create'], actions };
  const made = await service.call('POST', '/platform/classes/_Trigger', { body });
  assert.equal(made.status, 201, made.text);
}

async function rowsOf(service: Service, system: System, className: string): Promise<Row[]> {
  const answer = await callSystem(service, system, 'GET', `/platform/classes/${className}`, { query: { limit: 1_000_000 } });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.results;
}

const counted = (names: readonly unknown[]): Map<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(String(name), (counts.get(String(name)) ?? 0) + 1);
  return counts;
};

for (const engine of engines)
  describe(`backups of a system that is written to: ${engine}`, () => {
    let service: Service;
    before(async () => {
      service = await startService({ engine });
      await prepare(service);
    });
    after(() => service.stop());

    test(`${writers} writers: what was acknowledged before is in it, none by half`, async (t) => {
      const folder = await folderForTest();
      const model = new LiveModel();
      const writing = Array.from({ length: writers }, (_, n) => model.write(service, `w${n}`, RATE));
      const taken: { before: Moment; file: string }[] = [];
      try {
        while (model.moment().size <= writers) await wait(20);
        for (let n = 0; n < backups; n++) {
          await wait(100 + Math.random() * 200);
          const before = model.moment();
          taken.push({ before, file: await backUp(service, folder, service.appId) });
        }
      } finally {
        model.isOver = true;
        for (const result of await Promise.allSettled(writing)) assert.equal(result.status, 'fulfilled', JSON.stringify(result));
      }
      t.diagnostic(`${model.writes} writes during ${taken.length} backups`);
      assert.ok([...(taken.at(-1)?.before.values() ?? [])].length > writers, 'the test tested nothing');

      for (const [n, { before, file }] of taken.entries()) {
        const members = await openedFile(file);
        const pairs = String(members.find(({ name }) => name === `members/${table}.pair.ndjson`)?.bytes).trim();
        const owners = counted(pairs === '' ? [] : pairs.split('\n').map((line) => JSON.parse(line)[0]));
        // With --active its triggers run.
        const system = credentialsIn(await done(service, ['restore', file, '--as', `Live-${n}`, '--active', '--quiet']));
        await soon(async () => assert.equal((await callSystem(service, system, 'GET', '/platform/schemas')).status, 200), 5_000);
        const records = await rowsOf(service, system, table);
        const writes = model.verify(records as never, before);
        const history = counted(
          (await rowsOf(service, system, '_Timeline'))
            .filter(({ objectClass }) => objectClass === table)
            .map((row) => row.objectIdValue),
        );
        for (const [objectId, count] of writes) {
          assert.equal(history.get(objectId), count, `${objectId}: rows of the timeline, and writes`);
          assert.equal(owners.get(objectId), targets.length, `${objectId}: members of its Relation`);
        }
        // The trigger of each record is in the backup once, either done or queued.
        await soon(async () => {
          const made = counted((await rowsOf(service, system, 'Made')).map(({ Of }) => Of));
          for (const objectId of writes.keys()) assert.equal(made.get(objectId), 1, `${objectId}: runs of its trigger`);
        }, 30_000);
        await done(service, ['system', 'remove', system.appId, '--now']);
      }
    });

    test('one ends while there are 500 writes a second', async (t) => {
      const model = new LiveModel();
      const writing = Array.from({ length: 25 }, (_, n) => model.write(service, `w${n}`, 20));
      try {
        await wait(500);
        const file = await backUp(service, await folderForTest(), service.appId);
        assert.match(await done(service, ['backup', 'verify', file]), /all checksums agree/);
      } finally {
        model.isOver = true;
        for (const result of await Promise.allSettled(writing)) assert.equal(result.status, 'fulfilled', JSON.stringify(result));
      }
      t.diagnostic(`${model.writes} writes`);
    });
  });
