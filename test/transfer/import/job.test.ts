/** `POST import/{Table}`: imports as jobs. Reference: import.md#import-jobs. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { create, defineTable, find, onEachEngine, type Row, tableName } from '../../support/query.ts';
import { type Call, counts, ended, imported, newUser, send } from './import-jobs.ts';

onEachEngine((get) => {
  const fields = { Name: 'String', Num: 'Number' };
  const table = async (more: Row = {}) => {
    const name = tableName('Job');
    await defineTable(get(), name, fields, more);
    return name;
  };

  test('Import job: a field that is dropped in the middle of it ends it, and is not created again', async () => {
    const name = await table();
    const rows = Array.from({ length: 20_000 }, (_, n) => `row ${n},${n}`);
    const { body } = await send(get(), name, `Name,Num\n${rows.join('\n')}\n`);
    for (;;) {
      const job = (await get().call('GET', `/platform/jobs/${body.job}`)).body;
      assert.equal(job.state, 'running');
      if (job.created > 0) break;
      await wait(10);
    }
    const dropped = { className: name, fields: { Num: { __op: 'Delete' } } };
    assert.equal((await get().call('PUT', `/platform/schemas/${name}`, { body: dropped })).status, 200);
    const job = await ended(get(), body.job);
    assert.deepEqual([job.state, job.error], ['failed', `the field Num of ${name} was dropped during the import`]);
    assert.equal((await get().call('GET', `/platform/schemas/${name}`)).body.fields.Num, undefined);
    const { count } = (await get().call('GET', `/platform/classes/${name}`, { query: { count: 1, limit: 0 } })).body;
    assert.equal(count, job.created);
  });

  test('Import job: of three bodies that arrive at the same moment one is 429 with Retry-After', async () => {
    const name = await table();
    const url = new URL(`${get().url}/platform/import/${name}`);
    const headers = {
      'content-type': 'text/csv',
      'x-platform-application-id': get().appId,
      'x-platform-master-key': get().masterKey,
    };
    const bodies = ['a', 'b', 'c'].map((row) => {
      const sent = request(url, { method: 'POST', headers, agent: false });
      sent.write('Name\n');
      const answer = once(sent, 'response').then(async ([response]) => {
        const text = Buffer.concat(await response.toArray()).toString();
        return { row, status: response.statusCode, retryAfter: response.headers['retry-after'], body: JSON.parse(text) };
      });
      return { row, sent, answer };
    });
    const { row, ...refused } = await Promise.race(bodies.map(({ answer }) => answer));
    assert.deepEqual(refused, {
      status: 429,
      retryAfter: '30',
      body: { code: 155, error: 'Too many requests. Try again later.' },
    });
    for (const { sent, answer } of bodies.filter((one) => one.row !== row)) {
      sent.end('x\n');
      const { status, body } = await answer;
      assert.equal(status, 202);
      await ended(get(), body.job);
    }
    assert.equal((await find(get(), name)).length, 2);
  });

  test('Import job: rows become records, in order; refused rows are at rejectedUrl', async () => {
    const name = await table();
    const rows = Array.from({ length: 400 }, (_, n) => `row ${n},${n % 90 === 7 ? 'x' : n}`);
    const job = await imported(get(), name, `Name,Num\n${rows.join('\n')}\n`);
    assert.deepEqual(counts(job), ['done', 400, 400, 395, 0, 5]);
    const found = await find(get(), name, { limit: 1_000 });
    assert.equal(found.length, 395);
    assert.deepEqual(
      found.slice(0, 3).map((row) => row.Name),
      ['row 0', 'row 1', 'row 2'],
    );
    const url = new URL(String(job.rejectedUrl));
    const { status, text } = await get().call('GET', url.pathname);
    const rejected = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.equal(status, 200);
    assert.deepEqual(
      rejected.map(({ line, code }) => [line, code]),
      [9, 99, 189, 279, 369].map((line) => [line, 111]),
    );
    assert.deepEqual(rejected[0].row, { Name: 'row 7', Num: 'x' });
  });

  test('Import job: matchOn, dryRun, newFields, map, NDJSON', async () => {
    const name = await table();
    await create(get(), name, { Name: 'a', Num: 1 });
    const text = 'Name,Num\na,2\nb,3\nb,4\nc,x\n';
    const dry = await imported(get(), name, text, { query: { matchOn: 'Name', dryRun: true } });
    assert.deepEqual(counts(dry), ['done', 4, 4, 1, 2, 1]);
    assert.equal((await find(get(), name)).length, 1);
    const real = await imported(get(), name, text, { query: { matchOn: 'Name' } });
    assert.deepEqual(counts(real), counts(dry));
    assert.deepEqual(
      (await find(get(), name, { order: 'Name' })).map(({ Name, Num }) => [Name, Num]),
      [
        ['a', 2],
        ['b', 4],
      ],
    );
    const lines = '{"Title":"n","Extra":true,"Note":1}\n';
    const query = { newFields: true, map: { Title: 'Name', Note: null } };
    const json = await imported(get(), name, lines, { query, headers: { 'content-type': 'application/x-ndjson' } });
    assert.deepEqual(counts(json), ['done', 1, 1, 1, 0, 0]);
    const [row] = await find(get(), name, { where: { Name: 'n' } });
    assert.deepEqual([row?.Extra, row?.Note], [true, undefined]);
    const failed = await imported(get(), name, 'Nmae\nx\n');
    assert.deepEqual([failed.state, failed.created], ['failed', 0]);
    assert.match(String(failed.error), /has no field "Nmae" \(perhaps Name\)/);
  });

  test('Import job: a line that is nested too deep is one refused row, reported as its text', async () => {
    const name = await table({});
    const bomb = `{"Name":${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}}`;
    const shapes = [
      ['ndjson', `${bomb}\n{"Name":"after"}\n`],
      ['json', `[${bomb},{"Name":"after"}]`],
      ['parse', `{"results":[${bomb},{"Name":"after"}]}`],
      ['mongoexport', `${bomb}\n{"Name":"after"}\n`],
    ];
    for (const [format, text] of shapes) {
      const job = await imported(get(), name, text ?? '', { query: { format } });
      assert.deepEqual(counts(job), ['done', 2, 2, 1, 0, 1], JSON.stringify(job));
      const rejected = await get().call('GET', new URL(String(job.rejectedUrl)).pathname);
      const { code, row } = JSON.parse(rejected.text);
      assert.deepEqual([code, row], [107, bomb]);
    }
  });

  test('Import job: an error in a request is answered at once, not as a failed job', async () => {
    const name = await table();
    const refused = async (to: string, call: Call, status: number, code: number, content = 'Name\nx\n') => {
      const answer = await send(get(), to, content, call);
      assert.deepEqual([answer.status, answer.body.code], [status, code], JSON.stringify([to, call, answer.body]));
    };
    for (const closed of ['_Timeline', '_RequestLog', '_syslogTriggers', '_GeneralLogs', '_AdminLog', '_Session', '_ImportJob'])
      await refused(closed, {}, 400, 119);
    await refused(`${name}s`, {}, 400, 103);
    await refused('1x', {}, 400, 103);
    await refused(name, { query: { dateOrder: 'ddmm' } }, 400, 102);
    await refused(name, { query: { format: 'xls' } }, 400, 102);
    await refused(name, { query: { dryRun: 'perhaps' } }, 400, 102);
    await refused(name, { query: { match: 'Name' } }, 400, 102);
    await refused(name, { query: { matchOn: 'Nmae' } }, 400, 102);
    await refused(name, { query: { map: [1] } }, 400, 102);
    await refused(name, { query: { map: '{' } }, 400, 107);
    await refused(name, { query: { encoding: 'nothing' } }, 400, 102);
    await refused(name, {}, 400, 130, '');
    assert.equal((await get().call('GET', '/platform/jobs/nothing')).status, 404);
  });

  test('Import job: a session user imports only what the permissions allow, and sees only own jobs', async () => {
    const owner = await newUser(get());
    const other = await newUser(get());
    const closed = await table();
    const denied = await send(get(), closed, 'Name\nx\n', { session: owner.session });
    assert.deepEqual([denied.status, denied.body.code], [400, 119]);
    const open = await table({ classLevelPermissions: { create: { '*': true }, find: { '*': true }, get: { '*': true } } });
    const job = await imported(get(), open, 'Name\nx\n', { session: owner.session });
    assert.deepEqual(counts(job), ['done', 1, 1, 1, 0, 0]);
    const [row] = await find(get(), open);
    assert.deepEqual(row?.createdBy, { __type: 'Pointer', className: '_User', objectId: owner.id });
    for (const [session, status] of [
      [owner.session, 200],
      [other.session, 404],
    ] as const)
      for (const path of [`/platform/jobs/${job.id}`, `/platform/jobs/${job.id}/rejected`])
        assert.equal((await get().call('GET', path, { session })).status, status, path);
    const times = await send(get(), open, 'Name\nx\n', { session: owner.session, query: { keepTimes: true } });
    assert.deepEqual([times.status, times.body.code], [400, 102]);
    const matched = await send(get(), open, 'Name\nx\n', { session: owner.session, query: { matchOn: 'Name' } });
    assert.deepEqual([matched.status, matched.body.code], [400, 119]);
    const fresh = await imported(get(), open, 'Name,Fresh\ny,1\n', { session: owner.session, query: { newFields: true } });
    assert.deepEqual(counts(fresh), ['done', 1, 1, 0, 0, 1]);
  });

  test('Import job: one whose user is blocked while it runs fails, and imported rows stay', async () => {
    const owner = await newUser(get());
    const open = await table({ classLevelPermissions: { create: { '*': true } } });
    const rows = 20_000;
    const { body } = await send(get(), open, `Name\n${'x\n'.repeat(rows)}`, { session: owner.session });
    const path = `/platform/jobs/${body.job}`;
    while (!((await get().call('GET', path)).body.done > 0)) await wait(10);
    assert.equal((await get().call('PUT', `/platform/classes/_User/${owner.id}`, { body: { active: false } })).status, 200);
    const job = await ended(get(), body.job);
    assert.deepEqual([job.state, job.error], ['failed', 'the user who asked for the import is gone or not active']);
    const { body: count } = await get().call('GET', `/platform/classes/${open}`, { query: { count: 1, limit: 0 } });
    assert.ok(Number(job.created) < rows);
    assert.equal(count.count, job.created);
  });
});
