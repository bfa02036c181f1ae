/** Passwords, tokens and internal fields of users are never returned, not even to the master key. Reference: system-tables.md#_user. */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import {
  assertRefused,
  type Caller,
  fieldDenied,
  forAll,
  makeTable,
  newCaller,
  setRules,
  strangers,
} from '../support/permissions.ts';
import { type Json, pointer } from '../support/records.ts';
import { type Answer, type CallOptions, type Service, sampledEngines } from '../support/service.ts';
import { sharedService } from '../support/shared.ts';
import { putBackRules } from './rules.ts';

const secretsOf: Record<string, string[]> = {
  _User: ['password', '_username_key', '_email_key', '_last_failed_login', '_reset_token', '_reset_expires_at'],
  _Session: ['sessionToken'],
  Accounts: ['_phone_key'],
};
const cases = Object.entries(secretsOf).flatMap(([table, secrets]) => secrets.map((secret) => [table, secret] as const));
/** Table with pointers to a user, a session and an account. */
const T = 'Pointing';
const pointers: Record<string, string> = { _User: 'user', _Session: 'session', Accounts: 'account' };

for (const engine of sampledEngines())
  describe(engine, () => {
    let service: Service | undefined;
    let caller: Caller;
    let sessionId: string;
    let accountId: string;
    let callers: [string, CallOptions][];
    const call = (method: string, path: string, options: CallOptions = {}) => (service as Service).call(method, path, options);

    before(async () => {
      service = await sharedService(engine);
    });
    putBackRules(() => service as Service, Object.keys(secretsOf));
    before(async () => {
      assert.ok(service);
      caller = await newCaller(service);
      await call('PUT', `/platform/users/${caller.id}`, { body: { email: 'person@example.com' } });
      for (const password of ['wrong', 'Wrong1Pass'])
        await call('POST', '/platform/login', { as: 'anonymous', body: { email: 'person@example.com', password } });
      await call('POST', '/platform/requestPasswordReset', { as: 'anonymous', body: { email: 'person@example.com' } });
      for (const table of Object.keys(secretsOf)) await setRules(service, table, forAll({ requiresAuthentication: true }));
      const { body } = await call('GET', '/platform/sessions', caller.options);
      sessionId = body.results[0].objectId;
      const account = await call('POST', '/platform/classes/Accounts', { body: { PhoneNumber: '050-1234567' } });
      accountId = account.body.objectId;
      const fields = { user: 'Pointer:_User', session: 'Pointer:_Session', account: 'Pointer:Accounts', list: 'Array' };
      await makeTable(service, T, fields, forAll({ requiresAuthentication: true }));
      const links = {
        user: pointer('_User', caller.id),
        session: pointer('_Session', sessionId),
        account: pointer('Accounts', accountId),
      };
      await call('POST', `/platform/classes/${T}`, { body: { ...links, list: Object.values(links) } });
      const { master, apiKey } = strangers(service);
      callers = [
        ['the master key', master.options],
        ['the API key', apiKey.options],
        ['the user', caller.options],
        ['another user', (await newCaller(service)).options],
      ];
    });

    /** Runs a check for every kind of caller. */
    const asEach = async (check: (options: CallOptions, who: string) => Promise<void>) => {
      for (const [who, options] of callers) await check(options, who);
    };

    function assertNoSecret(answer: Answer, what: string): void {
      assert.equal(answer.status, 200, `${what} ${answer.text}`);
      // The address of a user is "email", its key "_email_key".
      for (const secret of Object.values(secretsOf).flat())
        assert.ok(!answer.text.includes(`"${secret}":`), `${what}: ${secret}`);
      assert.doesNotMatch(answer.text, /\$argon2|r:[0-9a-f]{32}|0501234567/, what);
    }

    const reads: [path: string, query: Json][] = [
      ['/platform/users', {}],
      ['/platform/classes/_User', { include: '*' }],
      ['/platform/sessions', { include: 'user' }],
      ['/platform/classes/_Session', { includeAll: true }],
      ['/platform/classes/Accounts', {}],
      ['/platform/classes/Accounts', { include: '*', excludeKeys: 'Name' }],
      [`/platform/classes/${T}`, { include: 'user,session.user,account,list' }],
      [`/platform/classes/${T}`, { keys: 'user.username,session.user.email' }],
      ['/platform/classes-aggregate/_User', {}],
      ['/platform/classes-aggregate/_Session', {}],
      ['/platform/classes-aggregate/Accounts', {}],
      ['/platform/classes-aggregate/Accounts', { pipeline: [{ $addFields: { x: 1 } }] }],
      ['/platform/classes-aggregate/_User', { pipeline: [{ $addFields: { x: 1 } }] }],
      ['/platform/classes-aggregate/_Session', { pipeline: [{ $project: { createdAt: 0 } }] }],
      ['/platform/classes/_User', { excludeKeys: 'username' }],
    ];
    for (const [path, query] of reads)
      test(`no secret in GET ${path} ${JSON.stringify(query)}`, () =>
        asEach(async (options, who) => assertNoSecret(await call('GET', path, { ...options, query }), who)));

    test('no secret in a user, an account or a session that is read alone', () =>
      asEach(async (options, who) => {
        for (const path of [
          `/platform/users/${caller.id}`,
          `/platform/classes/_User/${caller.id}`,
          `/platform/classes/Accounts/${accountId}`,
        ])
          assertNoSecret(await call('GET', path, options), `${who} ${path}`);
        // Sessions are visible to their user and to keys.
        if (who === 'another user') return;
        assertNoSecret(await call('GET', `/platform/sessions/${sessionId}`, { ...options, query: { include: 'user' } }), who);
        if (who === 'the user') assertNoSecret(await call('GET', '/platform/sessions/me', options), who);
      }));

    const naming = (secret: string): [method: string, query: Json, aggregate?: 'aggregate'][] => [
      ...[
        null,
        'x',
        { $exists: true },
        { $ne: '' },
        { $regex: '^a' },
        { $gt: '' },
        { $in: ['x'] },
        { $not: { $eq: 'x' } },
      ].flatMap((constraint): [string, Json, 'aggregate'?][] => [
        ['GET', { where: { [secret]: constraint } }],
        ['GET', { where: { [secret]: constraint }, count: 1, limit: 0 }],
        ['GET', { pipeline: [{ $match: { [secret]: constraint } }] }, 'aggregate'],
      ]),
      ['GET', { where: { $or: [{ objectId: 'x' }, { [secret]: 'x' }] } }],
      ['GET', { where: { [`${secret}.a`]: 'x' } }],
      ['GET', { order: secret }],
      ['GET', { order: `-createdAt,-${secret}` }],
      ['GET', { keys: secret }],
      ['GET', { keys: `username,${secret}` }],
      ['GET', { include: secret }],
      ...[
        [{ $group: { _id: `$${secret}` } }],
        ...['$first', '$last', '$push', '$addToSet', '$min', '$max'].map((operator) => [
          { $group: { _id: null, v: { [operator]: `$${secret}` } } },
        ]),
        [{ $project: { [secret]: 1 } }],
        [{ $project: { v: `$${secret}` } }],
        [{ $project: { v: { $concat: [`$${secret}`, ''] } } }],
        [{ $addFields: { v: { $eq: [`$${secret}`, 'x'] } } }],
        [{ $sort: { [secret]: 1 } }],
        [{ $limit: 1 }, { $match: { [secret]: { $exists: true } } }],
        [{ $unwind: `$${secret}` }],
      ].map((pipeline): [string, Json, 'aggregate'] => ['GET', { pipeline }, 'aggregate']),
      ...[{ group: { _id: `$${secret}` } }, { project: secret }, { sort: secret }].map((query): [string, Json, 'aggregate'] => [
        'GET',
        query,
        'aggregate',
      ]),
    ];

    for (const [table, secret] of cases)
      test(`${table}.${secret} cannot be asked about, by any caller`, () =>
        asEach(async (options, who) => {
          for (const [method, query, aggregate] of naming(secret)) {
            const path = `/platform/${aggregate ? 'classes-aggregate' : 'classes'}/${table}`;
            const answer = await call(method, path, { ...options, query });
            const what = `${who} ${JSON.stringify(query)}`;
            const place = query.where?.[`${secret}.a`] === undefined ? secret : `${secret}.a`;
            assertRefused(answer, fieldDenied(place, table), what);
          }
          const pointed = pointers[table] as string;
          for (const where of [
            { [pointed]: { $inQuery: { className: table, where: { [secret]: { $exists: true } } } } },
            { objectId: { $select: { query: { className: table }, key: secret } } },
            { objectId: { $dontSelect: { query: { className: table, where: {} }, key: secret } } },
          ])
            assertRefused(
              await call('GET', `/platform/classes/${T}`, { ...options, query: { where } }),
              fieldDenied(secret, table),
              who,
            );
          assertRefused(
            await call('GET', `/platform/classes/${table}/${caller.id}`, { ...options, query: { keys: secret } }),
            fieldDenied(secret, table),
            who,
          );
        }));

    for (const [table, secret] of cases.filter(([, name]) => name !== 'password'))
      test(`${table}.${secret} is no field that anybody writes`, async () => {
        const paths: Record<string, string> = {
          _User: `/platform/users/${caller.id}`,
          _Session: `/platform/sessions/${sessionId}`,
          Accounts: `/platform/classes/Accounts/${accountId}`,
        };
        const path = paths[table] as string;
        const before = (await call('GET', path)).text;
        for (const as of ['master', 'apiKey'] as const)
          for (const value of [
            'x',
            null,
            { __op: 'Delete' },
            { __op: 'SetOnInsert', amount: 'x' },
            { __op: 'Add', objects: ['x'] },
          ])
            assertRefused(await call('PUT', path, { as, body: { [secret]: value } }), fieldDenied(secret, table), as);
        if (table === '_User') {
          const body = { username: `new-${secret}`, password: 'Right1Pass', [secret]: 'x' };
          assertRefused(await call('POST', '/platform/users', { body }), fieldDenied(secret, table), 'sign-up');
        }
        if (table === 'Accounts') {
          const body = { PhoneNumber: '1', [secret]: 'x' };
          assertRefused(await call('POST', '/platform/classes/Accounts', { body }), fieldDenied(secret, table), 'create');
        }
        assert.equal((await call('GET', path)).text, before);
      });

    test('a password is written as a password only: no operator, no place inside it, no answer that shows it', async () => {
      const path = `/platform/users/${caller.id}`;
      for (const password of [{ __op: 'SetOnInsert', amount: 'Right1Pass' }, { __op: 'Delete' }, null, 5, ['Right1Pass']])
        assert.equal((await call('PUT', path, { body: { password } })).status, 400, JSON.stringify(password));
      assert.equal((await call('PUT', path, { body: { 'password.a': 'x' } })).body.code, 119);
      const { body } = await call('POST', '/platform/users', { body: { username: 'someone-else', password: 'Right1Pass' } });
      const changed = await call('PUT', `/platform/users/${body.objectId}`, { body: { password: 'Other2Pass' } });
      assert.deepEqual(Object.keys(changed.body).sort(), ['objectId', 'updatedAt']);
    });

    test('schemas show password with its type, and no other secret', async () => {
      const { body } = await call('GET', '/platform/schemas', { query: { withDictionary: true } });
      for (const one of Object.keys(secretsOf)) {
        const schema = await call('GET', `/platform/schemas/${one}`);
        const listed = body.results.find(({ className }: Json) => className === one);
        for (const { fields } of [schema.body, listed])
          assert.deepEqual(
            Object.keys(fields).filter((name) => secretsOf[one]?.includes(name)),
            one === '_User' ? ['password'] : [],
          );
        assert.ok(one !== '_User' || schema.body.fields.password.type === 'String');
      }
    });

    for (const [table, secret] of cases)
      test(`schemas index, search, protect and drop no ${table}.${secret}`, async () => {
        const before = (await call('GET', `/platform/schemas/${table}`)).text;
        for (const body of [
          { indexes: { probe: { [secret]: 1 } } },
          { indexes: { probe: { createdAt: 1, [secret]: -1 } } },
          { textIndex: [secret] },
          { textIndex: ['username', secret] },
          { fields: { [secret]: { __op: 'Delete' } } },
          { fields: { [secret]: { type: 'Number' } } },
          ...(secret.startsWith('_') ? [{ fields: { [secret]: { type: 'String' } } }] : []),
          ...(secret === 'password' ? [] : [{ classLevelPermissions: { protectedFields: { '*': [secret] } } }]),
        ])
          for (const as of ['master', 'apiKey'] as const) {
            const answer = await call('PUT', `/platform/schemas/${table}`, { as, body });
            assert.deepEqual(
              [answer.status, [105, 107, 136, 255].includes(answer.body.code)],
              [400, true],
              `${JSON.stringify(body)} ${answer.text}`,
            );
          }
        assert.equal((await call('GET', `/platform/schemas/${table}`)).text, before);
        const login = await call('POST', '/platform/login', {
          as: 'anonymous',
          body: { email: 'person@example.com', password: 'Right1Pass' },
        });
        assert.equal(login.status, 200, 'and users still sign in');
      });
  });
