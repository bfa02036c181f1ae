import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import { timeline } from '../../audit/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { deleteRecord, type FileKeeper, updateRecord } from '../../records/index.ts';
import type { Mutation } from '../../storage/port.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import type { TriggeringRecord } from '../model/model.ts';
import { cause, makeWorld, type World } from '../testing/world.ts';
import { notification } from './notification.ts';
import { createObject, updateObject } from './write-object.ts';

const pointer = (className: string, objectId: string): JsonObject => ({ __type: 'Pointer', className, objectId });
const attached: string[] = [];
const files: FileKeeper = {
  attach(_schema, principal, held): readonly Mutation[] {
    for (const { name, type } of held) attached.push(`${principal.kind} ${type} ${name}`);
    return [];
  },
  resolve: assert.fail,
};

let world: World;
let userId: string;
let accountId: string;
let record: TriggeringRecord;

before(async () => {
  world = await makeWorld(
    (directory) => new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf }),
    files,
  );
  userId = await world.create('_User', { username: 'dana', password: 'Right1Pass' });
  accountId = await world.create('Accounts', { Name: 'Account', OwnerId: pointer('_User', userId) });
});
after(() => world.close());
beforeEach(async () => {
  const AccountId = pointer('Accounts', accountId);
  const id = await world.create('Probes', {
    Name: 'one',
    Count: 5,
    AccountId,
    User: pointer('_User', userId),
    NoUser: null,
    Seen: true,
  });
  record = await world.read('Probes', id);
  world.writes.length = 0;
  attached.length = 0;
});

/** The number of log rows with the id of the run. */
const logged = async (runId: string) => (await world.all('_syslogTriggers')).filter(({ objectId }) => objectId === runId).length;
const rowsOf = async (className: string, objectId: string) =>
  (await world.all('_Timeline')).filter((row) => row.objectClass === className && row.objectIdValue === objectId);

test('create-object: typed values, absent ones left out; one commit with the note; the timeline names the trigger', async () => {
  const fields = {
    Name: '{{Name}}',
    Subject: '{{Nothing}}',
    Description: 'of {{Name}}, {{Nothing}}',
    AccountId: '{{AccountId}}',
    Count: '{{Count}}',
    Tags: ['{{Count}}'],
  };
  const run = world.run('create-object', { table: 'Tasks', fields }, record);
  await createObject(run, world.services);
  const [event, ...more] = world.writes;
  assert.deepEqual(more, []);
  assert.deepEqual(
    [event?.event, event?.table.className, event?.cause, event?.principal.kind],
    ['create', 'Tasks', cause, 'master'],
  );
  const made = (await world.read('Tasks', event?.objectId as string)).fields;
  assert.deepEqual([made.Description, made.Count, made.Tags, made.AccountId], ['of one, ', 5, [5], record.fields.AccountId]);
  assert.ok(!('Subject' in made));
  assert.equal(await logged(run.runId), 1);
});

test('in a Pointer field a text is an id', async () => {
  const id = await world.create('Tasks', { Name: 'a' });
  const fields = { AccountId: '{{AccountId.objectId}}', Name: '{{objectId}}', OwnerId: userId };
  const target = { ...record, className: 'Tasks', objectId: id };
  await updateObject(world.run('update-object', { target: 'self', fields }, target), world.services);
  await createObject(world.run('create-object', { table: 'Tasks', fields }, record), world.services);
  const made = (await world.all('Tasks')).filter(({ Name }) => Name === record.objectId);
  assert.equal(made.length, 2);
  for (const { AccountId } of made) assert.deepEqual(AccountId, pointer('Accounts', accountId));
});

test('the timeline’s data name the trigger last, whatever was sent', async () => {
  const hooks = { ...world.master.hooks, observers: [timeline] };
  const withTimeline = (context: object) => ({ ...world.master, hooks, ...context });
  const id = await world.create('Sales', { Name: 'a' });
  const fields = { updatedByTrigger: 'someone', Name: '{{Name}}' };
  const run = world.run(
    'update-object',
    { target: 'Sale', fields },
    { ...record, fields: { ...record.fields, Sale: pointer('Sales', id) } },
  );
  // Makes the table have the field.
  await deleteRecord(world.master, 'Probes', await world.create('Probes', { Sale: pointer('Sales', id) }), {});
  await updateObject({ ...run, context: withTimeline({ cause, alongside: run.done }) }, world.services);
  await updateRecord(withTimeline({}), 'Sales', id, { Name: 'by a client' });
  await deleteRecord(withTimeline({ cause }), 'Sales', id, {});
  assert.deepEqual(
    (await rowsOf('Sales', id)).map(({ data }) => data && JSON.stringify(data)),
    ['{"Name":"one","updatedByTrigger":"trigger001"}', '{"Name":"by a client"}', undefined],
  );
});

test('create-object: what cannot be written leaves nothing, the note neither', async () => {
  for (const [table, fields, message] of [
    ['Nowhere', { 'a b': 1 }, 'Invalid field name: a b'],
    ['Accounts', { IsAccount: '{{Name}}' }, 'schema mismatch for Accounts.IsAccount; expected Boolean but got String'],
    ['_TriggerQueue', { kind: 'write' }, 'Permission denied for action create on class _TriggerQueue'],
    ['Tasks', { Count: { __op: '{{Name}}' } }, 'The {{Name}} operator is not supported yet.'],
  ] as const) {
    const run = world.run('create-object', { table, fields }, record);
    await assert.rejects(createObject(run, world.services), { name: 'ServiceError', message });
    assert.equal(await logged(run.runId), 0);
  }
  assert.deepEqual(world.writes, []);
  assert.ok(!world.store.schema().tables.has('Nowhere'));
});

test('create-object: a table that is not there is made with the record, in the one commit', async () => {
  const run = world.run(
    'create-object',
    { table: 'Brand_new', fields: { Of: '{{objectId}}', At: '{{createdAt}}', N: 1 } },
    record,
  );
  await createObject(run, world.services);
  const [made] = (await world.all('Brand_new')) as [JsonObject];
  assert.deepEqual([made.Of, made.At, made.N], [record.objectId, { __type: 'Date', iso: record.fields.createdAt }, 1]);
  assert.equal(world.store.schema().tables.get('Brand_new')?.fields.get('At')?.type, 'Date');
  assert.equal(await logged(run.runId), 1);
});

test('create-object: a Date of the record in a Date field, and in a String field', async () => {
  const seen = await world.create('Seen', { At: { __type: 'Date', iso: '2024-01-01T00:00:00.000Z' }, Text: 'x', Other: 5 });
  const fields = { At: '{{updatedAt}}', Text: '{{updatedAt}}' };
  await createObject(world.run('create-object', { table: 'Seen', fields }, record), world.services);
  const [made] = (await world.all('Seen')).filter(({ objectId }) => objectId !== seen) as [JsonObject];
  const { updatedAt } = record.fields;
  assert.deepEqual([made.At, made.Text], [{ __type: 'Date', iso: updatedAt }, updatedAt]);
  const run = world.run('create-object', { table: 'Seen', fields: { Other: '{{updatedAt}}' } }, record);
  await assert.rejects(createObject(run, world.services), { code: 111 });
});

test('update-object: the record itself, and what a Pointer of it names; operators are the definition’s', async () => {
  const self = world.run(
    'update-object',
    { target: 'self', fields: { Name: '{{Name}}!', Count: { __op: 'Increment', amount: '{{Count}}' } } },
    record,
  );
  await updateObject(self, world.services);
  const other = world.run('update-object', { target: 'AccountId', fields: { Name: '{{AccountId.Name}} of {{Name}}' } }, record);
  await updateObject(other, world.services);
  const { fields } = await world.read('Probes', record.objectId);
  assert.deepEqual([fields.Name, fields.Count], ['one!', 10]);
  assert.equal((await world.read('Accounts', accountId)).fields.Name, 'Account of one');
  assert.deepEqual([await logged(self.runId), await logged(other.runId)], [1, 1]);
  assert.deepEqual(
    world.writes.map((write) => [write.event, write.table.className, write.cause]),
    [
      ['update', 'Probes', cause],
      ['update', 'Accounts', cause],
    ],
  );
});

test('update-object: where nothing is to be written, nothing is; the action is done', async () => {
  const run = world.run('update-object', { target: 'self', fields: { Name: '{{Nothing}}' } }, record);
  await updateObject(run, world.services);
  assert.deepEqual([world.writes, await logged(run.runId)], [[], 1]);
});

test('update-object: what is not there is an error', async () => {
  const gone = await world.create('Probes', {});
  const goneSnapshot = await world.read('Probes', gone);
  await deleteRecord(world.master, 'Probes', gone, {});
  const dangling = { ...record, fields: { ...record.fields, AccountId: pointer('Accounts', 'nowhere') } };
  world.writes.length = 0;
  for (const [target, of, more, message] of [
    ['self', record, { event: 'delete' }, 'Object not found.'],
    ['self', goneSnapshot, {}, 'Object not found.'],
    ['AccountId', dangling, {}, 'Object not found.'],
    ['AccountId', goneSnapshot, {}, 'Bad pointer: AccountId is empty'],
    ['Name', record, {}, 'Bad pointer: Name is empty'],
    ['constructor', record, {}, 'Bad pointer: constructor is empty'],
  ] as const) {
    const run = world.run('update-object', { target, fields: { Name: 'x' } }, of, more);
    await assert.rejects(updateObject(run, world.services), { name: 'ServiceError', message });
    assert.equal(await logged(run.runId), 0);
  }
  assert.deepEqual(world.writes, []);
});

test('a File is attached with the rights of the master', async () => {
  const name = `${'0'.repeat(32)}_a.png`;
  const id = await world.create('Photos', { Photo: { __type: 'File', name } });
  await world.create('Albums', {});
  attached.length = 0;
  const run = world.run('create-object', { table: 'Albums', fields: { Cover: '{{Photo}}' } }, await world.read('Photos', id));
  await createObject(run, world.services);
  assert.deepEqual([...new Set(attached)], [`master File ${name}`]);
});

test('notification: a row for whom a field, an id or a template names', async () => {
  for (const [user, icon] of [
    ['User', null],
    [userId, 'bell {{Count}}'],
    ['{{User}}', ''],
    ['{{User.objectId}}', null],
    ['{{AccountId.OwnerId}}', null],
  ] as const) {
    const before = Date.now();
    const run = world.run('notification', { user, content: 'שלום {{Name}} {{Count}} {{Nothing}}', icon }, record);
    await notification(run, world.services);
    const {
      Date: date,
      createdAt: _c,
      updatedAt: _u,
      objectId: _o,
      createdBy: _b,
      updatedBy: _y,
      ...row
    } = (await world.all('_Notification')).at(-1) as JsonObject;
    assert.deepEqual(row, {
      ACL: {},
      User: pointer('_User', userId),
      Content: 'שלום one 5 ',
      objectClass: 'Probes',
      objectIdValue: record.objectId,
      updatedByTrigger: 'trigger001',
      ...(icon === null ? {} : { Icon: icon === '' ? '' : 'bell 5' }),
    });
    assert.ok(Date.parse((date as { iso: string }).iso) >= before);
    assert.equal(await logged(run.runId), 1);
    assert.deepEqual(world.writes.at(-1)?.cause, cause);
  }
});

test('notification: what was written as a Pointer is an id, whatever fields there are', async () => {
  for (const [user, expected] of [
    ['User', 'User'],
    ['{{User.objectId}}', userId],
    ['{{AccountId.OwnerId}}', userId],
  ] as const) {
    await notification(world.run('notification', { user, isPointer: true, content: 'x', icon: null }, record), world.services);
    assert.deepEqual((await world.all('_Notification')).at(-1)?.User, pointer('_User', expected));
  }
  const run = world.run('notification', { user: '{{Nothing}}', isPointer: true, content: 'x', icon: null }, record);
  await assert.rejects(notification(run, world.services), { message: 'There is no user to be notified.' });
});

test('notification: nobody named is an error', async () => {
  const before = (await world.all('_Notification')).length;
  const emptied = { ...record, fields: { objectId: record.objectId } };
  for (const [user, of] of [
    ['User', emptied],
    ['AccountId', record],
    ['{{AccountId}}', record],
    ['{{Nothing}}', record],
    ['{{Count}}', record],
  ] as const) {
    const run = world.run('notification', { user, content: 'x', icon: null }, of);
    await assert.rejects(
      notification(run, world.services),
      { name: 'ActionFailed', message: 'There is no user to be notified.' },
      user,
    );
    assert.equal(await logged(run.runId), 0);
  }
  assert.equal((await world.all('_Notification')).length, before);
});

test('notification: an id that nobody has is written as it is, like any Pointer', async () => {
  const dangling = { ...record, fields: { ...record.fields, User: pointer('_User', 'nobody0000') } };
  for (const user of ['nobody0000', 'User', '{{User}}']) {
    const run = world.run('notification', { user, content: 'x', icon: null }, dangling);
    await notification(run, world.services);
    assert.deepEqual((await world.all('_Notification')).at(-1)?.User, pointer('_User', 'nobody0000'));
    assert.equal(await logged(run.runId), 1);
  }
});
