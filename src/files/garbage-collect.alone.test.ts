import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import { master } from '../access/index.ts';
import type { JsonObject } from '../kernel/json.ts';
import { HOUR_MS } from '../kernel/time.ts';
import { createRecord, createSchema, type RecordContext, updateRecord } from '../records/index.ts';
import { tableOf } from '../schema/model.ts';
import { assignmentsOf, columnsOf } from '../storage/column-values.ts';
import type { Engine } from '../storage/engine.ts';
import type { Store } from '../storage/port.ts';
import { PostgresEngine } from '../storage/postgres/index.ts';
import { testDatabase } from '../storage/postgres/testing/server.ts';
import { addressesOf } from '../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../storage/sqlite/engine.ts';
import { openAnyway } from '../storage/testing/open.ts';
import { provision } from '../systems/provision.ts';
import { fileKeeper } from './attach.ts';
import { type Orphan, type SweepResult, sweepFiles } from './garbage-collect.ts';
import { addFile, completeFile, fileTable, findFile, removeFile } from './metadata/file-metadata.ts';
import type { FileRow } from './metadata/model.ts';
import { readUsage } from './metadata/usage.ts';
import { DiskStore } from './stores/disk.ts';
import { newFileName } from './stores/name.ts';

interface Place {
  readonly engine: Engine;
  close(): Promise<void>;
}

async function embedded(): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'rds-sweep-'));
  const engine = new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
  return { engine, close: () => engine.close().then(() => rmSync(directory, { recursive: true })) };
}

async function postgres(): Promise<Place> {
  const database = await testDatabase();
  const engine = await PostgresEngine.connect(database.url, {
    timeLimit: 10_000,
    connections: 6,
    report: assert.fail,
    addressesOf,
  });
  return { engine, close: () => engine.close().then(() => database.drop()) };
}

const appId = 'swept';

for (const [name, make] of [
  ['the embedded engine', embedded],
  ['PostgreSQL', postgres],
] as const)
  describe(`sweep on ${name}`, () => {
    let place: Place;
    let store: Store;
    let directory: string;
    let bytes: DiskStore;
    let context: RecordContext;
    before(async () => {
      place = await make();
      store = await openAnyway(place.engine, appId);
      await provision(store);
      directory = mkdtempSync(join(tmpdir(), 'rds-sweep-files-'));
      bytes = new DiskStore(directory);
      const hooks = { observers: [], rules: new Map(), files: fileKeeper(complete) };
      context = { appId, store, principal: master, hooks, referer: null };
    });
    beforeEach(async () => {
      await store.write({
        plan(schema) {
          const table = tableOf(schema, fileTable);
          return { changes: [], mutations: [{ kind: 'deleteAll', table, filter: { kind: 'always' } }] };
        },
      });
      await bytes.removeSystem(appId);
    });
    after(async () => {
      await store.close();
      await place.close();
      rmSync(directory, { recursive: true });
    });

    /** Puts bytes into the store with a given time. */
    function putBytes(id: string, size: number, at: number): void {
      const parent = join(directory, appId, id.slice(0, 2));
      mkdirSync(parent, { recursive: true });
      writeFileSync(join(parent, id), Buffer.alloc(size, 1));
      utimesSync(join(parent, id), at / 1000, at / 1000);
    }

    /** Returns which of the named files have bytes. */
    const withBytes = (...names: string[]): boolean[] => {
      const there = new Set(readdirSync(directory, { recursive: true }).map((path) => String(path).slice(-32)));
      return names.map((name) => there.has(name.slice(0, 32)));
    };

    /** Adds a file uploaded some time ago; without a size, an awaited large upload. */
    async function upload(size: number | null, hoursAgo = 48): Promise<string> {
      const { id, name } = newFileName('plan ה.txt');
      const at = Date.now() - hoursAgo * HOUR_MS;
      await addFile(store, { id, name, size, contentType: 'text/plain' });
      await store.write({
        plan(schema) {
          const table = tableOf(schema, fileTable);
          const assignments = assignmentsOf(table, { createdAt: at, updatedAt: at });
          return {
            changes: [],
            mutations: [{ kind: 'update', table, objectId: id, guard: null, assignments, returning: [] }],
          };
        },
      });
      if (size !== null) putBytes(id, size, at);
      return name;
    }

    async function complete(_: unknown, { id }: FileRow): Promise<FileRow | null> {
      const object = await bytes.stat(appId, id);
      if (object) await completeFile(store, id, { size: object.size, contentType: 'text/plain' });
      return object && findFile(store, id);
    }

    const create = (className: string, body: JsonObject) => createRecord(context, className, body);
    const idOf = (fileName: string) => fileName.slice(0, 32);
    const found = (orphans: readonly Orphan[]) => orphans.map(({ name: of, why }) => [of, why]).sort();

    async function sweep(hours = 24, remove = true): Promise<{ orphans: Orphan[]; result: SweepResult }> {
      const orphans: Orphan[] = [];
      const options = { olderThan: Date.now() - hours * HOUR_MS, remove };
      const result = await sweepFiles({ store, appId, bytes, complete }, options, (orphan) => orphans.push(orphan));
      return { orphans, result };
    }

    it('spares the body of an import that is still to be carried out', async () => {
      const [kept, lost] = ['a'.repeat(32), 'b'.repeat(32)];
      for (const id of [kept, lost]) putBytes(id, 10, Date.now() - 48 * HOUR_MS);
      await store.write({
        plan(schema) {
          const table = tableOf(schema, '_ImportJob');
          const values = columnsOf(table, { objectId: 'job', createdAt: 1, updatedAt: 1, body: kept });
          return { changes: [], mutations: [{ kind: 'insert', table, values }] };
        },
      });
      const { orphans } = await sweep();
      assert.deepEqual(found(orphans), [[lost, 'noRow']]);
      assert.deepEqual(withBytes(kept, lost), [true, false]);
    });

    it('removes what no record mentions, after it was only told of', async () => {
      const usage = await readUsage(store);
      const [orphan, young, held] = [await upload(10), await upload(20, 23), await upload(30)];
      await create('Sweep', { doc: { __type: 'File', name: held } });
      const told = await sweep(24, false);
      assert.deepEqual(found(told.orphans), [[orphan, 'unattached']]);
      assert.deepEqual(withBytes(orphan, young, held), [true, true, true]);

      const { orphans, result } = await sweep();
      assert.deepEqual(orphans, told.orphans);
      assert.deepEqual(result, { files: 1, bytes: 10, spared: 0 });
      assert.deepEqual(told.result, result);
      assert.deepEqual(withBytes(orphan, young, held), [false, true, true]);
      assert.equal(await findFile(store, idOf(orphan)), null);
      const now = await readUsage(store);
      assert.deepEqual([now.files - usage.files, now.bytes - usage.bytes], [2, 50]);
      assert.deepEqual((await sweep()).orphans, []);
    });

    it('tells how many files and records it has looked at, of how many', async () => {
      for (let n = 0; n < 3; n++) await upload(1);
      await createSchema(context, 'Looked', { fields: { text: { type: 'String' } } });
      for (let n = 0; n < 30; n++) await create('Looked', { text: 'a text' });
      const told: (readonly [number, number])[] = [];
      const options = { olderThan: Date.now() - 24 * HOUR_MS, remove: false };
      await sweepFiles(
        { store, appId, bytes, complete },
        options,
        () => {},
        (...at) => told.push(at),
      );
      const [done, total] = told.at(-1) ?? [0, 0];
      assert.ok(done > 30 && done <= total, `${done} of ${total}`);
      for (const [at, [before, all]] of told.entries())
        assert.ok(before <= all && (at === 0 || before > (told[at - 1]?.[0] ?? 0)));
    });

    it('keeps what any text of any record mentions, but in logs', async () => {
      const names: string[] = [];
      for (let n = 0; n < 10; n++) names.push(await upload(1));
      const [text, html, array, object, inPrivate, page, config, encoded, heldByLog, logged] = names as [
        ...[string, string, string, string, string],
        ...[string, string, string, string, string],
      ];
      await createSchema(context, 'Mention', { fields: { html: { type: 'HTML/XML' }, hidden: { type: 'PrivateFile' } } });
      await create('Mention', {
        text: `see https://files.example/${text}, and f${'0'.repeat(40)}_x`,
        html: `<img src="/static/app/${html}">`,
        array: [{ files: ['"', { __type: 'File', name: array }] }],
        object: { deep: { url: `a${object}` } },
      });
      await create('Mention', { hidden: { __type: 'File', name: inPrivate } });
      await create('Mention', { note: `${'long '.repeat(50_000)}${page}` });
      await create('Config', { Name: 'logo', Value: { file: config } });
      await create('Mention', { note: encodeURIComponent(`ab${encoded}`).replaceAll('_', '%5F') });
      await createSchema(context, '_syslogs', { fields: { doc: { type: 'File' } } });
      await create('_syslogs', { doc: { __type: 'File', name: heldByLog } });
      await touch(heldByLog);
      await create('_GeneralLogs', { Name: 'seen', Value: logged });
      await touch(inPrivate);
      assert.deepEqual(
        found((await sweep(0)).orphans)
          .flat()
          .includes(logged as string),
        true,
      );
      assert.deepEqual(withBytes(...names), [...Array.from({ length: 9 }, () => true), false]);
    });

    /** Gives a file the age of one that was attached long ago. */
    async function touch(fileName: string): Promise<void> {
      const at = Date.now() - 48 * HOUR_MS;
      await store.write({
        plan(schema) {
          const table = tableOf(schema, fileTable);
          const assignments = assignmentsOf(table, { updatedAt: at });
          const update = { kind: 'update', table, objectId: idOf(fileName), guard: null, assignments, returning: [] } as const;
          return { changes: [], mutations: [update] };
        },
      });
    }

    it('removes a file that was taken out of its record, a day after', async () => {
      const fileName = await upload(5);
      const { objectId } = await create('Sweep', { doc: { __type: 'File', name: fileName } });
      await updateRecord(context, 'Sweep', objectId, { doc: null });
      assert.deepEqual((await sweep()).orphans, []);
      await touch(fileName);
      assert.deepEqual(found((await sweep()).orphans), [[fileName, 'unattached']]);
    });

    it('removes large uploads that never came, and takes those that did for others', async () => {
      const usage = await readUsage(store);
      const [never, came, kept, young] = [await upload(null), await upload(null), await upload(null), await upload(null, 1)];
      for (const each of [came, kept]) putBytes(idOf(each), 7, Date.now() - 30 * HOUR_MS);
      await create('Sweep', { note: kept });
      const expected = [[never, 'neverCame']];
      assert.deepEqual(found((await sweep(24, false)).orphans), [...expected, [came, 'unattached']].sort());
      assert.equal((await findFile(store, idOf(came)))?.size, null);

      assert.deepEqual(found((await sweep(0)).orphans), [...expected, [came, 'unattached']].sort());
      assert.deepEqual(withBytes(came, kept), [false, true]);
      assert.equal((await findFile(store, idOf(kept)))?.size, 7);
      assert.notEqual(await findFile(store, idOf(young)), null);
      assert.equal((await readUsage(store)).bytes - usage.bytes, 7);
    });

    it('removes bytes without a row, unless they may be of an upload under way', async () => {
      const [old, fresh] = ['ab'.repeat(16), 'cd'.repeat(16)];
      putBytes(old, 3, Date.now() - 30 * HOUR_MS);
      putBytes(fresh, 3, Date.now());
      const { orphans, result } = await sweep(0);
      assert.deepEqual(found(orphans), [[old, 'noRow']]);
      assert.deepEqual(result, { files: 1, bytes: 3, spared: 0 });
      assert.deepEqual(withBytes(old, fresh), [false, true]);
    });

    it('spares what rows that may be missing would make somebody’s, and nothing else', async () => {
      const [unattached, later] = [await upload(1, 50), await upload(1, 30)];
      const came = await upload(null, 50);
      putBytes(idOf(came), 7, Date.now() - 50 * HOUR_MS);
      const [lost, left] = ['ab'.repeat(16), 'cd'.repeat(16)];
      putBytes(lost, 3, Date.now() - 50 * HOUR_MS);
      putBytes(left, 3, Date.now() - 30 * HOUR_MS);
      const orphans: Orphan[] = [];
      const swept = { store, appId, bytes, complete, mayLackRowsUntil: Date.now() - 40 * HOUR_MS };
      const options = { olderThan: Date.now() - 24 * HOUR_MS, remove: true };
      const { spared } = await sweepFiles(swept, options, (orphan) => orphans.push(orphan));
      assert.deepEqual(
        found(orphans),
        [
          [later, 'unattached'],
          [left, 'noRow'],
        ].sort(),
      );
      assert.deepEqual([spared, withBytes(unattached, came, lost)], [3, [true, true, true]]);
      const rest = { ...swept, mayLackRowsUntil: null };
      await sweepFiles(rest, { olderThan: Date.now() + HOUR_MS, remove: true }, () => {});
      assert.deepEqual(withBytes(unattached, came, lost), [false, false, false]);
    });

    it('leaves a file that a record takes, or that is deleted, in the course of it', async () => {
      const [attached, deleted] = [await upload(1), await upload(1)];
      const { rows } = store.raw;
      store.raw.rows = async (table, from, most) => {
        if (table.className === '_Role' && from === 0) {
          await create('Early', { doc: { __type: 'File', name: attached } });
          const row = await findFile(store, idOf(deleted));
          if (row) await removeFile(store, row);
          await bytes.remove(appId, idOf(deleted));
        }
        return rows.call(store.raw, table, from, most);
      };
      try {
        assert.deepEqual(found((await sweep(0)).orphans), []);
      } finally {
        store.raw.rows = rows;
      }
      assert.notEqual(await findFile(store, idOf(attached)), null);
    });

    it('goes on where a column goes in the course of it', async () => {
      const fileName = await upload(1);
      await create('Growing', { text: 'x', note: fileName });
      const { rows } = store.raw;
      store.raw.rows = async (table, from, most) => {
        if (table.className === 'Growing' && table.fields.has('text'))
          await store.write({
            plan: () => ({ changes: [{ kind: 'dropField', className: 'Growing', name: 'text' }], mutations: [] }),
          });
        return rows.call(store.raw, table, from, most);
      };
      try {
        assert.equal(
          found((await sweep()).orphans)
            .flat()
            .includes(fileName),
          false,
        );
      } finally {
        store.raw.rows = rows;
      }
      assert.deepEqual(withBytes(fileName), [true]);
    });
  });
