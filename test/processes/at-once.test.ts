/** Writes that depend on a read, by two processes at the same moment: the commit decides. Reference: postgresql.md#several-processes. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { newLandline, newPhone, on } from '../functions/forms.ts';
import { byKey, type Tools } from '../mcp/tools/callers.ts';
import { type Json, pointer, type Store, unique } from '../support/records.ts';
import { soon } from '../support/soon.ts';
import { signUp } from '../support/users.ts';
import { both, describeProcesses, ROUNDS, times } from './processes.ts';

/** Requests of a round, sent alternately to both. */
const MANY = 4;

describeProcesses('decisions of two processes at once', (stores) => {
  const [a, b] = both(stores);
  const tools: [Tools, Tools] = [byKey(a), byKey(b)];
  const of = (n: number): Tools => tools[n % 2 ? 1 : 0];
  const bothKnow = (table: string) =>
    soon(async () => assert.equal((await b.call('GET', `/platform/schemas/${table}`)).status, 200));
  const rounds = async (work: (round: number) => Promise<void>, count = ROUNDS) => {
    for (let round = 0; round < count; round++) await work(round);
  };

  test('Create-Price-Quote: each quote has a number of its own, and none is left out', async () => {
    const accountId = await a.create('Accounts', { Name: 'Buyer' });
    const rows = [{ description: 'Chair', quantity: 1, price: 10 }];
    const made = await times(24, (n) => of(n).use('Create-Price-Quote', { accountId, rows }));
    const numbers = made.map(({ number }) => number).sort((one: number, other: number) => one - other);
    const [first] = numbers;
    assert.deepEqual(
      numbers,
      made.map((_, at) => first + at),
    );
    const stored = (await b.all('PriceQuotes')).map(({ Number: number }) => number);
    assert.equal(new Set(stored).size, stored.length);
  });

  test('Upsert-Record: calls for one new record make one', async () => {
    const table = await a.table({ k: 'String', n: 'Number' });
    await bothKnow(table);
    await of(1).use('Upsert-Record', { table, matchOn: ['k'], data: { k: 'known', n: 0 } });
    await rounds(async (round) => {
      const data = (n: number) => ({ k: `k${round}`, n });
      const answers = await times(MANY, (n) => of(n).use('Upsert-Record', { table, matchOn: ['k'], data: data(n) }));
      assert.equal(answers.filter(({ created }) => created).length, 1);
      assert.equal(new Set(answers.map(({ objectId }) => objectId)).size, 1);
    });
    assert.equal((await a.all(table)).length, ROUNDS + 1);
  });

  test('Import-Records: of the same rows each is made once, with several of one key in each import', async () => {
    const table = await a.table({ Phone: 'String', Email: 'String', N: 'Number' });
    await bothKnow(table);
    for (const onDuplicate of ['skip', 'update']) {
      const rows = Array.from({ length: 120 }, (_, n) => ({ Phone: newPhone(), Email: `${onDuplicate}${n}@x.org`, N: n }));
      const phones = [...rows, ...rows.slice(0, 5)];
      const imports = await times(MANY, (n) =>
        of(n).use('Import-Records', { table, rows: n < 2 ? phones : phones.toReversed(), matchOn: ['Phone'], onDuplicate }),
      );
      assert.equal(
        imports.reduce((sum, { created }) => sum + created, 0),
        120,
      );
      for (const { created, updated, skipped, failed } of imports)
        assert.deepEqual([failed, created + updated + skipped], [0, phones.length]);
      const stored = (await a.all(table)).filter(({ Email }) => Email.startsWith(onDuplicate));
      assert.deepEqual([stored.length, new Set(stored.map(({ Phone }) => Phone)).size], [120, 120]);
    }
  });

  test('Schedule-Activity: of meetings in one place of a calendar one is put there', async () => {
    const ownerId = (await signUp(a, { name: 'Tal' })).id;
    await rounds(async (round) => {
      const day = `2027-03-${String(round + 1).padStart(2, '0')}`;
      const span = { startTime: `${day}T08:00:00Z`, endTime: `${day}T09:00:00Z` };
      const answers = await times(MANY, (n) => of(n).call('Schedule-Activity', { name: 'Meeting', ...span, ownerId }));
      const refused = answers.filter(({ isError }) => isError);
      assert.equal(refused.length, MANY - 1);
      for (const { text } of refused) assert.match(text, /the owner is busy/);
    });
  });

  test('Set-Config-Flag: a flag that is new to both has one row, with the keys of all', async () => {
    await rounds(async () => {
      const name = unique('Race');
      const keys = await times(MANY, async (n) => {
        await of(n).use('Set-Config-Flag', { name, value: { [name]: true, [`k${n}`]: n } });
        return [`k${n}`, n] as const;
      });
      const rows = (await a.all('Config')).filter(({ Name }) => Name === name);
      assert.deepEqual(
        rows.map(({ Value }) => Value),
        [{ [name]: true, ...Object.fromEntries(keys) }],
      );
      await soon(async () => {
        const [flag] = (await of(0).use('Get-Config-Flags', { name })).results;
        assert.deepEqual(flag.value, rows[0]?.Value);
      });
    });
  });

  test('administrators are removed by both: one stays', async () => {
    const admin = (await of(0).use('Get-Roles', { role: 'Admin' })).results[0];
    const [one, other] = [await signUp(a), await signUp(a)];
    for (const { id } of [one, other]) await of(0).use('Set-User-Roles', { userId: id, roles: ['Admin'] });
    for (const { objectId } of admin.members) await of(0).use('Set-User-Roles', { userId: objectId, roles: [] });
    type Way = (caller: Tools, id: string) => ReturnType<Tools['call']>;
    const ways: Way[] = [
      (caller, userId) => caller.call('Set-User-Roles', { userId, roles: [] }),
      (caller, objectId) => caller.call('Create-or-Update-User', { objectId, active: false }),
      (caller, objectId) => caller.call('Update-Record', { table: '_User', objectId, data: { active: false } }),
      (caller, id) => {
        const users = { __op: 'RemoveRelation', objects: [pointer('_User', id)] };
        return caller.call('Update-Record', { table: '_Role', objectId: admin.objectId, data: { users } });
      },
    ];
    for (const [first, second] of ways.flatMap((way, at) => ways.slice(at).map((another) => [way, another] as const))) {
      for (const { id } of [one, other]) {
        await of(0).use('Create-or-Update-User', { objectId: id, active: true });
        await of(0).use('Set-User-Roles', { userId: id, roles: ['Admin'] });
      }
      const answers = await Promise.all([first(of(0), one.id), second(of(1), other.id)]);
      const refused = answers.filter(({ isError }) => isError);
      assert.equal(refused.length, 1, answers.map(({ text }) => text).join());
      assert.match(refused[0]?.text ?? '', /last active member of Admin/);
    }
  });

  test('labels and terms: a field has one label, and one of the replacements is there whole', async () => {
    const labelled = async (className: string) => (await a.all('_Dictionary')).filter(({ tblName }) => tblName === className);
    await rounds(async () => {
      const className = await a.table({ Size: 'Number' });
      await bothKnow(className);
      await times(MANY, (n) => of(n).use('Set-Field-Labels', { className, labels: { Size: `l${n}` } }));
      assert.equal((await labelled(className)).length, 1);
      const added = await times(MANY, (n) =>
        of(n).use('Add-Fields', { className, fields: [{ name: 'Width', type: 'Number', label: `w${n}` }] }),
      );
      assert.deepEqual(
        added.flatMap((answer: Json) => answer.added),
        ['Width'],
      );
      assert.equal((await labelled(className)).length, 2);
      const terms = (of: number) => Object.fromEntries(Array.from({ length: 10 }, (_, n) => [`T${of}${n}`, `${of}-${n}`]));
      await times(MANY, (n) => of(n).use('Set-Terminology-Dictionary', { terms: terms(n) }));
      const left = (await of(0).use('Get-Terminology-Dictionary')).terms;
      assert.equal(new Set(Object.keys(left).map((term) => term.slice(0, 2))).size, 1);
      assert.equal(Object.keys(left).length, 10);
    }, 3);
  });

  test('Set-Table-Permissions: changes of several actions all stay', async () => {
    const actions = ['find', 'get', 'create', 'update'];
    await rounds(async () => {
      const className = await a.table({});
      await bothKnow(className);
      await times(MANY, (n) => of(n).use('Set-Table-Permissions', { className, permissions: { [actions[n] ?? '']: ['Sales'] } }));
      await soon(async () => {
        const { classLevelPermissions } = (await a.call('GET', `/platform/schemas/${className}`)).body;
        for (const action of actions) assert.deepEqual(classLevelPermissions[action], { 'role:Sales': true });
      });
    }, 3);
  });
});

describeProcesses('forms of two processes at once', (stores) => {
  const [a, b] = both(stores);
  const send = async (store: Store, fn: string, fields: object): Promise<Json> => {
    const { url, appId } = store.service();
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${url}/functions/${appId}/${fn}`, { method: 'POST', headers, body: JSON.stringify(fields) });
    const body = (await answer.json()) as Json;
    assert.equal(answer.status, 200, JSON.stringify(body));
    return body;
  };
  const to = (n: number) => (n % 2 ? a : b);
  let target: string;

  before(async () => {
    for (const Name of ['AcceptWebLeads', 'AcceptWebToTable', 'AcceptWebToCaseLeads', 'AcceptWebToSaleLeads']) {
      await byKey(a).use('Set-Config-Flag', { name: Name, value: on(Name) });
    }
    target = await a.table({ Note: 'String', AccountId: { type: 'Pointer', targetClass: 'Accounts' } });
    await soon(async () => {
      await send(b, 'web2table', { table: target, phone: newPhone() });
      for (const form of ['web2case', 'web2sale']) await send(b, form, { phone: newPhone() });
    });
  });

  test('web2table, web2case, web2sale: posts for one new phone make one contact', async () => {
    for (let round = 0; round < ROUNDS * 2; round++) {
      const phone = newPhone();
      const forms = ['web2table', 'web2table', 'web2case', 'web2sale', 'web2table', 'web2case'];
      const answers = await times(forms.length, (n) => send(to(n), forms[n] ?? '', { table: target, phone, Name: 'New' }));
      assert.equal(new Set(answers.map(({ accountId }) => accountId)).size, 1);
    }
    const phones = (await a.all('Accounts')).flatMap(({ PhoneNumber = [] }) => PhoneNumber);
    assert.equal(new Set(phones).size, phones.length);
  });

  test('getlead: of leads with one new phone or address one is new, the others are duplicates', async () => {
    const statuses = new Map((await a.all('LeadStatuses')).map(({ objectId, SystemKey }) => [objectId, SystemKey]));
    for (let round = 0; round < ROUNDS * 2; round++) {
      const [PhoneNumber, Email] = [newLandline(), `${unique('lead')}@x.org`];
      const sent = round % 3 === 0 ? { PhoneNumber } : round % 3 === 1 ? { Email } : { PhoneNumber, Email };
      const leads = await times(6, (n) => send(to(n), 'getlead', sent));
      const rows = await Promise.all(leads.map(({ result }) => a.read('Accounts', result.leadId)));
      const keys = rows.map(({ LeadStatusId }) => statuses.get(LeadStatusId?.objectId));
      assert.deepEqual(keys.filter((key) => key === 'new').length, 1, keys.join());
      assert.deepEqual(keys.filter((key) => key === 'duplicate').length, 5, keys.join());
    }
  });

  test('many leads that have nothing in common are all new, in little more time than by one process', async () => {
    const leads = await times(100, (n) => send(to(n), 'getlead', { PhoneNumber: newPhone(), Email: `${unique('m')}@x.org` }));
    assert.equal(new Set(leads.map(({ result }) => result.leadId)).size, 100);
  });
});
