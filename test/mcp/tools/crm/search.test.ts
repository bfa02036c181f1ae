/** Search-Records and Find-Duplicates; phones in all local and 972 forms. Reference: tools.md#search-records, tools.md#find-duplicates. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Json, pointer, unique } from '../../../support/records.ts';
import { byUser } from '../callers.ts';
import { onEachEngine } from '../engines.ts';
import { permit } from '../tables.ts';

let last = 2_000_000;
/** Returns the digits of a mobile number that no other test uses. */
const newPhone = (): string => `050${last++}`;

const forms: [string, (phone: string) => string][] = [
  ['national', (phone) => phone],
  ['972', (phone) => `972${phone.slice(1)}`],
  ['+972 and hyphens', (phone) => `+972-${phone.slice(1, 3)}-${phone.slice(3)}`],
  ['hyphens', (phone) => `${phone.slice(0, 3)}-${phone.slice(3, 6)}-${phone.slice(6)}`],
  ['spaces', (phone) => `(${phone.slice(0, 3)}) ${phone.slice(3)}`],
  ['00972', (phone) => `00972-${phone.slice(1)}`],
  ['+972 and the 0', (phone) => `+972 (0)${phone.slice(1)}`],
  ['without the 0', (phone) => phone.slice(1)],
];

onEachEngine('search', (tools) => {
  const { use, refused, create, call, table } = tools;
  const found = async (query: string, more: object = {}): Promise<string[]> =>
    (await use('Search-Records', { query, ...more })).results.map((row: Json) => row.objectId);
  const duplicates = async (args: object): Promise<Json[]> => (await use('Find-Duplicates', args)).results;

  test('a phone in any form finds it in any form', async () => {
    for (const [stored, store] of forms) {
      const phone = newPhone();
      // Stored and requested forms are normalised independently: each once with the first form, and each with itself.
      const requested = stored === forms[0]?.[0] ? forms : forms.filter(([form], at) => at === 0 || form === stored);
      const account = await create('Accounts', { Name: 'a', PhoneNumber: store(phone) });
      const contact = await create('Contacts', { FirstName: 'b', Mobile: store(phone) });
      for (const [form, ask] of requested) {
        assert.deepEqual((await found(ask(phone))).sort(), [account, contact].sort(), form);
        for (const [table, id] of [
          ['Accounts', account],
          ['Contacts', contact],
        ])
          assert.deepEqual(
            (await duplicates({ table, phone: ask(phone) })).map((row) => [row.objectId, row.matchedOn]),
            [[id, ['phone']]],
            `${table} ${form}`,
          );
      }
      assert.deepEqual(await found(`${phone.slice(0, -1)}x`), []);
    }
  });

  test('a phone in a field of type Number is found by both', async () => {
    const own = await table({ Name: 'String', PhoneNumber: 'Number' });
    const phone = newPhone();
    const ids = [
      await create(own, { Name: 'a', PhoneNumber: Number(phone) }),
      await create(own, { Name: 'b', PhoneNumber: Number(`972${phone.slice(1)}`) }),
    ];
    for (const [form, ask] of forms) {
      assert.deepEqual((await found(ask(phone), { tables: [own] })).sort(), [...ids].sort(), form);
      const rows = await duplicates({ table: own, phone: ask(phone) });
      assert.deepEqual(
        rows.map((row) => [row.objectId, row.matchedOn]),
        ids.map((id) => [id, ['phone']]),
        form,
      );
    }
  });

  test('Search-Records: by name, e-mail, number, objectId, across tables', async () => {
    const name = unique('Dana ');
    const account = await create('Accounts', { Name: name, Email: `${name.slice(5)}@Example.com`, CompanyId: '51-2345678' });
    const sale = await create('Sales', { Name: `Deal of ${name}`, AccountId: pointer('Accounts', account) });
    const [first, lastName] = name.toUpperCase().split(' ');
    const contact = await create('Contacts', { FirstName: first, LastName: lastName });
    const number = 900_000 + (last++ % 90_000);
    const ticket = await create('Cases', { Name: 'x', Number: number });
    const { results } = await use('Search-Records', { query: name.toLowerCase() });
    assert.deepEqual(
      results.map((row: Json) => [row.table, row.objectId]),
      [
        ['Accounts', account],
        ['Contacts', contact],
        ['Sales', sale],
      ],
    );
    assert.equal(results[0].Name, name);
    assert.equal(results[0].matched.Name, name);
    assert.deepEqual(await found(`${name.slice(5).toUpperCase()}@example.COM`), [account]);
    const invoice = await create('AccountingHeaders', { Number: number, CustomerName: 'y' });
    assert.deepEqual((await found(`#${number}`)).sort(), [ticket, invoice].sort());
    assert.deepEqual(await found(sale), [sale]);
    assert.deepEqual(await found(name, { tables: ['Sales'] }), [sale]);
    const some = await use('Search-Records', { query: name, limit: 2 });
    assert.deepEqual([some.results.length, some.truncated], [2, true]);
  });

  test('Search-Records: what is looked for is no pattern', async () => {
    const name = unique('a.*b(');
    const id = await create('Accounts', { Name: name });
    await create('Accounts', { Name: name.replace('.*', 'xx') });
    assert.deepEqual(await found(name), [id]);
    for (const query of ['\\E', '[', '.*'.repeat(50), '(?=', '%', '$where']) await found(query);
  });

  test('Search-Records: a table of the system, which has a name', async () => {
    const own = await table({ Title: 'String', Price: 'Number' });
    const id = await create(own, { Title: 'Rare thing' });
    assert.deepEqual(await found('rare', { tables: [own] }), [id]);
    assert.deepEqual(await found('rare', { tables: [await table({ Price: 'Number' })] }), []);
  });

  test('Search-Records: wrong arguments', async () => {
    await refused('Search-Records', {}, 107, /query is required/);
    await refused('Search-Records', { query: ' ' }, 107, /query/);
    await refused('Search-Records', { query: 'x', limit: 201 }, 107, /at most 200/);
    await refused('Search-Records', { query: 'x', tables: ['NoSuchTable'] }, 103, /NoSuchTable/);
    await refused('Search-Records', { query: 'x', tables: ['_StoredFile'] }, 103, /_StoredFile/);
    await refused('Search-Records', { query: 'x', other: 1 }, 107, /other is unknown/);
  });

  test('Find-Duplicates: what matches, and on what', async () => {
    const phone = newPhone();
    const company = String(510_000_000 + last++);
    const name = unique('Tal ');
    const both = await create('Accounts', { Name: name, PhoneNumber: `+972-${phone.slice(1)}`, Email: `${phone}@Mail.test` });
    const other = await create('Accounts', { Name: 'x', CompanyId: `${company.slice(0, 2)}-${company.slice(2)}` });
    await create('Accounts', { Name: `${name} and more`, PhoneNumber: newPhone() });
    const criteria = { phone, email: ` ${phone}@mail.TEST`, name: name.toUpperCase(), companyId: company };
    const rows = await duplicates(criteria);
    assert.deepEqual(
      rows.map((row) => [row.objectId, row.matchedOn]),
      [
        [both, ['phone', 'email', 'name']],
        [other, ['companyId']],
      ],
    );
    assert.equal(rows[0]?.Name, name);
    const [only, ...rest] = await duplicates({ phone, limit: 1 });
    assert.deepEqual([only?.objectId, rest], [both, []]);
    assert.deepEqual(await duplicates({ phone: newPhone() }), []);
  });

  test('Find-Duplicates: Contacts, whose names are in two fields', async () => {
    const [first, lastName] = [unique('Noa'), 'Ben Ami'];
    const id = await create('Contacts', { FirstName: first, LastName: lastName, IdNumber: '0-123' });
    const rows = await duplicates({ table: 'Contacts', name: `${first.toLowerCase()}  ben ami` });
    assert.deepEqual([rows.length, rows[0]?.objectId, rows[0]?.matchedOn], [1, id, ['name']]);
    const alone = await create('Contacts', { FirstName: `${first}x` });
    assert.deepEqual(
      (await duplicates({ table: 'Contacts', name: `${first}X` })).map((row) => row.objectId),
      [alone],
    );
  });

  test('Find-Duplicates: wrong arguments', async () => {
    await refused('Find-Duplicates', {}, 107, /send a phone, an email, a name or a companyId/);
    await refused('Find-Duplicates', { phone: 'none' }, 107, /too few digits/);
    await refused('Find-Duplicates', { table: 'Sales', phone: '0501234567' }, 107, /Sales has no field for phone/);
    await refused('Find-Duplicates', { table: 'Nothing', phone: '0501234567' }, 103, /Nothing/);
  });

  test('a user finds what the user may see: tables, records and fields', async () => {
    const phone = newPhone();
    const user = await byUser(tools, ['Sales'], ['mcp:view']);
    const open = await create('Accounts', { Name: 'open', PhoneNumber: phone });
    await create('Accounts', { Name: 'hidden', PhoneNumber: phone, ACL: { '*': {} } });
    assert.deepEqual(
      (await user.use('Search-Records', { query: phone })).results.map((row: Json) => row.objectId),
      [open],
    );
    assert.deepEqual(
      (await user.use('Find-Duplicates', { phone })).results.map((row: Json) => row.objectId),
      [open],
    );
    const schema = (await call('GET', '/platform/schemas/Accounts')).body.classLevelPermissions;
    await permit(tools, 'Accounts', { ...schema, protectedFields: { 'role:Sales': ['PhoneNumber'] } });
    assert.deepEqual((await user.use('Search-Records', { query: phone })).results, []);
    await user.refused('Find-Duplicates', { phone }, 107, /no field for phone that you may search/);
    await permit(tools, 'Accounts', { ...schema, find: {} });
    const { results, hidden } = await user.use('Search-Records', { query: phone });
    assert.deepEqual([results, hidden], [[], ['Accounts']]);
    await user.refused('Find-Duplicates', { phone }, 119, /^Permission denied for action find on class Accounts/);
    await user.refused('Search-Records', { query: phone, tables: ['Accounts'] }, 119, /^Permission denied for action find/);
    await permit(tools, 'Accounts', schema);
    const nobody = await byUser(tools, ['Sales'], ['mcp:create']);
    await nobody.refused('Search-Records', { query: phone }, 119, /^Permission denied for action find on class Accounts/);
  });
});
