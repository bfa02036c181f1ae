/** Reads `_Timeline` as an operator does, and creates tables whose timeline is on. */
import assert from 'node:assert/strict';
import { type FieldType, type Json, type Store, unique } from '../support/records.ts';

export const on = { displayFields: {}, index: {} };

/** The permissions of users without a role. */
export const forUsers = { find: {}, get: {}, create: {}, update: {}, delete: {}, addField: {} };
for (const action of ['find', 'get', 'create', 'update', 'delete', 'addField'] as const)
  forUsers[action] = { requiresAuthentication: true };

/** Creates a table with its timeline on, whose records every user may write. Returns its name. */
export async function tracked(
  store: Store,
  fields: Record<string, FieldType> = {},
  timeline: object | null = on,
): Promise<string> {
  const name = unique('T');
  const body = { fields, classLevelPermissions: forUsers, ...(timeline && { timeline }) };
  const answer = await store.call('POST', `/platform/schemas/${name}`, { body });
  assert.equal(answer.status, 200, answer.text);
  return name;
}

/** Returns the rows that a condition finds, in the order of creation. */
export async function timelineOf(store: Pick<Store, 'call'>, where: object): Promise<Json[]> {
  const answer = await store.call('GET', '/platform/classes/_Timeline', { query: { where, limit: 100_000 } });
  assert.equal(answer.status, 200, answer.text);
  return answer.body.results;
}

/** Returns the rows of one record, in the order of creation. */
export const rowsOf = (store: Pick<Store, 'call'>, objectClass: string, objectIdValue: string): Promise<Json[]> =>
  timelineOf(store, { objectClass, objectIdValue });

/** Returns the only row that a condition finds. */
export async function rowOf(store: Pick<Store, 'call'>, where: object): Promise<Json> {
  const rows = await timelineOf(store, where);
  assert.equal(rows.length, 1, JSON.stringify(rows));
  return rows[0];
}

export const countRows = async (store: Pick<Store, 'call'>, where: object = {}): Promise<number> => {
  const { body } = await store.call('GET', '/platform/classes/_Timeline', { query: { where, limit: 0, count: 1 } });
  return body.count;
};
