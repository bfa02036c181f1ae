/**
 * Logs, notifications and mail hold copies of values of other records. Their reader gets no copy of a value that the reader may not read now, and
 * no condition, order, count or sum reveals it (docs/adr/0016). Copies of readable values are complete and can be searched.
 */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { assertDone, type Caller, forAll, makeTable, newCaller, type Rules, setRules } from '../support/permissions.ts';
import { type Json, pointer, unique } from '../support/records.ts';
import { type Answer, type CallOptions, type Service, sampledEngines } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { soon } from '../support/soon.ts';
import { setRole } from '../support/users.ts';

const open: Rules = forAll({ requiresAuthentication: true });
/** Tables that hold copies of values of other tables, with the fields that hold them. */
const holders = {
  _Timeline: ['data', 'data.Pay', 'data.Boss', 'AccountId'],
  _syslogTriggers: ['data', 'error'],
  _Notification: ['Content', 'Icon'],
  Emails: ['Subject', 'Content', 'MailTo', 'ErrorMessage', 'AccountId'],
} as const;
type Holder = keyof typeof holders;

for (const engine of sampledEngines())
  describe(engine, () => {
    let service: Service;
    let admin: Caller;
    let account: string;
    /** A table with a secret in its records, and records that tests use to look for it. */
    let table: string;
    let links: string;
    let id: string;
    let secret: string;
    let word: string;
    const call = (method: string, at: string, options: CallOptions = {}) => service.call(method, at, options);
    const create = async (className: string, body: Json): Promise<string> =>
      assertDone(await call('POST', `/platform/classes/${className}`, { body }), 201, className).objectId;
    const ask = (at: string, query: Record<string, unknown>): Promise<Answer> => call('GET', at, { ...admin.options, query });
    const list = async (holder: string, query: Record<string, unknown> = {}): Promise<Json[]> =>
      assertDone(await ask(`/platform/classes/${holder}`, { limit: 5_000, ...query }), 200, holder).results;
    const protect = (protectedFields: Record<string, string[]>) => setRules(service, table, { ...open, protectedFields });
    const setAcl = async (ACL: Json, of = id) =>
      assertDone(
        await call('PUT', `/platform/classes/${table}/${of}`, {
          body: { ACL, dontUpdatePlatformTimeline: true, dontRunPlatformTriggers: true },
        }),
        200,
        'ACL',
      );
    const hide = () => protect({ '*': ['Pay', 'Boss', 'AccountId'] });
    /** Conditions for rows about the record under test, by table. */
    const about: Record<Holder, () => object> = {
      _Timeline: () => ({ objectIdValue: id }),
      _syslogTriggers: () => ({ objectIdValue: id }),
      _Notification: () => ({ objectIdValue: id }),
      Emails: () => ({ Subject: { $regex: word } }),
    };
    const every = Object.keys(holders) as Holder[];

    before(async () => {
      service = await sharedService(engine);
      admin = await newCaller(service, ['Admin']);
      await setRole(service, admin.id, 'Admin');
      table = unique('Payroll');
      links = unique('Links');
      const fields = {
        Name: 'String',
        Pay: 'String',
        Boss: 'Pointer:_User',
        AccountId: 'Pointer:Accounts',
        owner: 'Pointer:_User',
        more: 'Object',
        n: 'Number',
      };
      await makeTable(service, table, fields, open);
      await makeTable(service, links, { text: 'String', at: 'Pointer:_Timeline', mail: 'Pointer:Emails' }, open);
      assertDone(
        await call('PUT', `/platform/schemas/${table}`, { body: { timeline: { displayFields: {}, index: {} } } }),
        200,
        'on',
      );
      account = await create('Accounts', { Name: 'Acme' });
      const actions = [
        { type: 'notification', actionData: { user: admin.id, content: '{{Name}} gets {{Pay}}', icon: '{{Pay}}' } },
        { type: 'e-mail', actionData: { to: 'a@b.example', subject: '{{Name}} {{Pay}}', html: '<p>{{Pay}}</p>' } },
        { type: 'e-mail', actionData: { to: '{{Pay}}', subject: '{{Name}}', html: 'x' } },
      ];
      await create('_Trigger', { Name: 'tells', table, events: ['create'], actions });
      word = unique('w');
      secret = unique('secret');
      const values = { Pay: `${secret} €5`, Boss: pointer('_User', admin.id), AccountId: pointer('Accounts', account) };
      id = await create(table, { Name: word, ...values });
      await soon(async () => {
        for (const [holder, n] of [
          ['_Notification', 1],
          ['_syslogTriggers', 4],
        ] as const) {
          const { results } = (await call('GET', `/platform/classes/${holder}`, { query: { where: about[holder]() } })).body;
          assert.equal(results.length, n, holder);
        }
      }, 20_000);
      const rows = (await call('GET', '/platform/classes/_Timeline', { query: { where: about._Timeline() } })).body.results;
      const mails = (await call('GET', '/platform/classes/Emails', { query: { where: about.Emails() } })).body.results;
      assert.deepEqual([rows.length, mails.length], [1, 2]);
      await create(links, {
        text: `${secret} €5`,
        at: pointer('_Timeline', rows[0].objectId),
        mail: pointer('Emails', mails[0].objectId),
      });
      // Comes before the one above in an order in which both are absent.
      await create(links, { objectId: '!', text: word });
    });

    /** Conditions that match only the secret. */
    const conditions = (field: string): object[] => [
      { [field]: { $regex: secret } },
      { [field]: `${secret} €5` },
      { [field]: { $in: [`${secret} €5`] } },
      {
        $or: [
          { [field]: { $regex: `.*${secret}` } },
          { [field]: pointer('Accounts', account) },
          { [field]: pointer('_User', admin.id) },
        ],
      },
      { [field]: { $select: { query: { className: links, where: {} }, key: 'text' } } },
    ];

    /** Returns the requests whose answers reveal the secret. */
    const found = async (): Promise<string[]> => {
      const revealed: string[] = [];
      const note = (what: string, is: boolean) => is && revealed.push(what);
      for (const holder of every) {
        const rows = await ask(`/platform/classes/${holder}`, { limit: 5_000, include: '*' });
        note(`list ${holder}`, rows.text.includes(secret));
        for (const { objectId } of rows.body.results)
          if (rows.body.results.length < 20)
            note(`get ${holder}`, (await ask(`/platform/classes/${holder}/${objectId}`, {})).text.includes(secret));
        const all = await ask(`/platform/classes-aggregate/${holder}`, {
          pipeline: [{ $project: { a: 1, data: 1, Content: 1, error: 1, Subject: 1 } }],
        });
        note(`aggregate ${holder}`, all.text.includes(secret));
        for (const field of holders[holder]) {
          if (field !== 'AccountId' && field !== 'data')
            for (const where of conditions(field)) {
              const query = { where, limit: 0, count: 1 };
              const { count } = assertDone(await ask(`/platform/classes/${holder}`, query), 200, JSON.stringify(where));
              note(`count ${holder} ${JSON.stringify(where)}`, count > 0);
              const within = { [holder === 'Emails' ? 'mail' : 'at']: { $inQuery: { className: holder, where } } };
              if (holder === 'Emails' || holder === '_Timeline')
                note(`inQuery ${field}`, (await list(links, { where: within })).length > 0);
            }
          if (field === 'AccountId') {
            const where = { ...about[holder](), AccountId: pointer('Accounts', account) };
            note(`${holder}.AccountId`, (await list(holder, { where })).length > 0);
          }
          const groups = [{ $match: about[holder]() }, { $group: { objectId: `$${field}`, n: { $sum: 1 } } }];
          const { text } = await ask(`/platform/classes-aggregate/${holder}`, { pipeline: groups });
          note(`group ${holder} ${field}`, text.includes(secret) || text.includes(account));
          const ordered = await ask(`/platform/classes/${holder}`, { order: field, keys: field });
          note(`order ${holder} ${field}`, ordered.text.includes(secret));
        }
      }
      for (const key of ['at.data.Pay', 'mail.Content', 'mail.Subject'])
        note(`order ${key}`, (await list(links, { order: `-${key}` }))[0]?.objectId !== '!');
      for (const where of [{ 'at.data.Pay': { $exists: true } }, { 'mail.Content': { $regex: secret } }])
        note(`where ${JSON.stringify(where)}`, (await list(links, { where })).length > 0);
      for (const [key, className] of [
        ['data.Pay', '_Timeline'],
        ['Content', '_Notification'],
        ['Content', 'Emails'],
      ] as const) {
        const where = { text: { $select: { query: { className, where: {} }, key } } };
        note(
          `select ${className}`,
          (await list(links, { where })).some(({ text }) => text.includes(secret)),
        );
      }
      const { text } = await ask(`/platform/classes/${links}`, { include: 'at,mail' });
      note('include', text.replaceAll(`"text":"${secret}`, '').includes(secret));
      return revealed;
    };

    test('no request reveals values of a hidden field; keys see them, and so does the caller once they are not hidden', async () => {
      await hide();
      assert.deepEqual(await found(), []);
      for (const as of ['master', 'apiKey'] as const)
        for (const holder of every) {
          const { text } = await call('GET', `/platform/classes/${holder}`, { as, query: { where: about[holder](), limit: 50 } });
          assert.ok(text.includes(secret), holder);
        }
      const [row] = await list('_Timeline', { where: about._Timeline() });
      assert.deepEqual(row?.data, { Name: word });
      assert.ok(!('AccountId' in (row as Json)));
      const log = await list('_syslogTriggers', { where: about._syslogTriggers() });
      assert.deepEqual(
        log.map(({ data, error }) => [JSON.parse(data).Name, 'Pay' in JSON.parse(data), error]),
        Array(4).fill([word, false, undefined]),
      );
      // Other values are still found.
      assert.equal((await list('_Timeline', { where: { 'data.Name': word } })).length, 1);
      const [notice] = await list('_Notification', { where: about._Notification() });
      assert.deepEqual([notice?.objectClass, notice?.Content], [table, undefined], 'who is notified keeps the row');
      await protect({});
      const revealed = await found();
      for (const holder of every)
        assert.ok(
          revealed.some((what) => what.startsWith(`count ${holder}`)),
          `${holder}: ${revealed}`,
        );
      for (const what of [
        'list _Timeline',
        'group _Timeline data',
        'select _Timeline',
        'include',
        'list Emails',
        '_Timeline.AccountId',
        'inQuery Content',
        'order at.data.Pay',
        'order mail.Content',
        'where {"at.data.Pay":{"$exists":true}}',
      ])
        assert.ok(revealed.includes(what), `${what}: ${revealed}`);
    });

    test('rows of a record that its ACL hides are not there', async () => {
      await protect({});
      await setAcl({ 'role:Nobody': { read: true } });
      assert.deepEqual(await found(), []);
      const counts = async () =>
        Promise.all(
          every.map(async (holder) => {
            const query = { where: about[holder](), limit: 0, count: 1 };
            return assertDone(await ask(`/platform/classes/${holder}`, query), 200, holder).count;
          }),
        );
      assert.deepEqual(await counts(), [0, 0, 1, 0]);
      await setAcl({ 'role:Admin': { read: true } });
      assert.deepEqual(await counts(), [1, 4, 1, 2]);
      await setAcl({});
      assert.deepEqual(await counts(), [1, 4, 1, 2]);
    });

    test('rows of a table that the caller may not read are not there; permissions count at once', async () => {
      await setRules(service, table, forAll({ 'role:Nobody': true }));
      assert.deepEqual(await found(), []);
      assert.deepEqual(await list('_Timeline', { where: about._Timeline() }), []);
      await setRules(service, table, open);
      assert.equal((await list('_Timeline', { where: about._Timeline() })).length, 1);
    });

    test('a field that shows in records which hold the caller shows in their rows', async () => {
      await protect({ '*': ['Pay'], 'userField:owner': [] });
      const one = await create(table, { Name: 'mine', Pay: 'p1', owner: pointer('_User', admin.id) });
      const other = await create(table, { Name: 'other', Pay: 'p2' });
      const data = async (objectIdValue: string) => (await list('_Timeline', { where: { objectIdValue } }))[0]?.data;
      assert.deepEqual([(await data(one)).Pay, await data(other)], ['p1', { Name: 'other' }]);
      assert.equal((await list('_Timeline', { where: { 'data.Pay': { $in: ['p1', 'p2'] } } })).length, 1);
      assertDone(
        await call('PUT', `/platform/classes/${table}/${one}`, { body: { owner: pointer('_User', 'nobody0000') } }),
        200,
        'owner',
      );
      assert.deepEqual(await data(one), { Name: 'mine', owner: pointer('_User', admin.id) });
      await protect({});
    });

    test('places inside a hidden field, operators and names of prototypes', async () => {
      await protect({ '*': ['more', 'n'] });
      const one = await create(table, { Name: 'a', more: { deep: { x: 'xx' } }, n: 1 });
      assertDone(
        await call('PUT', `/platform/classes/${table}/${one}`, {
          body: { 'more.deep.x': 'yy', n: { __op: 'Increment', amount: 5 }, Name: 'ä"\\u0041' },
        }),
        200,
        'put',
      );
      const rows = await list('_Timeline', { where: { objectIdValue: one }, order: 'createdAt' });
      assert.deepEqual(
        rows.map(({ data }) => data),
        [{ Name: 'a' }, { Name: 'ä"\\u0041' }],
      );
      const keyed = { objectClass: table, objectIdValue: one, event: 'update', data: { toString: 1, n: 2, 'k\ud800': 1 } };
      const made = await call('POST', '/platform/classes/_Timeline', { body: keyed });
      if (made.status === 201)
        assert.ok(!(await ask('/platform/classes/_Timeline', { where: { objectIdValue: one } })).text.includes('"n":2'));
      await protect({});
    });

    test('what was deleted is heard of by those whom its last ACL let read it', async () => {
      const acls: [ACL: Json | undefined, seen: number][] = [
        [undefined, 2],
        [{ 'role:Admin': { read: true } }, 2],
        [{ 'role:Nobody': { read: true } }, 0],
      ];
      for (const [ACL, seen] of acls) {
        const one = await create(table, { Name: 'gone', ...(ACL && { ACL }) });
        assertDone(await call('DELETE', `/platform/classes/${table}/${one}`), 200, 'delete');
        assert.equal((await list('_Timeline', { where: { objectIdValue: one } })).length, seen, JSON.stringify(ACL));
        const { results } = (await call('GET', '/platform/classes/_Timeline', { query: { where: { objectIdValue: one } } })).body;
        assert.deepEqual(
          results.map(({ event, ACL: acl }: Json) => [event, acl]),
          [
            ['create', {}],
            ['delete', ACL ?? {}],
          ],
        );
      }
      const silenced = await create(table, { Name: 'gone' });
      await call('DELETE', `/platform/classes/${table}/${silenced}`, { body: { dontUpdatePlatformTimeline: true } });
      assert.deepEqual(await list('_Timeline', { where: { objectIdValue: silenced } }), []);
    });

    test('what was made of a record that is reached over a Pointer, and what is made of mail', async () => {
      const fee = unique('fee');
      const far = unique('Far');
      await makeTable(service, far, { Fee: 'String' }, open);
      const near = unique('Near');
      await makeTable(service, near, { to: `Pointer:${far}` }, open);
      const target = await create(far, { Fee: fee });
      await create('_Trigger', {
        ...{ Name: 'far', table: near, events: ['create'] },
        actions: [{ type: 'e-mail', actionData: { to: 'a@b.example', subject: `${fee.slice(0, 2)} {{to.Fee}}`, html: 'x' } }],
      });
      const chain = { type: 'notification', actionData: { user: admin.id, content: 'mailed {{Subject}}' } };
      const onMail = await create('_Trigger', {
        Name: 'mailed',
        table: 'Emails',
        events: ['create'],
        criteria: { Subject: { $regex: fee } },
        actions: [chain],
      });
      await create(near, { to: pointer(far, target) });
      const where = { Content: { $regex: fee } };
      await soon(async () => assert.equal((await list('_Notification', { where })).length, 1), 20_000);
      assert.equal((await list('Emails', { where: { Subject: { $regex: fee } } })).length, 1);
      assert.ok((await list('_Timeline', { where: { objectClass: 'Emails' } })).some(({ data }) => data?.Subject?.includes(fee)));
      await setRules(service, far, { ...open, protectedFields: { '*': ['Fee'] } });
      assert.deepEqual(await list('_Notification', { where }), []);
      assert.deepEqual(await list('Emails', { where: { Subject: { $regex: fee } } }), []);
      assert.ok(!(await ask('/platform/classes/_Timeline', { limit: 5_000 })).text.includes(fee));
      assert.ok(!(await ask('/platform/classes/_syslogTriggers', { limit: 5_000 })).text.includes(fee));
      assertDone(await call('PUT', `/platform/classes/_Trigger/${onMail}`, { body: { Active: false } }), 200, 'off');
    });

    test('a definition of a user asks for no copy that may be hidden from the user: whether it ran would reveal it', async () => {
      await protect({});
      const action = { type: 'notification', actionData: { user: admin.id, content: 'ran' } };
      const define = (definition: Json) =>
        call('POST', '/platform/classes/_Trigger', {
          ...admin.options,
          body: { Name: unique('asks'), events: ['create'], actions: [action], ...definition },
        });
      for (const more of [{ criteria: { Content: { $regex: secret } } }, { changedFields: ['Content'], events: ['update'] }]) {
        const { body } = await define({ table: '_Notification', ...more });
        assert.deepEqual([body.code, body.error], [119, 'This user is not allowed to access Content on class _Notification']);
      }
      const defined = await define({ table: '_Timeline', criteria: { AccountId: pointer('Accounts', account) } });
      const { objectId: triggerId } = assertDone(defined, 201, 'nothing is hidden yet');
      const row = { event: 'note', objectClass: table, objectIdValue: id, AccountId: pointer('Accounts', account) };
      const note = () => create('_Timeline', row);
      const ends = async (rows: number, isRefused: boolean) =>
        soon(async () => {
          const { body } = await call('GET', '/platform/classes/_syslogTriggers', {
            query: { where: { triggerId }, order: '-createdAt' },
          });
          assert.equal(body.results.length, rows);
          assert.equal(body.results[0].error?.includes('not allowed to access') ?? false, isRefused);
        }, 20_000);
      const made = [await note()];
      await ends(2, false);
      await hide();
      made.push(await note());
      await ends(3, true);
      await protect({});
      assertDone(await call('DELETE', `/platform/classes/_Trigger/${triggerId}`), 200, 'delete');
      for (const one of made) assertDone(await call('DELETE', `/platform/classes/_Timeline/${one}`), 200, 'delete');
    });

    test('words of the master that were made of a record cannot be changed by other callers, whether they may read them or not', async () => {
      await protect({});
      const [notice] = await list('_Notification', { where: about._Notification() });
      const of = `/platform/classes/_Notification/${notice?.objectId}`;
      const other = await newCaller(service, ['Admin']);
      await setRole(service, other.id, 'Admin');
      for (const { options } of [admin, other]) {
        const { body } = await call('PUT', of, { ...options, body: { Content: 'Pay here', Icon: 'javascript:1' } });
        assert.equal(body.code, 119);
      }
      // Clients send a record back as they read it.
      const { Content, User, Icon } = notice as Json;
      assertDone(await call('PUT', of, { ...admin.options, body: { Content, User, Icon } }), 200, 'sent back');
      await hide();
      for (const text of [Content, 'other']) {
        const { body } = await call('PUT', of, { ...admin.options, body: { Content: text } });
        assert.equal(body.code, 119, 'a guess is not told from the truth');
      }
      await protect({});
      assert.deepEqual((await list('_Notification', { where: about._Notification() }))[0]?.Content, Content);
    });

    test('rows that people make by themselves are theirs, and fields that exist for no caller cannot be named', async () => {
      const text = unique('by hand');
      const mail = await create('Emails', { Subject: text });
      await create('_Notification', { User: pointer('_User', admin.id), Content: text });
      await create('_Timeline', { event: 'note', data: { text } });
      for (const [holder, where] of [
        ['Emails', { Subject: text }],
        ['_Notification', { Content: text }],
        ['_Timeline', { 'data.text': text }],
      ] as const)
        assert.equal((await list(holder, { where })).length, 1, holder);
      for (const as of [admin.options, { as: 'master' as const }])
        for (const [holder, field] of [
          ['Emails', '_sources'],
          ['_syslogTriggers', '_class'],
          ['_Notification', '_sources'],
        ])
          assert.equal(
            (await call('GET', `/platform/classes/${holder}`, { ...as, query: { where: { [field as string]: 'x' } } })).body.code,
            119,
          );
      assert.equal((await call('PUT', `/platform/classes/Emails/${mail}`, { body: { _sources: 'x' } })).body.code, 119);
    });
  });
