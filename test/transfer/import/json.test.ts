/** `record-service import` of JSON: a record for each row of a file, with or without a running service. Reference: import.md#import-command. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { temporary } from '../../edge/process.ts';
import { dataForTest } from '../../support/data.ts';
import { defineTable, find, onEachEngine, pointer, type Row, tableName } from '../../support/query.ts';
import { compileCache, engines, type Service } from '../../support/service.ts';
import { afterCommand } from '../../support/soon.ts';
import { command } from '../../systems/cli.ts';
import { run, done as succeeded } from '../backups.ts';

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const directory = await temporary();
let files = 0;

async function fileOf(text: string): Promise<string> {
  const file = join(directory, `${++files}.ndjson`);
  await writeFile(file, text);
  return file;
}

const linesOf = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** Imports a text into a table of the service's system. */
async function importText(service: Service, table: string, text: string, ...options: string[]) {
  return command(service, 'import', '--system', service.appId, '--table', table, '--file', await fileOf(text), ...options);
}

const done = (created: number, rejected = 0) =>
  `${created + rejected} rows: ${created} created, 0 updated, ${rejected} rejected\n`;

function assertOneLine(stderr: string, says: RegExp): void {
  assert.match(stderr, says);
  assert.equal(stderr.trim().split('\n').length, 1, stderr);
}

onEachEngine((get) => {
  test('Import: every line becomes a record, in order, with the types of a POST', async () => {
    const table = tableName('Import');
    const rows = [
      { objectId: 'own id', s: 'שלום 😀', n: 1.5, b: false, o: { a: [1, null] } },
      { s: 'second', d: { __type: 'Date', iso: '2024-05-06T07:08:09.010Z' }, p: pointer('_User', 'u1') },
      { s: { __op: 'SetOnInsert', amount: 'third' }, list: { __op: 'AddUnique', objects: [1, 1, 2] } },
    ];
    const [first, second, third] = rows.map((row) => JSON.stringify(row));
    const text = `\uFEFF${first}\r\n\n   \n${second}\n${third}`;
    const { code, stdout, stderr } = await importText(get(), table, text, '--new-fields', '--keep-times');
    assert.deepEqual([code, stdout, stderr.includes('rejected')], [0, done(3), false]);
    const found = await find(get(), table);
    assert.deepEqual(
      found.map(({ s, n, b, o, d, p, list }) => [s, n, b, o, d, p, list]),
      [
        ['שלום 😀', 1.5, false, { a: [1, null] }, undefined, undefined, undefined],
        ['second', undefined, undefined, undefined, rows[1]?.d, rows[1]?.p, undefined],
        ['third', undefined, undefined, undefined, undefined, undefined, [1, 2]],
      ],
    );
    assert.equal(found[0]?.objectId, 'own id');
    assert.match(String(found[1]?.objectId), /^[0-9A-Za-z]{10}$/);
    assert.deepEqual(found[1]?.createdBy, pointer('_User', 'master'));
  });

  test('Import: a refused line is reported with its number, code and text; the others are imported', async () => {
    const table = tableName('Import');
    await defineTable(get(), table, { n: 'Number' });
    const text = [
      '{"n":1}',
      '{"n":"x"}',
      '',
      'not json',
      '[1]',
      '{"objectId":"same"}',
      '{"objectId":"same"}',
      '{"1x":1}',
      '{"n":2}',
    ];
    const { code, stdout, stderr } = await importText(get(), table, text.join('\n'), '--new-fields', '--keep-times');
    assert.deepEqual([code, stdout], [2, done(3, 5)]);
    const refused = stderr.split('\n').filter((line) => line.startsWith('line '));
    const expected = [
      `line 2: 111: schema mismatch for ${table}.n; expected Number but got String`,
      'line 4: 107: ',
      'line 5: 107: ',
      'line 7: 137: A duplicate value for a field with unique values was provided',
      'line 8: 105: Invalid field name: 1x',
    ];
    assert.equal(refused.length, expected.length, stderr);
    for (const [index, line] of expected.entries()) assert.ok(refused[index]?.startsWith(line), stderr);
    assert.deepEqual(
      (await find(get(), table)).map((row) => row.n),
      [1, undefined, 2],
    );
  });

  test('Import: of many refused lines the first 20 are reported', async () => {
    const table = tableName('Import');
    const { code, stdout, stderr } = await importText(get(), table, 'x\n'.repeat(50), '--new-fields');
    assert.deepEqual([code, stdout], [2, done(0, 50)]);
    assert.equal(stderr.match(/^line \d+: 107: /gm)?.length, 20, stderr);
    assert.equal((await get().call('GET', `/platform/schemas/${table}`)).status, 400);
  });

  for (const more of [['--new-fields'], []])
    test(`Import: - reads the standard input ${more}`, async () => {
      const table = tableName('Import');
      if (more.length === 0) await defineTable(get(), table, { n: 'Number' });
      const args = [main, 'import', '--system', get().appId, '--table', table, '--file', '-', ...more];
      const child = spawn(process.execPath, args, {
        cwd: get().dataDir,
        env: { PATH: process.env.PATH ?? '', ...compileCache, ...get().settings },
        stdio: ['pipe', 'pipe', 'inherit'],
      });
      let output = '';
      child.stdout.on('data', (chunk: Buffer) => {
        output += chunk.toString();
      });
      child.stdin.end(linesOf([{ n: 1 }, { n: 2 }]));
      const [code] = await once(child, 'close');
      assert.deepEqual([code, output], [0, done(2)]);
    });

  test('Import: a column that the table lacks refuses the file before the first row, with the nearest field', async () => {
    const table = tableName('Import');
    await defineTable(get(), table, { Name: 'String', n: 'Number' });
    const text = linesOf([
      { Name: 'first' },
      { Nmae: 'x', 'o.deep': 1, createdAt: '2020-01-01T00:00:00.000Z' },
      { Name: 'last' },
    ]);
    const refused = await importText(get(), table, text);
    assert.deepEqual([refused.code, refused.stdout], [1, '']);
    assertOneLine(refused.stderr, /has no field "Nmae" \(line 2, perhaps Name\), "o" \(line 2\); --new-fields makes them/);
    assert.deepEqual(await find(get(), table), []);
    const missing = await importText(get(), `${table}s`, text);
    assert.deepEqual([missing.code, missing.stdout], [1, '']);
    assertOneLine(missing.stderr, new RegExp(`there is no table ${table}s, perhaps ${table}; --new-fields makes it`));
    assert.equal((await get().call('GET', `/platform/schemas/${table}s`)).status, 400);
    assert.equal((await importText(get(), table, text, '--new-fields')).code, 0);
    assert.equal((await find(get(), table)).length, 3);
  });

  test("Import: a Parse export is read as such, a table's own field `results` as a field", async () => {
    const table = tableName('Import');
    await defineTable(get(), table, { name: 'String', at: 'Date', list: 'Array' });
    const row = { objectId: 'parse00001', createdAt: '2020-01-02T03:04:05.678Z', name: '] } "', list: [{ a: [1] }] };
    const rows = [
      row,
      { name: 'two', at: { __type: 'Date', iso: '2024-05-06T07:08:09.010Z' }, ACL: { '*': { read: true } } },
      { list: 1 },
    ];
    for (const text of [JSON.stringify({ results: rows }), JSON.stringify({ results: rows.slice(1) }, null, 2)]) {
      const { code, stdout, stderr } = await importText(get(), table, text);
      assert.deepEqual([code, stdout], [2, done(text.includes('parse00001') ? 2 : 1, 1)], stderr);
      assert.match(stderr, /^record \d: 111: /m);
    }
    const found = await find(get(), table);
    assert.deepEqual(
      found.map(({ name, list }) => [name, list]),
      [
        [row.name, row.list],
        ['two', undefined],
        ['two', undefined],
      ],
    );
    const { fields } = (await get().call('GET', `/platform/schemas/${table}`)).body;
    assert.ok(!('results' in fields));
    const inLine = await importText(get(), table, `{"name":"x"}\n{"results":[{"name":"y"}]}\n`, '--new-fields');
    assert.deepEqual([inLine.code, inLine.stdout], [2, done(1, 1)]);
    assert.match(inLine.stderr, /^line 2: 107: .*export of Parse/m);
    const cut = await importText(get(), table, '{"results":[{"name":"z"},{"na');
    assert.deepEqual([cut.code, cut.stdout], [1, '']);
    assertOneLine(cut.stderr, /cut off/);

    const own = tableName('Import');
    await defineTable(get(), own, { results: 'Array' });
    assert.equal((await importText(get(), own, '{"results":[{"a":1}]}\n')).stdout, done(1));
    assert.deepEqual((await find(get(), own))[0]?.results, [{ a: 1 }]);
  });

  test('Import: times are taken over with --keep-times, and reported as left out without', async () => {
    const table = tableName('Import');
    await defineTable(get(), table, { n: 'Number' });
    const times = { createdAt: '2020-01-02T03:04:05.678Z', updatedAt: '2021-01-02T03:04:05.678Z' };
    const rows = [
      { n: 1, ...times, createdBy: pointer('_User', 'u1') },
      { n: 2, createdAt: { __type: 'Date', iso: times.createdAt } },
      { n: 3 },
    ];
    const left = await importText(get(), table, linesOf(rows));
    assert.deepEqual([left.code, left.stdout], [0, done(3)]);
    for (const said of [/^createdAt of 2 lines was not taken over/m, /^updatedAt of 1 line /m, /^createdBy of 1 line /m])
      assert.match(left.stderr, said);
    assert.ok((await find(get(), table)).every((row) => String(row.createdAt) > '2026'));
    const other = tableName('Import');
    await defineTable(get(), other, { n: 'Number' });
    const bad = [
      { n: 4, createdAt: 'yesterday' },
      { n: 5, createdBy: 'u1' },
    ];
    const kept = await importText(get(), other, linesOf([...rows, ...bad]), '--keep-times');
    assert.deepEqual([kept.code, kept.stdout], [2, done(3, 2)]);
    assert.match(kept.stderr, /^line 4: 111: [\s\S]*^line 5: 111: /m);
    const [first, second, third] = await find(get(), other, { order: 'n' });
    assert.deepEqual(
      [first?.createdAt, first?.updatedAt, first?.createdBy],
      [times.createdAt, times.updatedAt, pointer('_User', 'u1')],
    );
    assert.deepEqual(
      [second?.createdAt, second?.updatedAt, second?.createdBy],
      [times.createdAt, times.createdAt, pointer('_User', 'master')],
    );
    assert.ok(String(third?.createdAt) > '2026');
    const definition = { table: other, events: ['create'], actions: [], Name: other, ...times };
    assert.equal((await importText(get(), '_Trigger', linesOf([definition]), '--keep-times')).stdout, done(1));
    const [trigger] = await find(get(), '_Trigger', { where: { Name: other } });
    assert.equal(trigger?.createdAt, times.createdAt);
    assert.ok(String(trigger?.updatedAt) > '2026', 'processes detect changed definitions by it');
  });

  test('Import: logs, sessions and hidden tables take none (119)', async () => {
    for (const table of [
      '_Timeline',
      '_RequestLog',
      '_syslogTriggers',
      '_GeneralLogs',
      '_AdminLog',
      '_Session',
      '_StoredFile',
      '_TriggerQueue',
    ]) {
      const { code, stdout, stderr } = await importText(get(), table, '{"path":"/x"}\n', '--new-fields');
      assert.deepEqual([code, stdout], [1, ''], table);
      assertOneLine(stderr, /Permission denied|Invalid class name/);
    }
  });

  test('Import: reports which triggers fire; --skip-triggers and --skip-timeline leave them and the timeline out', async () => {
    const table = tableName('Import');
    await defineTable(get(), table, { n: 'Number' });
    await get().call('PUT', `/platform/schemas/${table}`, { body: { className: table, timeline: true } });
    const marks = tableName('Marks');
    await defineTable(get(), marks, { n: 'String' });
    const action = { type: 'create-object', actionData: { table: marks, fields: { n: '{{n}}' } } };
    const body = { Name: 'marks', table, events: ['create'], actions: [action] };
    assert.equal((await get().call('POST', '/platform/classes/_Trigger', { body })).status, 201);
    const skipped = await importText(get(), table, '{"n":1}\n', '--skip-triggers', '--skip-timeline');
    assert.deepEqual([skipped.code, skipped.stdout, skipped.stderr], [0, done(1), '']);
    const fired = await importText(get(), table, '{"n":2}\n');
    assert.deepEqual([fired.code, fired.stdout], [0, done(1)]);
    assert.match(fired.stderr, /each record runs these triggers: "marks" \(create-object\); --skip-triggers runs none/);
    const deadline = Date.now() + 15_000;
    while ((await find(get(), marks)).length === 0) {
      assert.ok(Date.now() < deadline, 'no trigger has fired');
      await wait(20);
    }
    assert.deepEqual(
      (await find(get(), marks)).map((row) => row.n),
      ['2'],
    );
  });

  test('Import: --rejected keeps every refused row; --json is one object a line', async () => {
    const table = tableName('Import');
    await defineTable(get(), table, { n: 'Number' });
    const rejected = join(directory, `${++files}.rejected`);
    const rows = Array.from({ length: 30 }, (_, n) => ({ n: n % 2 === 0 ? n : `text ${n}` }));
    const text = `${linesOf(rows)}no json\n`;
    const { code, stdout, stderr } = await importText(get(), table, text, '--rejected', rejected, '--json');
    assert.deepEqual([code, JSON.parse(stdout)], [2, { rows: 31, created: 15, updated: 0, rejected: 16 }]);
    const refused = stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual([refused.length, refused[0].line, refused[0].code], [16, 2, 111]);
    const kept = (await readFile(rejected, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      kept.map(({ line, row }) => [line, row]),
      [...rows.map((row, at) => [at + 1, row]).filter((_, at) => at % 2 === 1), [31, 'no json']],
    );
  });

  test('Import: --rejected that cannot be written, or is the file itself, is refused before anything is imported', async () => {
    const table = tableName('Import');
    const file = await fileOf('{"n":1}\n');
    const of = ['--system', get().appId, '--table', table, '--new-fields', '--file', file];
    for (const [rejected, says] of [
      [join(directory, 'nowhere', 'rejected'), /no such file.*nowhere/],
      [directory, /EISDIR/],
      [file, /--rejected: it is the file that is imported/],
    ] as const) {
      const { code, stdout, stderr } = await command(get(), 'import', ...of, '--rejected', rejected);
      assert.deepEqual([code, stdout], [1, '']);
      assertOneLine(stderr, says);
    }
    assert.equal(await readFile(file, 'utf8'), '{"n":1}\n');
    assert.deepEqual(await find(get(), table), []);
  });

  const refusals: [what: string, args: (service: Service, file: string) => string[], says: RegExp][] = [
    ['a system that is not there', (_, file) => ['--system', 'nobody', '--table', 'T', '--file', file], /no system .*nobody/],
    [
      'a bad table name',
      ({ appId }, file) => ['--system', appId, '--table', '1 bad\nname', '--file', file],
      /Invalid class name: 1 bad.name/,
    ],
    [
      'a missing file',
      ({ appId }, file) => ['--system', appId, '--table', 'T', '--file', `${file}.gone`],
      /no such file.*\.gone/,
    ],
    ['a directory', ({ appId }) => ['--system', appId, '--table', 'T', '--file', directory], /EISDIR/],
    ['a missing option', ({ appId }, file) => ['--system', appId, '--file', file], /--table/],
  ];
  for (const [what, args, says] of refusals)
    test(`Import: ${what} is refused in one line`, async () => {
      const { code, stdout, stderr } = await command(get(), 'import', ...args(get(), await fileOf('{"n":1}\n')));
      assert.deepEqual([code, stdout], [1, '']);
      assertOneLine(stderr.replace(/^.*Warning.*\n|^\(Use `node.*\n/gm, ''), says);
    });

  test('Import: a service that is reading sees new fields when the command has ended', async () => {
    for (let n = 0; n < 2; n++) {
      const table = tableName('Import');
      await defineTable(get(), table, { from: 'String' });
      const read = () => get().call('GET', `/platform/classes/${table}`, { query: { limit: 1 } });
      let over = false;
      const importing = importText(get(), table, linesOf([{ from: 'import', n }]), '--new-fields').finally(() => {
        over = true;
      });
      while (!over) await read();
      assert.equal((await importing).code, 0);
      await afterCommand(get(), async () => assert.equal((await read()).body.results[0].n, n));
    }
  });

  test('Import: a running service sees new records and fields at once, and its own writes continue', async () => {
    const table = tableName('Import');
    await defineTable(get(), table, { from: 'String' });
    const count = 3_000;
    const rows = Array.from({ length: count }, (_, n) => ({ from: 'import', n, owner: pointer('_User', `u${n % 7}`) }));
    let over = false;
    const importing = importText(get(), table, linesOf(rows), '--new-fields').finally(() => {
      over = true;
    });
    let own = 0;
    while (!over) {
      const answer = await get().call('POST', `/platform/classes/${table}`, { body: { from: 'service', m: own } });
      assert.equal(answer.status, 201, answer.text);
      own++;
    }
    const { code, stdout, stderr } = await importing;
    assert.deepEqual([code, stdout], [0, done(count)], stderr);
    const counted = async (where: Row) =>
      (await get().call('GET', `/platform/classes/${table}`, { query: { where, count: 1, limit: 0 } })).body;
    assert.equal((await counted({ from: 'import', n: { $gte: 0 } })).count, count);
    assert.equal((await counted({ from: 'service' })).count, own);
    const { status, body } = await get().call('PUT', `/platform/classes/${table}/nobody`, { body: { n: 'text' } });
    assert.deepEqual([status, body.code], [400, 111]);
  });
});

for (const engine of engines)
  test(`Import: without a service, many lines, some of them refused (${engine})`, async () => {
    const data = await dataForTest(engine);
    const count = 20_000;
    const rows = Array.from({ length: count }, (_, n) => (n % 1000 === 999 ? { objectId: '' } : { n, s: `row ${n}` }));
    const of = ['--system', 'testapp', '--table', 'Many'];
    const file = ['--file', await fileOf(linesOf(rows)), '--new-fields', '--keep-times'];
    const { code, stdout, stderr } = await run(data, ['import', ...of, ...file]);
    assert.deepEqual([code, stdout], [2, done(count - 20, 20)], stderr);
    const to = join(directory, `${++files}.csv`);
    await succeeded(data, ['export', ...of, '--format', 'csv', '--to', to, '--keys', 'n', '--order', '-n']);
    const cells = (await readFile(to, 'utf8')).trimEnd().split('\r\n');
    assert.deepEqual([cells.length, cells[1]], [1 + count - 20, String(count - 2)]);
  });
