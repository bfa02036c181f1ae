import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { NewField, SchemaChange } from '../../../schema/change.ts';
import { tableOf } from '../../../schema/model.ts';
import { assignmentsOf, columnsOf, type OwnValues } from '../../../storage/column-values.ts';
import type { Engine } from '../../../storage/engine.ts';
import type { Mutation, Store } from '../../../storage/port.ts';
import type { RawAccess } from '../../../storage/raw-access.ts';
import { openAnyway } from '../../../storage/testing/open.ts';
import { migrate, newestVersion } from '../index.ts';
import { readRecords } from '../migration.ts';

const className = 'Accounts';
const phone = { name: 'PhoneNumber', type: 'String' } as const;
const versionBefore: SchemaChange = { kind: 'setTemplateVersion', version: 2 };

/** Phones as stored in records, and the key of each. */
const forms: [string | null, string | undefined][] = [
  ['050-1234567', '0501234567'],
  ['+972 (3) 555.1234', '035551234'],
  ['972501234567', '0501234567'],
  ['none', undefined],
  [null, undefined],
];

/** More than two pages. */
const ACCOUNTS = 2_100;

/** Commits an ordinary write. */
const mutate = (store: Store, plan: (table: ReturnType<typeof tableOf>) => Mutation[]) =>
  store.write({ plan: (schema) => ({ changes: [], mutations: plan(tableOf(schema, className)) }) });

const update = (store: Store, objectId: string, values: OwnValues) =>
  mutate(store, (table) => [
    { kind: 'update', table, objectId, guard: null, assignments: assignmentsOf(table, values), returning: [] },
  ]);

/** Wraps a store so that something happens after a page was read, or before a write. */
function intercepted(store: Store, { read, write }: { read?: () => Promise<unknown>; write?: () => void }): Store {
  const contents = {
    async rows(...args: Parameters<RawAccess['rows']>) {
      const rows = await store.raw.rows(...args);
      await read?.();
      return rows;
    },
  } as RawAccess;
  return {
    raw: contents,
    reader: store.reader,
    schema: () => store.schema(),
    async write(prepared) {
      write?.();
      return store.write(prepared);
    },
  } as Store;
}

/**
 * Test cases of the migration to phone keys.
 * @param engines of two processes on the same data
 */
export function phoneCases(engines: () => readonly [Engine, Engine]): void {
  /** Creates a system of the version before, with accounts. */
  async function systemWith(appId: string, fields: readonly NewField[], accounts: readonly OwnValues[] = []): Promise<Store> {
    const store = await openAnyway(engines()[0], appId);
    const changes: SchemaChange[] = [{ kind: 'createTable', className, fields }, versionBefore];
    await store.write({ plan: () => ({ changes, mutations: [] }) });
    const own = { createdAt: 1, updatedAt: 2, createdBy: 'master', updatedBy: 'master' };
    await mutate(store, (table) =>
      accounts.map((values) => ({ kind: 'insert', table, values: columnsOf(table, { ...own, ...values }) })),
    );
    return store;
  }

  const manyAccounts = () =>
    Array.from({ length: ACCOUNTS }, (_, n) => {
      const [PhoneNumber] = forms[n % forms.length] as [string | null, unknown];
      // Not in the order of their ids.
      return { objectId: `a${(n * 7919) % ACCOUNTS}`, PhoneNumber };
    });

  async function assertKeys(store: Store, others: ReadonlyMap<string, string | undefined> = new Map()): Promise<void> {
    const rows = await readRecords(store, className, ['objectId', 'PhoneNumber', '_phone_key', 'updatedAt']);
    const keys = new Map(forms.map(([text, key]) => [text ?? undefined, key]));
    for (const { objectId, PhoneNumber, _phone_key, updatedAt } of rows) {
      if (others.has(objectId as string)) assert.equal(_phone_key, others.get(objectId as string));
      else assert.equal(_phone_key, keys.get(PhoneNumber as string | undefined), `${PhoneNumber}`);
      assert.equal(updatedAt, '1970-01-01T00:00:00.002Z');
    }
  }

  it('all accounts get theirs, and are otherwise left as they are', async () => {
    const store = await systemWith('all', [phone], manyAccounts());
    await migrate(store, 'it');
    assert.equal(store.schema().templateVersion, newestVersion);
    await assertKeys(store);
    const { version } = store.schema();
    await migrate(store, 'it');
    assert.equal(store.schema().version, version);
    await store.close();
  });

  it('what broke off goes on', async () => {
    const store = await systemWith('crash', [phone], manyAccounts());
    let writes = 0;
    const crash = () => {
      // After the field and the first page.
      if (++writes > 2) throw new Error('crash');
    };
    await assert.rejects(migrate(intercepted(store, { write: crash }), 'it'), /crash/);
    assert.equal(store.schema().templateVersion, 2);
    await migrate(store, 'it');
    assert.equal(store.schema().templateVersion, newestVersion);
    await assertKeys(store);
    await store.close();
  });

  it('two processes do it at a time', async () => {
    const first = await systemWith('at once', [phone], manyAccounts());
    const second = await openAnyway(engines()[1], 'at once');
    await Promise.all([migrate(first, 'it'), migrate(second, 'it')]);
    await second.close();
    await assertKeys(first);
    assert.equal(first.schema().templateVersion, newestVersion);
    await first.close();
  });

  it('a number that another process writes meanwhile keeps its own key', async () => {
    const store = await systemWith('meanwhile', [phone], manyAccounts());
    const other = await openAnyway(engines()[1], 'meanwhile');
    let page = 0;
    const read = async () => {
      page++;
      await other.whenCurrent();
      if (page === 1) await update(other, 'a0', { PhoneNumber: '1', _phone_key: '1' });
      if (page === 2) await mutate(other, (table) => [{ kind: 'delete', table, objectId: `a${7919 % ACCOUNTS}`, guard: null }]);
    };
    await migrate(intercepted(store, { read }), 'it');
    await assertKeys(store, new Map([['a0', '1']]));
    // Three pages, two of them read again, and an empty one.
    assert.equal(page, 6);
    await other.close();
    await store.close();
  });

  it('a number that is taken away meanwhile leaves no key', async () => {
    const store = await systemWith('away', [phone], [{ objectId: 'one', PhoneNumber: '03-5551234' }]);
    const other = await openAnyway(engines()[1], 'away');
    let page = 0;
    const read = async () => {
      await other.whenCurrent();
      if (page++ === 0) await update(other, 'one', { PhoneNumber: null, _phone_key: null });
    };
    await migrate(intercepted(store, { read }), 'it');
    assert.deepEqual(await readRecords(store, className, ['objectId', '_phone_key']), [{ objectId: 'one' }]);
    await other.close();
    await store.close();
  });

  for (const [what, fields, keyType] of [
    ['no number', [], undefined],
    ['a number that is no text', [{ name: 'PhoneNumber', type: 'Number' }], undefined],
    ['a number that is HTML', [{ name: 'PhoneNumber', type: 'HTML/XML' }], 'String'],
    ['a key of another type', [phone, { name: '_phone_key', type: 'Number' }], 'String'],
  ] as [string, NewField[], string | undefined][])
    it(`accounts with ${what}`, async () => {
      const store = await systemWith(`fields ${what}`, fields, [{ objectId: 'one' }]);
      await migrate(store, 'it');
      assert.equal(tableOf(store.schema(), className).fields.get('_phone_key')?.type, keyType);
      assert.equal(store.schema().templateVersion, newestVersion);
      await store.close();
    });

  it('keys that do not follow from the numbers are put right', async () => {
    const rows = [
      { objectId: 'one', PhoneNumber: '03-5551234', _phone_key: '9' },
      { objectId: 'two', _phone_key: '8' },
    ];
    const store = await systemWith('wrong', [phone, { name: '_phone_key', type: 'String' }], rows);
    await migrate(store, 'it');
    const kept = await readRecords(store, className, ['objectId', '_phone_key']);
    assert.deepEqual(kept, [{ objectId: 'one', _phone_key: '035551234' }, { objectId: 'two' }]);
    await store.close();
  });

  it('a system without accounts', async () => {
    const store = await openAnyway(engines()[0], 'no accounts');
    await store.write({ plan: () => ({ changes: [versionBefore], mutations: [] }) });
    await migrate(store, 'it');
    assert.deepEqual([store.schema().templateVersion, store.schema().tables.has('Accounts')], [newestVersion, false]);
    await store.close();
  });
}
