/** Changes of shared state that are undone afterwards, because other suites use the same service. */
import assert from 'node:assert/strict';
import { after, before, type TestContext } from 'node:test';
import { type Json, path, type Store } from '../../support/records.ts';
import { permit } from './tables.ts';

const flag = (name: string, value: unknown) => ({ Name: name, Value: { [name]: value } });

/** Sets a flag of the system for the surrounding `describe`. */
export function useFlag(store: Store, name: string, value: unknown): void {
  let row: string;
  before(async () => {
    row = await store.create('Config', flag(name, value));
  });
  after(() => store.remove('Config', row));
}

/** Sets a flag of the system until the test ends. */
export async function setFlag(test: TestContext, store: Store, name: string, value: unknown): Promise<void> {
  const row = await store.create('Config', flag(name, value));
  test.after(() => store.remove('Config', row));
}

/** Deletes a field, or gives it another type, until the test ends. Its values are lost. */
export async function replaceField(
  test: TestContext,
  store: Store,
  table: string,
  name: string,
  instead?: object,
): Promise<void> {
  const put = async (field: object) => {
    const { status, text } = await store.call('PUT', `/platform/schemas/${table}`, { body: { fields: { [name]: field } } });
    assert.equal(status, 200, text);
  };
  const isThere = async () => Object.hasOwn(await store.fields(table), name);
  const was = (await store.fields(table))[name];
  test.after(async () => {
    if (await isThere()) await put({ __op: 'Delete' });
    await put(was);
  });
  await put({ __op: 'Delete' });
  if (instead) await put(instead);
}

const kept = new Set(['objectId', 'createdAt', 'updatedAt', 'createdBy', 'updatedBy']);

/** Returns the body that restores a record. */
const backTo = (was: Json, is: Json): Json =>
  Object.fromEntries(
    Object.keys({ ...was, ...is })
      .filter((name) => !kept.has(name))
      .map((name) => [name, was[name] ?? { __op: 'Delete' }]),
  );

/** Restores permissions and records of the tables after the surrounding `describe`. */
export function useRestored(store: Store, ...tables: readonly string[]): void {
  const permissions = async (table: string): Promise<Json> =>
    (await store.call('GET', `/platform/schemas/${table}`)).body.classLevelPermissions;
  const were = new Map<string, { rules: Json; rows: Json[] }>();
  before(async () => {
    for (const table of tables) were.set(table, { rules: await permissions(table), rows: await store.all(table) });
  });
  after(async () => {
    for (const [table, { rules, rows }] of were) {
      await permit(store, table, rules);
      const before = new Map(rows.map((row) => [row.objectId, row]));
      const now = await store.all(table);
      const news = now.filter(({ objectId }) => !before.has(objectId));
      await removeAll(store, table, news);
      for (const is of now) {
        const was = before.get(is.objectId);
        if (was && was.updatedAt !== is.updatedAt) await store.update(table, is.objectId, backTo(was, is));
      }
    }
  });
}

/** Deletes records in batches of 1,000. */
export async function removeAll(store: Store, table: string, rows: readonly Json[]): Promise<void> {
  for (let at = 0; at < rows.length; at += 1_000) {
    const requests = rows.slice(at, at + 1_000).map(({ objectId }) => ({ method: 'DELETE', path: path(table, objectId) }));
    const { status, text } = await store.call('POST', '/platform/batch', { body: { requests } });
    assert.ok(status === 200 && !text.includes('"error"'), text.slice(0, 300));
  }
}
