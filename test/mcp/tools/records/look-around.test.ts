/** Reference: tools.md#get-related-records, tools.md#get-lookup-values, tools.md#get-table-stats. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type Json, pointer, unique } from '../../../support/records.ts';
import { bytesOf, MAX_BYTES } from '../answers.ts';
import { onEachEngine } from '../engines.ts';

onEachEngine('looking around', ({ use, refused, table, create, call }) => {
  let account: string;
  const tasks: string[] = [];
  before(async () => {
    account = await create('Accounts', { Name: 'Dana' });
    for (const Name of ['first', 'second', 'third'])
      tasks.push(await create('Tasks', { Name, AccountId: pointer('Accounts', account) }));
    await create('Contacts', { FirstName: 'Avi', LastName: 'Levi', AccountId: pointer('Accounts', account) });
  });
  const related = (args: object = {}) => use('Get-Related-Records', { table: 'Accounts', objectId: account, ...args });
  const tables = ({ results }: Json) => results.map((one: Json) => one.table);

  test('Get-Related-Records: a count per table and the newest first', async () => {
    const answer = await related({ limit: 2 });
    assert.deepEqual([answer.objectId, answer.Name], [account, 'Dana']);
    assert.deepEqual(tables(answer).sort(), ['Contacts', 'Tasks']);
    const ofTasks = answer.results.find((one: Json) => one.table === 'Tasks');
    assert.deepEqual([ofTasks.count, ofTasks.fields], [3, ['AccountId']]);
    assert.deepEqual(
      ofTasks.newest.map((one: Json) => [one.objectId, one.Name]),
      [
        [tasks[2], 'third'],
        [tasks[1], 'second'],
      ],
    );
    const contact = answer.results.find((one: Json) => one.table === 'Contacts').newest[0];
    assert.equal(contact.Name, 'Avi Levi');
  });

  test('Get-Related-Records: multi-select Arrays and Relations point, too; a record counts once', async () => {
    const name = await table({
      AccountId: { type: 'Pointer', targetClass: 'Accounts' },
      PayerId: { type: 'Pointer', targetClass: 'Accounts' },
      array_guests_Pointer_Accounts: 'Array',
      members: { type: 'Relation', targetClass: 'Accounts' },
    });
    const to = pointer('Accounts', account);
    await create(name, { AccountId: to, PayerId: to, array_guests_Pointer_Accounts: [to] });
    await create(name, { array_guests_Pointer_Accounts: [pointer('Accounts', 'other00000'), to] });
    await create(name, { members: { __op: 'AddRelation', objects: [to] } });
    await create(name, { PayerId: pointer('Accounts', 'other00000') });
    const { results } = await related({ relatedTables: [name] });
    assert.deepEqual(tables({ results }), [name]);
    assert.equal(results[0].count, 3);
    assert.deepEqual(results[0].fields, ['AccountId', 'PayerId', 'members', 'array_guests_Pointer_Accounts']);
  });

  test('Get-Related-Records: relatedTables narrows, and names only tables that point here', async () => {
    assert.deepEqual(tables(await related({ relatedTables: ['Contacts'] })), ['Contacts']);
    assert.deepEqual((await related({ relatedTables: ['Notes'], limit: 0 })).results, []);
    const error = await refused(
      'Get-Related-Records',
      { table: 'Accounts', objectId: account, relatedTables: ['CityList'] },
      107,
      /relatedTables: CityList does not point at Accounts/,
    );
    assert.match(error.expected, /Contacts.*Tasks/);
  });

  test('Get-Related-Records: neither logs nor who made a record count', async () => {
    const { body } = await call('POST', '/platform/users', { body: { username: unique('u'), password: 'Right1Pass' } });
    const answer = await use('Get-Related-Records', { table: '_User', objectId: body.objectId });
    assert.deepEqual(tables(answer), ['_Session']);
    assert.match(answer.Name, /^u/);
  });

  test('Get-Related-Records: a record or a table that there is not', async () => {
    await refused('Get-Related-Records', { table: 'Accounts', objectId: 'nothing000' }, 101, /^Object not found/);
    await refused('Get-Related-Records', { table: 'Nope', objectId: account }, 103, /^Class Nope/);
    await refused('Get-Related-Records', { table: 'Accounts', objectId: account, limit: 101 }, 107, /limit must be at most 100/);
  });

  test('Get-Lookup-Values: the values of several tables with their ids and system keys', async () => {
    const { results } = await use('Get-Lookup-Values', { tables: ['LeadStatuses', 'LeadSource'] });
    assert.deepEqual(tables({ results }), ['LeadStatuses', 'LeadSource']);
    const stored = (await call('GET', '/platform/classes/LeadStatuses', { query: { order: 'SortOrder' } })).body.results;
    assert.deepEqual(
      results[0].values,
      stored.map(({ objectId, Name, SystemKey }: Json) => ({ objectId, Name, ...(SystemKey && { SystemKey }) })),
    );
  });

  test('Get-Lookup-Values: search in names, whatever the case, as it stands', async () => {
    const name = await table({ Name: 'String', Active: 'Boolean' });
    for (const Name of ['Big (old)', 'bigger', 'small', '100%']) await create(name, { Name, Active: Name !== 'small' });
    const found = async (search: string) =>
      (await use('Get-Lookup-Values', { tables: [name], search })).results[0].values.map((one: Json) => one.Name);
    assert.deepEqual(await found('BIG'), ['Big (old)', 'bigger']);
    assert.deepEqual(await found('(old)'), ['Big (old)']);
    assert.deepEqual(await found('.'), []);
    assert.deepEqual(await found('-%'), []);
    const all = (await use('Get-Lookup-Values', { tables: [name] })).results[0].values;
    assert.deepEqual(
      all.filter((one: Json) => one.Active === false).map((one: Json) => one.Name),
      ['small'],
    );
    const some = (await use('Get-Lookup-Values', { tables: [name], limit: 2 })).results[0];
    assert.deepEqual([some.values.length, some.truncated], [2, true]);
    const people = await table({ FirstName: 'String', LastName: 'String' });
    await create(people, { FirstName: 'Avi', LastName: 'Levi' });
    assert.equal((await use('Get-Lookup-Values', { tables: [people], search: 'lev' })).results[0].values[0].Name, 'Avi Levi');
    const nameless = await table({ n: 'Number' });
    await create(nameless, { n: 1 });
    assert.equal((await use('Get-Lookup-Values', { tables: [nameless] })).results[0].values[0].Name, null);
    assert.deepEqual((await use('Get-Lookup-Values', { tables: [nameless], search: 'x' })).results[0].values, []);
  });

  test('Get-Lookup-Values: long lists keep within an answer', async () => {
    const name = await table({ Name: 'String' });
    await use('Create-Many', {
      table: name,
      data: Array.from({ length: 1_000 }, (_, n) => ({ Name: `${n} ${'x'.repeat(80)}` })),
    });
    const answer = await use('Get-Lookup-Values', { tables: [name, 'LeadStatuses'], limit: 1_000 });
    assert.ok(bytesOf(answer) <= MAX_BYTES);
    assert.equal(answer.results[0].truncated, true);
  });

  test('Get-Lookup-Values: wrong arguments', async () => {
    await refused('Get-Lookup-Values', {}, 107, /tables is required/);
    await refused('Get-Lookup-Values', { tables: [] }, 107, /tables must name a table/);
    await refused('Get-Lookup-Values', { tables: ['LeadStatuses', 'Nope'] }, 103, /^Class Nope does not exist/);
    await refused('Get-Lookup-Values', { tables: ['LeadStatuses'], limit: 2001 }, 107, /limit must be at most 2000/);
    await refused('Get-Lookup-Values', { tables: ['_StoredFile'] }, 103, /does not exist/);
  });

  test('Get-Table-Stats: the tables that have records, with the last change', async () => {
    const name = await table({ a: 'String' });
    const empty = await table({ a: 'String' });
    await create(name, { a: 'x' });
    const last = await create(name, {});
    const { results } = await use('Get-Table-Stats');
    const { updatedAt } = (await call('GET', `/platform/classes/${name}/${last}`)).body;
    assert.deepEqual(
      results.find((one: Json) => one.table === name),
      { table: name, rows: 2, lastChange: updatedAt },
    );
    assert.ok(!tables({ results }).includes(empty) && !tables({ results }).includes('_StoredFile'));
    assert.equal(results.find((one: Json) => one.table === 'LeadStatuses').rows, 8);
  });

  test('Get-Table-Stats: fill rates of tables that are named', async () => {
    const many = Object.fromEntries(Array.from({ length: 210 }, (_, at) => [`f${at}`, 'String']));
    const name = await table({
      ...many,
      n: 'Number',
      list: 'Array',
      o: 'Object',
      AccountId: { type: 'Pointer', targetClass: 'Accounts' },
    });
    await create(name, { f0: 'a', f209: 'x', n: 0, list: [], o: { a: 1 }, AccountId: pointer('Accounts', account) });
    await create(name, { f0: 'b', list: [1] });
    await create(name, { f0: '' });
    const { results } = await use('Get-Table-Stats', { tables: [name, 'Budgets'] });
    const { fields, rows } = results[0];
    assert.equal(rows, 3);
    assert.deepEqual(
      [fields.f0, fields.f1, fields.f209, fields.n, fields.list, fields.o, fields.AccountId],
      [1, 0, 0.333, 0.333, 0.667, 0.333, 0.333],
    );
    assert.equal(Object.keys(fields).length, 214);
    assert.deepEqual([results[1].table, results[1].rows, results[1].lastChange], ['Budgets', 0, null]);
    assert.ok(Object.values(results[1].fields).every((rate) => rate === 0));
    const users = (await use('Get-Table-Stats', { tables: ['_User'] })).results[0];
    assert.deepEqual([users.fields.username, users.fields.password], [1, undefined]);
    await refused('Get-Table-Stats', { tables: ['Nope'] }, 103, /^Class Nope/);
    await refused('Get-Table-Stats', { tables: [] }, 107, /tables must name a table/);
  });
});
