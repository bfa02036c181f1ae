/** Helpers to set up and look up tables. */
import assert from 'node:assert/strict';
import { path, type Store } from '../../support/records.ts';

/** Changes the permissions of a table. */
export async function permit(store: Store, table: string, classLevelPermissions: object): Promise<void> {
  const { status, text } = await store.call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions } });
  assert.equal(status, 200, text);
}

/** Returns the objectId of the first matching row of a lookup table. */
export async function lookupId(store: Store, table: string, where: object): Promise<string> {
  const { body, text } = await store.call('GET', path(table), { query: { where, order: 'SortOrder' } });
  assert.ok(body.results[0], text);
  return body.results[0].objectId;
}
