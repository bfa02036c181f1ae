/** Schemas are returned without hidden parts, and no tool mentions tables that the caller has no right to. Reference: agents.md#answers. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Permission } from '../../support/oauth.ts';
import { type Json, pointer } from '../../support/records.ts';
import { byUser, openAdvanced } from './callers.ts';
import { onEachEngine } from './engines.ts';
import { permit } from './tables.ts';

const sales = { 'role:Sales': true };
const closed = { find: {}, get: {}, create: {}, update: {} };
const user = { type: 'Pointer', targetClass: '_User' };
const account = { type: 'Pointer', targetClass: 'Accounts' };

onEachEngine('what a caller may not know', (tools) => {
  const { table, create, use } = tools;
  const seller = (permissions?: readonly Permission[]) => byUser(tools, ['Sales'], permissions);

  test('who may not update a table hears nothing of its fields', async () => {
    const secret = await table({ Boss: user, Code: 'Number', F: 'File', P: 'PrivateFile' });
    await permit(tools, secret, closed);
    const objectId = await create(secret, { Code: 7 });
    const person = await seller();
    const place = { table: secret, objectId };
    const file = { fileName: 'a.txt', contentType: 'text/plain', base64: 'aGk=' };
    const refusal = new RegExp(`^Permission denied for action update on class ${secret} `);
    for (const field of ['Code', 'F', 'Nope']) {
      const texts = await Promise.all([
        person.call('Attach-File', { ...place, field, name: 'x', url: 'y' }),
        person.call('Upload-Private-File', { ...place, field, ...file }),
        person.call('Assign-Owner', { table: secret, objectIds: [objectId], userId: person.id, field }),
      ]);
      for (const { text } of texts) {
        assert.match(text, refusal);
        assert.doesNotMatch(text, /Boss|Code|PrivateFile|Number/);
      }
    }
    await person.refused('Assign-Owner', { table: secret, objectIds: [objectId], userId: person.id }, 119, refusal);
  });

  test('a hidden Pointer to users is no owner, and is not named', async () => {
    const own = await table({ OwnerId: user, Boss: user, Seen: user });
    await permit(tools, own, { find: sales, get: sales, update: sales, protectedFields: { 'role:Sales': ['OwnerId', 'Boss'] } });
    const objectId = await create(own, {});
    const person = await seller();
    const args = { table: own, objectIds: [objectId], userId: person.id };
    for (const field of [undefined, 'OwnerId', 'Boss'])
      await person.refused('Assign-Owner', { ...args, ...(field && { field }) }, 119, /^This user is not allowed to access /);
    const { expected } = await person.refused('Assign-Owner', { ...args, field: 'Other' }, 107);
    assert.equal(expected, 'One of Seen');
    assert.equal((await person.use('Assign-Owner', { ...args, field: 'Seen' })).field, 'Seen');
  });

  test('Get-Related-Records names no table that the caller may not know, and asks by no hidden field', async () => {
    const unknown = await table({ AccountId: account });
    await permit(tools, unknown, closed);
    const createOnly = await table({ AccountId: account });
    await permit(tools, createOnly, { ...closed, create: sales });
    const partly = await table({ Hidden: account, Seen: account });
    await permit(tools, partly, { ...closed, find: sales, protectedFields: { 'role:Sales': ['Hidden'] } });
    const covered = await table({ Hidden: account });
    await permit(tools, covered, { ...closed, find: sales, protectedFields: { 'role:Sales': ['Hidden'] } });
    const objectId = await create('Accounts', { Name: 'a' });
    const to = pointer('Accounts', objectId);
    for (const one of [unknown, createOnly]) await create(one, { AccountId: to });
    for (const one of [partly, covered]) await create(one, { Hidden: to });
    const seen = await create(partly, { Seen: to });
    const person = await seller();
    const answer = await person.use('Get-Related-Records', { table: 'Accounts', objectId });
    assert.deepEqual(
      answer.results.map((one: Json) => [one.table, one.fields, one.count, one.newest[0].objectId]),
      [[partly, ['Seen'], 1, seen]],
    );
    assert.ok(answer.hidden.includes(createOnly));
    const text = JSON.stringify(answer);
    for (const one of [unknown, covered]) {
      assert.ok(!text.includes(one));
      const ask = { table: 'Accounts', objectId, relatedTables: [one] };
      const { expected } = await person.refused('Get-Related-Records', ask, 107, /does not point at Accounts/);
      assert.ok(expected.includes(partly) && !expected.includes(unknown) && !expected.includes(covered));
    }
    const all = await use('Get-Related-Records', { table: 'Accounts', objectId });
    assert.deepEqual(all.results.map((one: Json) => one.table).sort(), [unknown, createOnly, partly, covered].sort());
  });

  test('Get-Schema shows users nothing of what is hidden from them; keys are shown all', async (t) => {
    const own = await table({ A: 'String', Hidden: 'String', Boss: user });
    const rules = { 'role:Sales': ['Hidden', 'Boss'], 'role:Admin': ['Hidden', 'Boss'] };
    const update = { pointerFields: ['Boss'] };
    const timeline = { displayFields: { A: true, Hidden: true }, index: {} };
    const indexes = { byA: { A: 1 }, byHidden: { Hidden: 1 } };
    const { status, text } = await tools.call('PUT', `/platform/schemas/${own}`, { body: { timeline, indexes } });
    assert.equal(status, 200, text);
    await openAdvanced(t, tools);
    const people = [await seller(), await byUser(tools, ['Admin'])];
    const full = {
      ...closed,
      create: { ...sales, 'role:Admin': true },
      update,
      readUserFields: ['Boss'],
      protectedFields: rules,
    };
    for (const more of [{}, { find: sales, get: sales }, { find: { 'role:Admin': true } }]) {
      await permit(tools, own, { ...full, ...more });
      for (const person of people) {
        const visible = await person.use('Get-Schema', { className: own });
        assert.deepEqual(
          [visible.fields.A.type, visible.indexes, visible.timeline.displayFields],
          ['String', { byA: { A: 1 } }, { A: true }],
        );
        assert.doesNotMatch(JSON.stringify(visible), /Hidden|Boss|protectedFields/);
        assert.deepEqual(visible.classLevelPermissions.create, full.create);
        const { results } = await person.use('Get-Schema');
        assert.doesNotMatch(
          JSON.stringify(results.find((one: Json) => one.className === own) ?? null),
          /Hidden|Boss|protectedFields/,
        );
      }
      const { classLevelPermissions, indexes: all, timeline: whole } = await use('Get-Schema', { className: own });
      assert.deepEqual([classLevelPermissions.protectedFields, classLevelPermissions.update], [rules, update]);
      assert.deepEqual([all, whole.displayFields], [indexes, timeline.displayFields]);
    }
  });

  test('triggers are shown as their own permissions say', async (t) => {
    const own = await table({ A: 'String' });
    await permit(tools, own, { ...closed, find: { 'role:Admin': true } });
    const definition = { table: own, events: ['update'], actions: [], Active: false };
    const visible = await create('_Trigger', { ...definition, Name: 'one' });
    const hidden = await create('_Trigger', { ...definition, Name: 'two', ACL: { nobody: { read: true } } });
    await openAdvanced(t, tools);
    const admin = await byUser(tools, ['Admin']);
    const idsOf = ({ triggers }: Json) => triggers.map(({ _id }: Json) => _id);
    assert.deepEqual(idsOf(await admin.use('Get-Schema', { className: own })), [visible]);
    assert.deepEqual(idsOf(await use('Get-Schema', { className: own })), [visible, hidden]);
    const { results } = await admin.use('Get-Triggers', { className: own });
    assert.deepEqual(
      results.map(({ _id }: Json) => _id),
      [visible],
    );
  });

  test('what operators made is shown to who may view', async () => {
    const own = await table({ Key: 'String', Total: 'Number', List: 'Array' });
    await permit(tools, own, { find: sales, get: sales, create: sales, update: sales });
    const objectId = await create(own, { Key: 'k', Total: 777, List: ['secret'] });
    const data = { Total: { __op: 'Increment', amount: 0 }, List: { __op: 'AddUnique', objects: [] } };
    const writer = await seller(['mcp:create', 'mcp:update']);
    const reader = await seller(['mcp:view', 'mcp:create', 'mcp:update']);
    const writes: [string, object][] = [
      ['Update-Record', { table: own, objectId, data }],
      ['Update-Many', { table: own, updates: [{ objectId, data }] }],
      ['Upsert-Record', { table: own, matchOn: ['Key'], data: { ...data, Key: 'k' } }],
    ];
    for (const [name, args] of writes) {
      const unseen = JSON.stringify(await writer.use(name, args));
      assert.ok(unseen.includes(objectId), unseen);
      assert.doesNotMatch(unseen, /\b777\b|Total|List|secret/, name);
      assert.match(JSON.stringify(await reader.use(name, args)), /"Total":777\b/, name);
    }
    const one = await writer.use('Update-Record', { table: own, objectId, data: { Total: { __op: 'Increment', amount: 1 } } });
    assert.deepEqual(Object.keys(one).sort(), ['objectId', 'updatedAt']);
    assert.equal((await tools.read(own, objectId)).Total, 778);
  });

  test('a phone is found among the records that the caller may find, however many others have it', async () => {
    const phone = '0507654321';
    const ACL = { nobody: { read: true } };
    for (const n of [1_000, 950]) {
      const data = Array.from({ length: n }, () => ({ Name: 'hidden', PhoneNumber: phone, ACL }));
      assert.equal((await use('Create-Many', { table: 'Accounts', data })).failed, 0);
    }
    const objectId = await create('Accounts', { Name: 'seen', PhoneNumber: '+972-50-765-4321' });
    const person = await seller();
    const { results } = await person.use('Search-Records', { query: phone });
    assert.deepEqual(
      results.map((row: Json) => row.objectId),
      [objectId],
    );
    const duplicates = await person.use('Find-Duplicates', { phone });
    assert.deepEqual(
      duplicates.results.map((row: Json) => row.objectId),
      [objectId],
    );
  });
});
