import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JsonObject } from '../../kernel/json.ts';
import {
  createRecord,
  findRows,
  type RecordContext,
  type RecordWrite,
  updateRecord,
  writeAtomically,
} from '../../records/index.ts';
import { masterContext } from '../../records/testing/context.ts';
import { eachWithStore } from '../../storage/sqlite/testing/stores.ts';
import { provision } from '../../systems/provision.ts';
import { wirePointer } from '../../values/json/wire.ts';
import { userTableRules } from '../users.ts';

let context: RecordContext;
let adminId: string;
let members: string[];
eachWithStore(async (store) => {
  await provision(store);
  context = masterContext(store, userTableRules);
  const [admin] = await findRows(context, '_Role', { where: { name: 'Admin' } });
  adminId = admin?.objectId ?? (await createRecord(context, '_Role', { name: 'Admin' })).objectId;
  members = [];
  for (const username of ['one', 'other', 'third'])
    members.push((await createRecord(context, '_User', { username, password: 'Right1Pass' })).objectId);
  await updateRecord(context, '_Role', adminId, { users: relation('AddRelation', ...members) });
});

const relation = (op: 'AddRelation' | 'RemoveRelation', ...ids: string[]): JsonObject => ({
  __op: op,
  objects: ids.map((id) => wirePointer('_User', id)),
});
const block = (objectId: string): RecordWrite => ({ kind: 'update', className: '_User', objectId, body: { active: false } });
const remove = (objectId: string): RecordWrite => ({ kind: 'delete', className: '_User', objectId, body: {} });
const takeOut = (objectId: string): RecordWrite => {
  return { kind: 'update', className: '_Role', objectId: adminId, body: { users: relation('RemoveRelation', objectId) } };
};

test('writes of one commit count together: they take out all administrators but one', async () => {
  const ways = [block, takeOut];
  const [one, other, third] = members as [string, string, string];
  const each = ways.flatMap((a) => ways.flatMap((b) => [...ways, remove].map((c) => [a, b, c] as const)));
  for (const [first, second, last] of each) {
    await assert.rejects(writeAtomically(context, [first(one), second(other), last(third)]), { key: 'lastAdministrator' });
    assert.deepEqual(await active(), members);
  }
  await writeAtomically(context, [block(one), takeOut(other)]);
  assert.deepEqual(await active(), [third]);
  await assert.rejects(writeAtomically(context, [block(other), takeOut(third)]), { key: 'lastAdministrator' });
});

test('members of another role are taken out of that as before', async () => {
  const { objectId } = await createRecord(context, '_Role', { name: 'Night shift', users: relation('AddRelation', ...members) });
  const leaveAll: RecordWrite = { kind: 'update', className: '_Role', objectId, body: { users: null } };
  const [one, other] = members as [string, string];
  await writeAtomically(context, [block(one), leaveAll, block(other)]);
  await assert.rejects(writeAtomically(context, [leaveAll, block(members[2] as string)]), { key: 'lastAdministrator' });
});

/** The active members of Admin. */
async function active(): Promise<string[]> {
  const rows = await findRows(context, '_User', { where: { ...isMember(), active: { $ne: false } }, keys: ['objectId'] });
  return rows.map(({ objectId }) => objectId as string);
}

const isMember = (): JsonObject => ({ $relatedTo: { object: wirePointer('_Role', adminId), key: 'users' } });
