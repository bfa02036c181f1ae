/** `web2table`, `web2case`, `web2sale`: flags, required inputs in their order, refused target tables. Reference: functions.md#web2table. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { type Json, pointer } from '../support/records.ts';
import {
  assertError,
  assertNoTable,
  disabled,
  type Fields,
  flags,
  missingPhone,
  missingTable,
  newPhone,
  on,
  onAnyEngine,
  ways,
} from './forms.ts';

/** Each function, its flag, and the table that it writes. */
const functions = [
  ['web2table', flags.web2table, 'Tasks'],
  ['web2case', flags.web2case, 'Cases'],
  ['web2sale', flags.web2sale, 'Sales'],
] as const;
const empty = [undefined, null, '', '  ', '\t\n', '\u00a0'];

onAnyEngine((forms) => {
  const { send, link, setFlag } = forms;

  test('Config: of the flags a new system has `AcceptWebLeads` alone: the other forms are closed', async () => {
    for (const [fn, flag, table] of functions) assertError(await send(fn, { table, phone: newPhone() }), disabled(flag));
  });

  describe('with the flags on', () => {
    before(() => forms.openForms());

    for (const [fn, flag, table] of functions) {
      const closed: [string, unknown][] = [
        ['the row is missing', undefined],
        ['it says false', { [flag]: false }],
        ['it is the wrong row', on('AcceptWebLeads')],
        ['it says nothing', {}],
      ];
      for (const [what, value] of closed)
        test(`${fn}/400: ${flag} is Disabled: ${what}`, async () => {
          await setFlag(flag, value);
          const before = await forms.count('Accounts');
          for (const way of ways) assertError(await send(fn, { table, phone: newPhone() }, way), disabled(flag));
          // The flag comes before required inputs and values.
          assertError(await send(fn, {}), disabled(flag));
          assertError(await send(fn, { table: '_User', phone: newPhone(), account_IsAccount: 'x' }), disabled(flag));
          assert.equal(await forms.count('Accounts'), before);
          await setFlag(flag, on(flag));
          await link({ table, phone: newPhone() }, 'json', fn);
        });

      test(`${fn}: the flags of the other functions neither open nor close it`, async () => {
        for (const other of Object.values(flags)) if (other !== flag) await setFlag(other);
        await link({ table, phone: newPhone() }, 'json', fn);
        await forms.openForms();
        await setFlag(flag);
        assertError(await send(fn, { table, phone: newPhone() }), disabled(flag));
        await forms.openForms();
      });

      test(`${fn}/400: missing "phone", before all other inputs`, async () => {
        const before = await forms.count('Accounts');
        for (const phone of empty) {
          assertError(await send(fn, { table, phone }), missingPhone);
          assertError(await send(fn, { phone, table: '_User', table_Name: {}, account_PhoneNumber: newPhone() }), missingPhone);
        }
        for (const way of ways) assertError(await send(fn, { PhoneNumber: newPhone(), Phone: newPhone() }, way), missingPhone);
        assertError(await send(fn), missingPhone);
        assert.equal(await forms.count('Accounts'), before);
      });
    }

    test('web2table/400: missing "table" in request body', async () => {
      const before = await forms.count('Accounts');
      // A `table` that is no text counts as missing.
      for (const table of [...empty, 5, 0, true, {}, ['Tasks'], { table: 'Tasks' }])
        assertError(await send('web2table', { phone: newPhone(), table, account_IsAccount: 'x' }), missingTable);
      for (const way of ways) assertError(await send('web2table', { phone: newPhone(), Table: 'Tasks' }, way), missingTable);
      assertError(await send('web2table', `phone=${newPhone()}&table=Tasks&table=Sales`, 'form'), missingTable);
      assert.equal(await forms.count('Accounts'), before);
    });

    const hidden = [
      '_StoredFile',
      '_StorageUsage',
      '_Join:users:_Role',
      '_SCHEMA',
      '_Hooks',
      '_Timeline',
      '_Trigger',
      '_Dictionary',
    ];
    const system = ['_User', '_Role', '_Session', 'Config', '_RequestLog', '_syslogTriggers', '_Notification', '_GeneralLogs'];
    const unknown = [
      'Nope',
      'tasks',
      'TASKS',
      'Tasks ',
      ' Tasks',
      'Task%',
      'Task_',
      'config',
      '_user',
      '__proto__',
      'constructor',
      'toString',
    ];
    const malformed = ['a b', 'x.y', '1', '$', '*', '"', "Tasks'; DROP TABLE Tasks;--", 'Tasks"; --', 'שולחן', '../Tasks', '%00'];
    for (const table of [...hidden, ...system, ...unknown, ...malformed])
      test(`unknown target and system table alike: 103 (${table})`, async () => {
        const before = [await forms.count('Accounts'), (await forms.call('GET', '/platform/schemas')).text];
        const fields = { phone: newPhone(), table, table_Name: 'x', table_username: 'x', table_password: 'Right1Pass' };
        for (const way of ways) assertNoTable(await send('web2table', fields, way), table);
        assert.deepEqual([await forms.count('Accounts'), (await forms.call('GET', '/platform/schemas')).text], before);
      });

    test('every system table is none for forms, and nothing is written there', async () => {
      const { body } = await forms.call('GET', '/platform/schemas');
      const names: string[] = body.results.map(({ className }: Json) => className);
      const closed = names.filter((name) => name.startsWith('_') || name === 'Config');
      assert.ok(closed.length > 12, String(closed));
      for (const table of closed) {
        const before = table === '_RequestLog' ? 0 : await forms.count(table);
        assertNoTable(await send('web2table', { phone: newPhone(), table, table_Name: 'x', table_name: 'x' }), table);
        assert.equal(table === '_RequestLog' ? 0 : await forms.count(table), before, table);
      }
    });

    test('a long name of an unknown table: 103, in a short answer', async () => {
      const answer = await send('web2table', { phone: newPhone(), table: 'X'.repeat(100_000) });
      assert.deepEqual([answer.status, answer.body.code], [400, 103]);
      assert.match(answer.body.error, /^Class X+.* does not exist\.$/);
      assert.ok(answer.text.length < 2_000, String(answer.text.length));
    });

    for (const [fn, , table] of functions.slice(1))
      test(`${fn} is web2table with the table ${table}; a \`table\` that is sent is passed over`, async () => {
        for (const sent of [undefined, 'Tasks', '_User', '', 5, {}]) {
          const fields: Fields = { phone: newPhone(), table: sent, table_Name: 'שם', account_Name: 'דנה', email: 'a@b.example' };
          const { accountId, Id } = await link(fields, 'json', fn);
          const { Name, AccountId } = await forms.read(table, Id);
          assert.deepEqual([Name, AccountId], ['שם', pointer('Accounts', accountId)]);
          const made = await forms.read('Accounts', accountId);
          assert.deepEqual([made.Name, made.Email, made.IsAccount], ['דנה', 'a@b.example', false]);
        }
        for (const way of ways) await link({ phone: newPhone(), table_Name: 'x' }, way, fn);
      });

    test('coercion: `SaleStatusId` in Sales is always dropped', async () => {
      const [status] = await forms.find('SaleStatuses', {});
      for (const value of [status.objectId, 'abcdefghij', pointer('SaleStatuses', status.objectId), 'short', ''])
        for (const fn of ['web2table', 'web2sale']) {
          const { Id } = await link(
            { table: 'Sales', phone: newPhone(), table_SaleStatusId: value, table_Name: 'x' },
            'json',
            fn,
          );
          const { SaleStatusId, Name } = await forms.read('Sales', Id);
          assert.deepEqual([SaleStatusId, Name], [undefined, 'x']);
        }
    });

    test('coercion: a `SaleStatusId` of another table is a field like others', async () => {
      const table = await forms.table({ SaleStatusId: { type: 'Pointer', targetClass: 'SaleStatuses' } });
      const { Id } = await link({ table, phone: newPhone(), table_SaleStatusId: 'abcdefghij' });
      assert.deepEqual((await forms.read(table, Id)).SaleStatusId, pointer('SaleStatuses', 'abcdefghij'));
    });

    test('Config: several rows with the name of a flag: the one created first is used', async () => {
      const flag = flags.web2table;
      await setFlag(flag, { [flag]: false });
      await forms.create('Config', { objectId: '0000000001', Name: flag, Value: on(flag) });
      assertError(await send('web2table', { table: 'Tasks', phone: newPhone() }), disabled(flag));
      await setFlag(flag, on(flag));
    });
  });
});
