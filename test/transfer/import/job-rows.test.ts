/** `POST import/{Table}`: rows have the same result as with the command. Reference: import.md#rejected-rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { defineTable, find, tableName } from '../../support/query.ts';
import type { Service } from '../../support/service.ts';
import { command } from '../../systems/cli.ts';
import { onSampledEngine } from '../sampled.ts';
import { counts, imported, rejectedOf } from './import-jobs.ts';
import { fileOf, line } from './importing.ts';

const ndjson = { 'content-type': 'application/x-ndjson' };
const linesOf = (rows: readonly unknown[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

const password = 'A-long-password-1';
const refused = (name: string): [string, 'refused'] => [name, 'refused'];
const run = (service: Service, ...options: string[]) => command(service, 'import', '--system', service.appId, ...options);

onSampledEngine((get) => {
  test('Import job: a rejected row of a user is kept without the password, under any column name', async () => {
    const [taken, other] = [tableName('user'), tableName('user')];
    const secret = 'A-secret-password-1';
    const call = { query: { map: { Kennwort: 'password' } } };
    const lines = [`${taken},${secret}`, `${taken},${secret}`, `${other},${secret},more`, `${taken},'=${secret}`];
    const job = await imported(get(), '_User', ['username,Kennwort', ...lines, ''].join('\n'), call);
    assert.deepEqual(counts(job), ['done', 4, 4, 1, 0, 3]);
    const rejected = await rejectedOf(get(), job);
    assert.deepEqual(
      rejected.map(({ line, row }) => [line, row]),
      [
        [3, { username: taken }],
        [4, null],
        [5, { username: taken }],
      ],
    );
    assert.ok(!JSON.stringify(rejected).includes(secret));
    const documents = ['Kennwort', 'password', 'sessionToken'].map((name) => ({
      username: taken,
      [name]: secret,
    }));
    const text = `{"username":"${other}","Kennwort":"${secret}"\n${linesOf(documents)}`;
    const jsonJob = await imported(get(), '_User', text, { query: { ...call.query, newFields: true }, headers: ndjson });
    assert.deepEqual(counts(jsonJob), ['done', 4, 4, 0, 0, 4], JSON.stringify(jsonJob));
    const ofJson = await rejectedOf(get(), jsonJob);
    assert.deepEqual(
      ofJson.map(({ row }) => row),
      [null, ...documents.map(() => ({ username: taken }))],
    );
    const hash = linesOf([{ username: taken, _hashed_password: secret }]);
    const ofServer = await imported(get(), '_User', hash, { query: { newFields: true }, headers: ndjson });
    assert.deepEqual(
      (await rejectedOf(get(), ofServer)).map(({ row }) => row),
      [{ username: taken }],
    );
  });

  test('Import job: a dry run judges rows by the fields that rows long before them would have made', async () => {
    const rows = Array.from({ length: 300 }, (_, n) => ({
      Name: `row ${n}`,
      ...(n === 0 && { First: 1 }),
      ...(n === 60 && { Later: { __type: 'Pointer', className: '_User', objectId: 'somebody00' } }),
      ...(n === 130 && { First: 'no number' }),
      ...(n === 200 && { First: 2, Later: 'no pointer' }),
      ...(n === 201 && { First: 3, Later: { __type: 'Pointer', className: '_Role', objectId: 'somerole00' } }),
      ...(n === 299 && { First: { a: 1 } }),
    }));
    for (const isThere of [true, false]) {
      const table = tableName('Grown');
      if (isThere) await defineTable(get(), table, { Name: 'String' });
      const rejections: unknown[] = [];
      for (const dryRun of [true, true, false]) {
        const job = await imported(get(), table, linesOf(rows), { query: { newFields: true, dryRun }, headers: ndjson });
        assert.deepEqual(counts(job), ['done', 300, 300, 296, 0, 4], JSON.stringify([dryRun, await rejectedOf(get(), job)]));
        const rejected = await rejectedOf(get(), job);
        assert.deepEqual(
          rejected.map(({ line, code }) => [line, code]),
          [131, 201, 202, 300].map((line) => [line, 111]),
        );
        rejections.push(rejected);
        const { body } = await get().call('GET', `/platform/schemas/${table}`);
        assert.equal(body.fields?.First?.type, dryRun ? undefined : 'Number', JSON.stringify(body));
      }
      assert.deepEqual(rejections[0], rejections[2]);
      assert.deepEqual(rejections[1], rejections[2]);
      assert.equal((await find(get(), table, { limit: 1_000 })).length, 296);
    }
  });

  test('Import: what servers store of a user becomes neither a field nor a token, by the command and over HTTP', async () => {
    const secret = 'kept-by-the-server';
    const cases: [name: string, outcome: 'leftOut' | 'refused', value?: unknown][] = [
      ['sessionToken', 'leftOut'],
      ['bcryptPassword', 'leftOut'],
      ['authData', 'leftOut', { google: { id: secret } }],
      ['sessionToken.part', 'leftOut'],
      ...['_session_token', '_hashed_password', '_auth_data_google', '_perishable_token', '_email_verify_token'].map(refused),
      ...['_password_history', '_account_lockout_expires_at', '_tombstone', '_rperm', '_wperm', '_acl'].map(refused),
      ...['_reset_token', '_username_key', '_email_key', '_last_failed_login', '_imported_hash'].map(refused),
    ];
    const rows = cases.map(([name, , value = secret]) => ({ username: tableName('user'), password, [name]: value }));
    const query = { newFields: true };
    const job = await imported(get(), '_User', linesOf(rows), { query, headers: ndjson });
    const notTakenOver = { sessionToken: 2, bcryptPassword: 1, authData: 1 };
    assert.deepEqual([...counts(job), job.notTakenOver], ['done', 20, 20, 4, 0, 16, notTakenOver], JSON.stringify(job));
    for (const [at, [name, outcome]] of cases.entries()) {
      const where = { username: rows[at]?.username };
      const found = await find(get(), '_User', { where });
      assert.equal(found.length, outcome === 'leftOut' ? 1 : 0, name);
      assert.doesNotMatch(JSON.stringify(found), new RegExp(secret));
      if (outcome === 'refused') continue;
      const login = await get().call('GET', '/platform/login', { query: { ...where, password } });
      assert.equal(login.status, 200, name);
      assert.doesNotMatch(login.text, new RegExp(secret));
    }
    const me = await get().call('GET', '/platform/users/me', { session: secret });
    assert.deepEqual([me.status, me.body.code], [400, 209]);
    const csv = `username,password,sessionToken,bcryptPassword,secret\n${tableName('user')},${password},${secret},${secret},${secret}\n`;
    const map = { secret: 'authData' };
    const ofCsv = await imported(get(), '_User', csv, { query: { ...query, map } });
    assert.deepEqual([...counts(ofCsv), ofCsv.notTakenOver], ['done', 1, 1, 1, 0, 0, { ...notTakenOver, sessionToken: 1 }]);
    const fresh = rows.map((row) => ({ ...row, username: tableName('user') }));
    const file = await fileOf(linesOf(fresh), 'ndjson');
    const printed = await run(get(), '--table', '_User', '--file', file, '--new-fields');
    assert.equal(printed.stdout, line(4, 0, 16), printed.stderr);
    for (const [name, count] of Object.entries(notTakenOver))
      assert.match(printed.stderr, new RegExp(`^${name} of ${count} lines? was not taken over$`, 'm'));
    const { body } = await get().call('GET', '/platform/schemas/_User');
    for (const name of Object.keys(notTakenOver)) assert.equal(body.fields[name], undefined, name);
  });
});
