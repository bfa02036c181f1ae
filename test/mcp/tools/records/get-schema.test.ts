/** Reference: tools.md#get-schema, schemas.md#schema-record. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Json } from '../../../support/records.ts';
import { bytesOf } from '../answers.ts';
import { suitesOn } from '../engines.ts';
import { useSecondStore } from '../second.ts';

/** Maximum size of an answer in bytes; Get-Schema has a larger one than other tools (agents.md#limits-for-agents). */
const MAX_SCHEMA_BYTES = 121_000;

suitesOn(useSecondStore)('Get-Schema', ({ use, refused, call, table, create }) => {
  test('names only: every table but the blocked ones', async () => {
    const own = await table();
    const { results } = await use('Get-Schema', { tablesNameOnly: true });
    const all = (await call('GET', '/platform/schemas')).body.results.map((one: Json) => one.className);
    const blocked = ['Config', '_Session', '_Role'];
    assert.deepEqual(
      results,
      all.filter((name: string) => !blocked.includes(name)),
    );
    assert.ok(results.includes(own) && results.includes('_User') && results.includes('_Dictionary'));
  });

  test('a table named like the settings of a mail server is blocked', async () => {
    await table({}, 'SMTP');
    const { results } = await use('Get-Schema', { tablesNameOnly: true });
    assert.ok(!results.includes('SMTP'));
    assert.deepEqual(await use('Get-Schema', { className: 'SMTP' }), {});
  });

  test('without a name: every table with every field, its type, target and label', async () => {
    const answer = await use('Get-Schema');
    assert.ok(bytesOf(answer) <= MAX_SCHEMA_BYTES);
    assert.equal(answer.truncated, undefined);
    const { results } = await use('Get-Schema', { tablesNameOnly: true });
    assert.deepEqual(
      answer.results.map((one: Json) => one.className),
      results,
    );
    const accounts = answer.results.find((one: Json) => one.className === 'Accounts');
    assert.deepEqual(accounts.fields.Name, { type: 'String', dictionary: 'שם' });
    assert.deepEqual(accounts.fields.StatusId, { type: 'Pointer', targetClass: 'AccountStatuses', dictionary: 'סטטוס לקוח' });
    assert.match(answer.hint, /className/);
  });

  test('one table: its schema record with labels, permissions, timeline and triggers', async () => {
    const trigger = await create('_Trigger', {
      Name: 'greets',
      table: 'Tasks',
      events: ['create'],
      actions: [{ type: 'notification', actionData: { user: 'OwnerId', content: 'x' } }],
      Active: false,
    });
    const tasks = await use('Get-Schema', { className: 'Tasks' });
    const { body } = await call('GET', '/platform/schemas/Tasks', { query: { withDictionary: true } });
    assert.deepEqual(tasks, body);
    assert.equal(tasks.className, 'Tasks');
    assert.equal(tasks.fields.Name.type, 'String');
    assert.equal(typeof tasks.fields.Name.dictionary, 'string');
    assert.deepEqual(tasks.classLevelPermissions.find['role:Admin'], true);
    assert.ok(tasks.timeline.displayFields);
    assert.deepEqual(
      tasks.triggers.map((one: Json) => one._id),
      [trigger],
    );
  });

  test('nothing of roles, sessions and flags', async () => {
    for (const className of ['_Role', '_Session', 'Config']) assert.deepEqual(await use('Get-Schema', { className }), {});
  });

  test('secrets are in no schema', async () => {
    const users = await use('Get-Schema', { className: '_User' });
    assert.deepEqual(
      Object.keys(users.fields).filter((name) => name.startsWith('_')),
      ['_failed_login_count'],
    );
    const accounts = await use('Get-Schema', { className: 'Accounts' });
    assert.equal(accounts.fields._phone_key, undefined);
  });

  test('a table that there is not', async () => {
    const error = await refused('Get-Schema', { className: 'accounts' }, 103, /^Class accounts does not exist\. \(code 103\)\./);
    assert.match(error.next, /Get-Schema/);
    await refused('Get-Schema', { className: '_TriggerQueue' }, 103, /does not exist/);
    await refused('Get-Schema', { className: '__proto__' }, 103, /does not exist/);
  });

  test('wrong arguments', async () => {
    await refused('Get-Schema', { className: 5 }, 107, /className must be of type string/);
    await refused('Get-Schema', { className: '' }, 107, /className must not be empty/);
    await refused('Get-Schema', { tablesNameOnly: 'yes' }, 107, /tablesNameOnly must be of type boolean/);
    await refused('Get-Schema', { table: 'Accounts' }, 107, /table is unknown/);
  });

  test('a table of very long triggers and many fields comes shortened, not refused', async () => {
    const name = await table({ F: 'String' });
    const html = 'x'.repeat(130_000);
    await create('_Trigger', {
      Name: 'long',
      table: name,
      events: ['create'],
      actions: [{ type: 'e-mail', actionData: { to: 'a@example.com', subject: 's', html } }],
      Active: false,
    });
    const shown = await use('Get-Schema', { className: name });
    assert.deepEqual(shown.triggers[0].events, ['create']);
    assert.equal(shown.triggers[0].actions, undefined);
    assert.match(shown.hint, /Get-Triggers/);
    const wide = await table(Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`f${at}${'x'.repeat(35)}`, 'String'])));
    const widest = await use('Get-Schema', { className: wide });
    assert.deepEqual(widest.fields[`f0${'x'.repeat(35)}`], { type: 'String' });
    assert.ok(bytesOf(widest) <= MAX_SCHEMA_BYTES);
  });
});
