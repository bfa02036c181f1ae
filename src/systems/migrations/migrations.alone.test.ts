import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { SchemaChange } from '../../schema/change.ts';
import { tableOf } from '../../schema/model.ts';
import { columnsOf } from '../../storage/column-values.ts';
import type { Engine } from '../../storage/engine.ts';
import type { Store } from '../../storage/port.ts';
import { PostgresEngine } from '../../storage/postgres/index.ts';
import { testDatabase } from '../../storage/postgres/testing/server.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/engine.ts';
import { openAnyway } from '../../storage/testing/open.ts';
import { provision } from '../provision.ts';
import { openMigrated } from '../testing/open.ts';
import { migrate, newestVersion } from './index.ts';
import { readRecords } from './migration.ts';
import { phoneCases } from './testing/phone-cases.ts';

interface Place {
  /** Engines of two processes. */
  readonly engines: readonly [Engine, Engine];
  close(): Promise<void>;
}

async function embedded(): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'rds-migrate-'));
  const open = () => new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf });
  return placeOf([open(), open()], () => rmSync(directory, { recursive: true }));
}

async function postgres(): Promise<Place> {
  const database = await testDatabase();
  const open = () =>
    PostgresEngine.connect(database.url, { timeLimit: 10_000, connections: 6, report: assert.fail, addressesOf });
  return placeOf([await open(), await open()], () => database.drop());
}

const placeOf = (engines: [Engine, Engine], remove: () => void | Promise<void>): Place => ({
  engines,
  async close() {
    for (const engine of engines) await engine.close();
    await remove();
  },
});

/** Content of a system from before there were users. */
const old: SchemaChange[] = [
  {
    kind: 'createTable',
    className: '_User',
    fields: [
      { name: 'username', type: 'String' },
      { name: 'email', type: 'String' },
    ],
  },
  { kind: 'createTable', className: '_Role', fields: [{ name: 'name', type: 'String' }] },
  { kind: 'createTable', className: '_Session', fields: [{ name: 'sessionToken', type: 'Number' }] },
  { kind: 'createTable', className: '_RequestLog', fields: [{ name: 'duration', type: 'String' }] },
  { kind: 'setIndex', className: '_RequestLog', index: { name: 'slowest', keys: [['duration', -1]] } },
  { kind: 'setTextIndex', className: '_RequestLog', fields: ['duration'] },
];

for (const [name, make] of [
  ['the embedded engine', embedded],
  ['PostgreSQL', postgres],
] as const)
  describe(`migrations of a system on ${name}`, () => {
    let place: Place;
    before(async () => {
      place = await make();
    });
    after(() => place.close());

    /** Creates a system as it was before there were users. */
    async function oldSystem(appId: string): Promise<Store> {
      const store = await openAnyway(place.engines[0], appId);
      await store.write({ plan: () => ({ changes: old, mutations: [] }) });
      const insert = (className: string, values: Record<string, string>) =>
        store.write({
          plan(schema) {
            const table = tableOf(schema, className);
            const own = { createdAt: 1, updatedAt: 1, createdBy: 'master', updatedBy: 'master', ...values };
            return { changes: [], mutations: [{ kind: 'insert', table, values: columnsOf(table, own) }] };
          },
        });
      await insert('_User', { objectId: 'one', username: 'Dana', email: 'not an address' });
      await insert('_User', { objectId: 'two', username: 'dana', email: 'Dana@Example.com' });
      await insert('_Role', { objectId: 'admin', name: 'Admin' });
      await insert('_RequestLog', { objectId: 'log', duration: 'long' });
      return store;
    }

    it('of two processes at a time, one does it', async () => {
      const first = await oldSystem('two');
      const second = await openAnyway(place.engines[1], 'two');
      await Promise.all([migrate(first, 'it'), migrate(second, 'it')]);
      await second.close();
      await first.close();
      const store = await openMigrated(place.engines[1], 'two');
      assert.equal(store.schema().templateVersion, newestVersion);
      assert.equal(store.schema().tables.size, 119);
      const users = await readRecords(store, '_User', ['objectId', '_username_key', '_email_key']);
      assert.deepEqual(users, [
        { objectId: 'one', _username_key: 'dana' },
        { objectId: 'two', _email_key: 'dana@example.com' },
      ]);
      const roles = (await readRecords(store, '_Role', ['name'])).map((role) => role.name);
      assert.equal(roles[0], 'Admin');
      assert.equal(new Set(roles).size, roles.length);
      await store.close();
    });

    it('what was put aside keeps its values, its index and its text', async () => {
      const store = await oldSystem('aside');
      await migrate(store, 'it');
      await store.close();
      const again = await openAnyway(place.engines[1], 'aside');
      const table = tableOf(again.schema(), '_RequestLog');
      assert.deepEqual([table.fields.get('duration')?.type, table.fields.get('duration_before')?.type], ['Number', 'String']);
      assert.deepEqual([...table.indexes.values()], [{ name: 'slowest', keys: [['duration_before', -1]] }]);
      assert.deepEqual(table.textIndex, ['duration_before']);
      const rows = await readRecords(again, '_RequestLog', ['duration', 'duration_before']);
      assert.deepEqual(rows, [{ duration_before: 'long' }]);
      assert.equal(tableOf(again.schema(), '_Session').fields.get('sessionToken')?.type, 'String');
      await again.close();
    });

    it('systems of the version before get the tables of files, whatever a client had made under their names', async () => {
      const taken: SchemaChange[] = [
        { kind: 'createTable', className: '_StoredFile', fields: [{ name: 'size', type: 'String' }] },
        { kind: 'createTable', className: '_StorageUsage', fields: [] },
      ];
      for (const [appId, changes] of [
        ['before', []],
        ['taken', taken],
      ] as const) {
        const store = await openAnyway(place.engines[0], appId);
        await store.write({ plan: () => ({ changes: [...changes, { kind: 'setTemplateVersion', version: 1 }], mutations: [] }) });
        await migrate(store, 'it');
        const { tables } = store.schema();
        assert.deepEqual([...tables.keys()].sort(), [
          '_AdminLog',
          '_IdempotencyKey',
          '_ImportJob',
          '_ImportReject',
          '_OAuthItem',
          '_StorageUsage',
          '_StoredFile',
          '_Trigger',
          '_TriggerQueue',
        ]);
        assert.equal(tables.get('_StoredFile')?.fields.get('size')?.type, 'Number');
        const usage = await readRecords(store, '_StorageUsage', ['objectId', 'files', 'bytes', 'quota']);
        assert.deepEqual(usage, [{ objectId: 'usage', files: 0, bytes: 0 }]);
        await store.close();
      }
    });

    it('systems of the version before get what schedules are kept in, and its labels; what a client had made is put aside', async () => {
      const store = await openAnyway(place.engines[0], 'clocks');
      const trigger: SchemaChange[] = [
        { kind: 'createTable', className: '_Dictionary', fields: [{ name: 'tblName', type: 'String' }] },
        { kind: 'addField', className: '_Dictionary', name: 'field', type: 'String' },
        { kind: 'addField', className: '_Dictionary', name: 'value', type: 'String' },
        { kind: 'createTable', className: '_Trigger', fields: [{ name: 'Name', type: 'String' }] },
        { kind: 'addField', className: '_Trigger', name: 'nextRun', type: 'String' },
        { kind: 'setTemplateVersion', version: 3 },
      ];
      await store.write({ plan: () => ({ changes: trigger, mutations: [] }) });
      const values = { objectId: 'clock', createdAt: 1, updatedAt: 1, Name: 'x', nextRun: 'soon' };
      const label = { objectId: 'label', createdAt: 1, updatedAt: 1, tblName: '_Trigger', field: 'lastRun', value: 'Own' };
      await store.write({
        plan: (schema) => ({
          changes: [],
          mutations: (
            [
              ['_Trigger', values],
              ['_Dictionary', label],
            ] as const
          ).map(([className, row]) => {
            const table = tableOf(schema, className);
            return { kind: 'insert', table, values: columnsOf(table, row) };
          }),
        }),
      });
      await migrate(store, 'it');
      const { fields } = tableOf(store.schema(), '_Trigger');
      assert.deepEqual(
        ['nextRun', 'lastRun', '_cursor', 'nextRun_before'].map((field) => fields.get(field)?.type),
        ['Date', 'Date', 'String', 'String'],
      );
      const [row] = await readRecords(store, '_Trigger', ['Name', 'nextRun', 'nextRun_before']);
      assert.deepEqual(row, { Name: 'x', nextRun_before: 'soon' });
      const labels = (await readRecords(store, '_Dictionary', ['tblName', 'field', 'value'])).filter(
        ({ tblName, field }) => tblName === '_Trigger' && field === 'lastRun',
      );
      assert.deepEqual(labels, [{ tblName: '_Trigger', field: 'lastRun', value: 'Own' }]);
      await store.close();
    });

    it('systems of the version before get the table of sign-ins, whatever a client had made under its name', async () => {
      for (const [appId, changes] of [
        ['plain', []],
        ['named', [{ kind: 'createTable', className: '_OAuthItem', fields: [{ name: 'expiresAt', type: 'String' }] }]],
      ] as const) {
        const store = await openAnyway(place.engines[0], appId);
        await store.write({ plan: () => ({ changes: [...changes, { kind: 'setTemplateVersion', version: 4 }], mutations: [] }) });
        await migrate(store, 'it');
        const { fields, indexes } = tableOf(store.schema(), '_OAuthItem');
        assert.deepEqual(
          ['kind', 'payload', 'family', 'uid', 'consumedAt', 'expiresAt'].map((name) => fields.get(name)?.type),
          ['String', 'String', 'String', 'String', 'Date', 'Date'],
        );
        assert.deepEqual([...indexes.keys()].sort(), ['byExpiry', 'byFamily', 'byUid']);
        await store.close();
      }
    });

    it('definitions of triggers are those of the users who had a hand in them', async () => {
      const store = await openAnyway(place.engines[0], 'authors');
      const made: SchemaChange[] = [
        { kind: 'createTable', className: '_User' },
        { kind: 'createTable', className: '_Trigger', fields: [{ name: '_author', type: 'Number' }] },
        { kind: 'setTemplateVersion', version: 5 },
      ];
      await store.write({ plan: () => ({ changes: made, mutations: [] }) });
      const rows = [
        ['keys', 'master', 'master', undefined],
        ['ofOne', 'one', 'one', 'one'],
        ['ofTwo', 'one', 'two', 'two'],
        ['lastAKey', 'one', 'master', 'one'],
        ['lastOne', 'master', 'one', 'one'],
      ] as const;
      await store.write({
        plan: (schema) => ({
          changes: [],
          mutations: rows.map(([objectId, createdBy, updatedBy]) => {
            const table = tableOf(schema, '_Trigger');
            return {
              kind: 'insert',
              table,
              values: columnsOf(table, { objectId, createdAt: 1, updatedAt: 1, createdBy, updatedBy }),
            };
          }),
        }),
      });
      await migrate(store, 'it');
      const found = await readRecords(store, '_Trigger', ['objectId', '_author']);
      assert.deepEqual(Object.fromEntries(found.map(({ objectId, _author }) => [objectId, _author])), {
        ...Object.fromEntries(rows.map(([objectId, , , author]) => [objectId, author])),
      });
      await store.close();
    });

    it('of deletions that were noted without an ACL only keys hear; more of them than are closed at once', async () => {
      const store = await openAnyway(place.engines[0], 'deletions');
      const strings = ['objectClass', 'objectIdValue', 'event'].map((name) => ({ name, type: 'String' }) as const);
      const made: SchemaChange[] = [
        { kind: 'createTable', className: '_Timeline', fields: strings },
        { kind: 'setTemplateVersion', version: 7 },
      ];
      await store.write({ plan: () => ({ changes: made, mutations: [] }) });
      const note = (objectId: string, event: string, ACL: string | null = null) =>
        store.write({
          plan: (schema) => {
            const table = tableOf(schema, '_Timeline');
            const values = { objectId, createdAt: 1, updatedAt: 1, objectClass: 'T', objectIdValue: 'one', event, ACL };
            return { changes: [], mutations: [{ kind: 'insert', table, values: columnsOf(table, values) }] };
          },
        });
      await Promise.all(Array.from({ length: 2_500 }, (_, n) => note(`old${n}`, n % 2 ? 'delete' : 'create')));
      await note('kept', 'delete', '{"role:Admin":{"read":true}}');
      const second = await openAnyway(place.engines[1], 'deletions');
      await Promise.all([migrate(store, 'it'), migrate(second, 'it')]);
      await second.close();
      await note('new', 'delete');
      await migrate(store, 'it');
      const rows = await readRecords(store, '_Timeline', ['objectId', 'event', 'ACL']);
      assert.equal(rows.length, 2_502);
      for (const { objectId, event, ACL } of rows) {
        const kept = { kept: { 'role:Admin': { read: true } } }[objectId as string] ?? {};
        const old = String(objectId).startsWith('old');
        assert.deepEqual(ACL, old && event === 'delete' ? { '*': {} } : kept, `${objectId}`);
      }
      await store.close();
    });

    it('a new system has nothing to go through', async () => {
      const store = await openAnyway(place.engines[0], 'new');
      await provision(store);
      const { version } = store.schema();
      await migrate(store, 'it');
      assert.deepEqual([store.schema().version, store.schema().templateVersion], [version, newestVersion]);
      await store.close();
    });

    describe('the keys of telephone numbers', () => phoneCases(() => place.engines));
  });
