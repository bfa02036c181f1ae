/** `POST import/{Table}`: what ends an import before its last row, or prevents it. Reference: import.md#import-jobs. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { defineTable, onEachEngine, type Row, tableName } from '../../support/query.ts';
import type { Service } from '../../support/service.ts';
import { command, printed, succeed } from '../../systems/cli.ts';
import { type Call, counts, ended, imported, newUser, rejectedOf, send } from './import-jobs.ts';
import { fileOf } from './importing.ts';

const ndjson = { 'content-type': 'application/x-ndjson' };
const LIMIT = 1_048_576;
/** Enough that a job is still running when its first rows are done. */
const ROWS = 40_000;

/** Starts a long job, runs an action once its first rows are done, and waits for its end. */
async function during(service: Service, table: string, call: Call, act: () => Promise<void>): Promise<Row> {
  const { status, body } = await send(service, table, `Name\n${'x\n'.repeat(ROWS)}`, call);
  assert.equal(status, 202, JSON.stringify(body));
  while (!((await service.call('GET', `/platform/jobs/${body.job}`)).body.done > 0)) await wait(10);
  await act();
  return ended(service, body.job);
}

async function assertBrokenOff(service: Service, table: string, job: Row, error: RegExp): Promise<void> {
  assert.equal(job.state, 'failed', JSON.stringify(job));
  assert.match(String(job.error), error);
  const { done, created, rejected, of } = job as Record<string, number>;
  assert.deepEqual([of, rejected, done], [ROWS, 0, created]);
  assert.ok((created ?? 0) > 0 && (created ?? 0) < ROWS);
  const { body } = await service.call('GET', `/platform/classes/${table}`, { query: { count: 1, limit: 0 } });
  assert.equal(body.count, created);
}

onEachEngine((get) => {
  test('Import job: a row that is too long is reported with its number and the limit', async () => {
    const table = tableName('Long');
    await defineTable(get(), table, { Name: 'String' });
    const long = 'x'.repeat(LIMIT);
    for (const [unit, at, text, headers] of [
      ['row', 3, `Name\nfirst\n${long}x\nlast\n`, { 'content-type': 'text/csv' }],
      ['line', 2, `{"Name":"first"}\n{"Name":"${long}"}\n{"Name":"last"}\n`, ndjson],
    ] as const) {
      const job = await imported(get(), table, text, { headers });
      assert.deepEqual(counts(job), ['done', 3, 3, 2, 0, 1], JSON.stringify(job));
      const error = `The ${unit} ${at} is too long: it may have ${LIMIT} characters.`;
      assert.deepEqual(await rejectedOf(get(), job), [{ line: at, code: 116, error, row: null }]);
    }
  });

  test('Import job: an upload that the client breaks off is not logged as a fault', async () => {
    const table = tableName('Aborted');
    await defineTable(get(), table, { Name: 'String' });
    const before = get().output().length;
    const headers = {
      ...{ 'content-type': 'text/csv', 'x-platform-application-id': get().appId, 'x-platform-master-key': get().masterKey },
      'user-agent': table,
    };
    const sent = request(`${get().url}/platform/import/${table}`, { method: 'POST', headers });
    sent.on('error', () => {});
    sent.write('Name\n');
    sent.write('x\n'.repeat(100_000));
    await wait(300);
    sent.destroy();
    const logged = async () =>
      (await get().call('GET', '/platform/classes/_RequestLog', { query: { where: { userAgent: table } } })).body.results;
    let rows = await logged();
    for (; rows.length === 0; rows = await logged()) await wait(100);
    assert.equal(rows[0].statusCode, 400);
    const lines = get().output().slice(before).split('\n');
    const alarming = lines.filter((line) => /"level":(?:40|50|60)/.test(line) && /import|request failed|aborted/.test(line));
    assert.deepEqual(alarming, []);
  });

  test('Import job: one whose user loses the role that permits the import fails, and reports its progress', async () => {
    const owner = await newUser(get());
    const [table, role] = [tableName('Roles'), tableName('role')];
    const member = (op: string) => ({
      users: { __op: op, objects: [{ __type: 'Pointer', className: '_User', objectId: owner.id }] },
    });
    const made = await get().call('POST', '/platform/roles', { body: { name: role, ...member('AddRelation') } });
    assert.equal(made.status, 201, made.text);
    await defineTable(get(), table, { Name: 'String' }, { classLevelPermissions: { create: { [`role:${role}`]: true } } });
    const job = await during(get(), table, { session: owner.session }, async () => {
      const path = `/platform/roles/${made.body.objectId}`;
      const left = await get().call('PUT', path, { body: member('RemoveRelation') });
      assert.equal(left.status, 200, left.text);
    });
    await assertBrokenOff(get(), table, job, new RegExp(`^Permission denied for action create on class ${table}`));
  });

  test('Import job: one whose API key is revoked fails, and reports its progress', async () => {
    const [table, key] = [tableName('Keyed'), tableName('key')];
    await defineTable(get(), table, { Name: 'String' });
    const about = ['--system', get().appId, '--name', key];
    const apiKey = printed(await succeed(get(), 'key', 'add', ...about), /key/i);
    // The service learns of the key with a short delay.
    while ((await send(get(), table, 'Name\nx\n', { apiKey, query: { dryRun: true } })).status !== 202) await wait(50);
    const job = await during(get(), table, { apiKey }, async () => {
      await succeed(get(), 'key', 'revoke', ...about);
    });
    await assertBrokenOff(get(), table, job, /^the key that asked for the import was revoked$/);
  });

  test('Import: NaN and Infinity of mongoexport are refused row by row, in words', async () => {
    const table = tableName('Numbers');
    await defineTable(get(), table, { n: 'Number' });
    const values = [
      { $numberDouble: 'NaN' },
      { $numberDouble: 'Infinity' },
      { $numberDouble: '-Infinity' },
      { $numberDecimal: 'NaN' },
    ];
    const documents = [{ $numberDouble: '1.5' }, ...values].map((n, at) => JSON.stringify({ _id: `id${at}`, n }));
    const text = `${[...documents, '{"_id":"bare","n":NaN}'].join('\n')}\n`;
    const job = await imported(get(), table, text, { query: { format: 'mongoexport' } });
    assert.deepEqual(counts(job), ['done', 6, 6, 1, 0, 5], JSON.stringify(job));
    const rejected = await rejectedOf(get(), job);
    for (const { code, error } of rejected.slice(0, 4))
      assert.deepEqual([code, error], [107, 'Invalid row: n: NaN and Infinity are no numbers here']);
    assert.equal(rejected[4]?.code, 107);
    const options = ['--system', get().appId, '--table', table, '--file', await fileOf(text, 'json'), '--format', 'mongoexport'];
    const { stderr } = await command(get(), 'import', ...options);
    for (const at of [2, 3, 4, 5])
      assert.match(stderr, new RegExp(`${at}: 107: Invalid row: n: NaN and Infinity are no numbers here`));
  });
});
