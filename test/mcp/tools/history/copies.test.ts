/** Logs, notifications and mail hold copies of record values. No agent tool reveals a copy to a caller who may not read the original (adr/0016). */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { forAll, makeTable, type Rules, setRules } from '../../../support/permissions.ts';
import { type Json, pointer, unique, useStore } from '../../../support/records.ts';
import { sampledEngines } from '../../../support/service.ts';
import { soon } from '../../../support/soon.ts';
import { byUser, type Person } from '../callers.ts';

const open: Rules = forAll({ requiresAuthentication: true });
/** Tables that hold values of other records, with the fields that hold them. */
const holders = {
  _Timeline: ['data', 'data.Pay', 'AccountId'],
  _syslogTriggers: ['data', 'error'],
  _Notification: ['Content', 'Icon'],
  Emails: ['Subject', 'Content', 'MailTo', 'ErrorMessage', 'AccountId'],
} as const;
type Holder = keyof typeof holders;
const every = Object.keys(holders) as Holder[];

for (const engine of sampledEngines())
  describe(`copies of values on ${engine}`, () => {
    const store = useStore(engine);
    let admin: Person;
    let account: string;
    let table: string;
    let id: string;
    const word = unique('w');
    const secret = unique('secret');
    /** Returns the `where` that selects the rows about the record under test. */
    const about = (holder: Holder): object => (holder === 'Emails' ? { Subject: { $regex: word } } : { objectIdValue: id });

    before(async () => {
      admin = await byUser(store, ['Admin']);
      table = unique('Payroll');
      const fields = { Name: 'String', Pay: 'String', AccountId: 'Pointer:Accounts' };
      await makeTable(store.service(), table, fields, open);
      const timeline = { displayFields: {}, index: {} };
      assert.equal((await store.call('PUT', `/platform/schemas/${table}`, { body: { timeline } })).status, 200);
      account = await store.create('Accounts', { Name: 'Acme' });
      const actions = [
        { type: 'notification', actionData: { user: admin.id, content: '{{Name}} gets {{Pay}}', icon: '{{Pay}}' } },
        { type: 'e-mail', actionData: { to: 'a@b.example', subject: '{{Name}} {{Pay}}', html: '<p>{{Pay}}</p>' } },
        // An invalid address appears in the text of the error.
        { type: 'e-mail', actionData: { to: '{{Pay}}', subject: '{{Name}}', html: 'x' } },
      ];
      await store.create('_Trigger', { Name: unique('tells'), table, events: ['create'], actions });
      id = await store.create(table, { Name: word, Pay: `${secret} €5`, AccountId: pointer('Accounts', account) });
      const rowsOf = async (holder: Holder): Promise<Json[]> =>
        (await store.call('GET', `/platform/classes/${holder}`, { query: { where: about(holder) } })).body.results;
      await soon(async () => {
        assert.deepEqual([(await rowsOf('_Notification')).length, (await rowsOf('_syslogTriggers')).length], [1, 4]);
      }, 20_000);
      // Mail of people belongs to accounts; the service's own mail does so too if the table has the fields.
      for (const { objectId } of await rowsOf('Emails'))
        await store.update('Emails', objectId, { AccountId: pointer('Accounts', account) });
    });

    /** Returns the calls that read copies, by name. */
    const calls = (): [string, object][] => [
      ['Get-Trigger-Logs', { objectId: id }],
      ['Get-Trigger-Logs', { objectId: id, errorsOnly: true }],
      ['Get-Messages', { channel: 'email', limit: 100 }],
      ['Get-Messages', { accountId: account }],
      ['Get-Messages', { channel: 'email', failedOnly: true, limit: 100 }],
      ['Get-Customer-Card', { objectId: account }],
      ...every.flatMap((holder): [string, object][] => [
        ['Get-Data', { table: holder, where: about(holder), limit: 50 }],
        ['Get-Data', { table: holder, order: '-createdAt', limit: 50 }],
        ...holders[holder].flatMap((field): [string, object][] => [
          ['Get-Data', { table: holder, keys: [field], order: field, limit: 50 }],
          ['Aggregate-Data', { table: holder, where: about(holder), groupBy: [field] }],
        ]),
      ]),
    ];

    /** Returns the names of the calls that reveal the secret. */
    const found = async (): Promise<string[]> => {
      const reported: string[] = [];
      await Promise.all(
        calls().map(async ([name, args]) => {
          const { text } = await admin.call(name, args);
          if (text.includes(secret)) reported.push(`${name} ${JSON.stringify(args)}`);
        }),
      );
      for (const holder of every)
        for (const field of holders[holder]) {
          const where =
            field === 'AccountId'
              ? { ...about(holder), AccountId: pointer('Accounts', account) }
              : { [field]: { $regex: secret } };
          if (field === 'data') continue;
          const counted = await admin.call('Count-Data', { table: holder, where });
          if (counted.json?.count > 0) reported.push(`Count-Data ${holder} ${field}`);
          const rows = await admin.call('Get-Data', { table: holder, where });
          if (rows.json?.results?.length > 0) reported.push(`Get-Data ${holder} ${field}`);
          const sums = await admin.call('Aggregate-Data', { table: holder, where });
          if (sums.json?.results?.[0]?.count > 0) reported.push(`Aggregate-Data ${holder} ${field}`);
        }
      return reported;
    };

    const runs = async (more: object = {}): Promise<Json[]> =>
      (await admin.use('Get-Trigger-Logs', { objectId: id, ...more })).results;
    const protect = (...fields: string[]) => setRules(store.service(), table, { ...open, protectedFields: { '*': fields } });

    test('while nothing is hidden, every tool shows it', async () => {
      const reported = await found();
      for (const start of [
        'Get-Trigger-Logs',
        'Get-Messages',
        'Get-Customer-Card',
        ...every.map((holder) => `Count-Data ${holder}`),
      ])
        assert.ok(
          reported.some((what) => what.startsWith(start)),
          `${start}: ${reported}`,
        );
      for (const holder of every)
        assert.ok(
          reported.some((what) => what.startsWith(`Get-Data {"table":"${holder}"`)),
          `${holder}: ${reported}`,
        );
      assert.equal((await runs({ errorsOnly: true })).length, 1);
    });

    test('values of a hidden field are shown by none', async () => {
      await protect('Pay', 'AccountId');
      assert.deepEqual(await found(), []);
      const log = await runs();
      assert.deepEqual([log.length, log.filter(({ error }) => error !== undefined)], [4, []]);
      assert.deepEqual(await runs({ errorsOnly: true }), []);
      await protect();
    });

    test('rows of a record that is hidden are shown by none', async () => {
      const put = async (ACL: Json) =>
        store.update(table, id, { ACL, dontUpdatePlatformTimeline: true, dontRunPlatformTriggers: true });
      await put({ 'role:Nobody': { read: true } });
      assert.deepEqual(await found(), []);
      assert.deepEqual(await runs(), []);
      await put({});
      await setRules(store.service(), table, forAll({ 'role:Nobody': true }));
      assert.deepEqual(await found(), []);
      assert.deepEqual(await runs(), []);
      await setRules(store.service(), table, open);
      assert.equal((await runs()).length, 4);
    });
  });
