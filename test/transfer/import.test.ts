/** `record-service import`: a record for each line of an NDJSON file, beside a running service or without one. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { temporary } from '../edge/process.ts';
import { dataForTest } from '../support/data.ts';
import { defineTable, find, onEachEngine, pointer, type Row, tableName } from '../support/query.ts';
import { engines, type Service, startService } from '../support/service.ts';
import { command } from '../systems/cli.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const directory = await temporary();
let files = 0;

async function fileOf(text: string): Promise<string> {
  const file = join(directory, `${++files}.ndjson`);
  await writeFile(file, text);
  return file;
}

const linesOf = (rows: readonly unknown[]) => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

/** Imports a text into a table of the service's system. */
async function importText(service: Service, table: string, text: string) {
  return command(service, 'import', '--system', service.appId, '--table', table, '--file', await fileOf(text));
}

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
    const { code, stdout, stderr } = await importText(get(), table, text);
    assert.deepEqual(
      [code, stdout, stderr.includes('rejected')],
      [0, `imported 3 records into ${table}, 0 lines rejected\n`, false],
    );
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

  test('Import: a line that is refused is told with its number, code and text; the others are imported', async () => {
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
    const { code, stdout, stderr } = await importText(get(), table, text.join('\n'));
    assert.deepEqual([code, stdout], [1, `imported 3 records into ${table}, 5 lines rejected\n`]);
    const told = stderr.split('\n').filter((line) => line.startsWith('line '));
    const expected = [
      `line 2: 111: schema mismatch for ${table}.n; expected Number but got String`,
      'line 4: 107: ',
      'line 5: 107: ',
      'line 7: 137: A duplicate value for a field with unique values was provided',
      'line 8: 105: Invalid field name: 1x',
    ];
    assert.equal(told.length, expected.length, stderr);
    for (const [index, line] of expected.entries()) assert.ok(told[index]?.startsWith(line), stderr);
    assert.deepEqual(
      (await find(get(), table)).map((row) => row.n),
      [1, undefined, 2],
    );
  });

  test('Import: of many refused lines the first 20 are told', async () => {
    const table = tableName('Import');
    const { code, stdout, stderr } = await importText(get(), table, 'x\n'.repeat(50));
    assert.deepEqual([code, stdout], [1, `imported 0 records into ${table}, 50 lines rejected\n`]);
    assert.equal(stderr.match(/^line \d+: 107: /gm)?.length, 20, stderr);
    assert.equal((await get().call('GET', `/platform/schemas/${table}`)).status, 400);
  });

  test('Import: - reads the standard input', async () => {
    const table = tableName('Import');
    const args = [main, 'import', '--system', get().appId, '--table', table, '--file', '-'];
    const child = spawn(process.execPath, args, {
      cwd: get().dataDir,
      env: { PATH: process.env.PATH ?? '', ...get().settings },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
    child.stdin.end(linesOf([{ n: 1 }, { n: 2 }]));
    const [code] = await once(child, 'close');
    assert.deepEqual([code, output], [0, `imported 2 records into ${table}, 0 lines rejected\n`]);
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
    test(`Import: ${what} is told in one line`, async () => {
      const { code, stdout, stderr } = await command(get(), 'import', ...args(get(), await fileOf('{"n":1}\n')));
      assert.deepEqual([code, stdout], [1, '']);
      assertOneLine(stderr.replace(/^.*Warning.*\n|^\(Use `node.*\n/gm, ''), says);
    });

  test('Import: a running service sees new records and fields at once, and its own writes go on', async () => {
    const table = tableName('Import');
    await defineTable(get(), table, { from: 'String' });
    const count = 4_000;
    const rows = Array.from({ length: count }, (_, n) => ({ from: 'import', n, owner: pointer('_User', `u${n % 7}`) }));
    let over = false;
    const importing = importText(get(), table, linesOf(rows)).finally(() => {
      over = true;
    });
    let own = 0;
    while (!over) {
      const answer = await get().call('POST', `/platform/classes/${table}`, { body: { from: 'service', m: own } });
      assert.equal(answer.status, 201, answer.text);
      own++;
    }
    const { code, stdout, stderr } = await importing;
    assert.deepEqual([code, stdout], [0, `imported ${count} records into ${table}, 0 lines rejected\n`], stderr);
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
    const service = await startService(data);
    await service.kill();
    const count = 60_000;
    const rows = Array.from({ length: count }, (_, n) => (n % 1000 === 999 ? { objectId: '' } : { n, s: `row ${n}` }));
    const { code, stdout, stderr } = await importText(service, 'Many', linesOf(rows));
    assert.deepEqual([code, stdout], [1, `imported ${count - 60} records into Many, 60 lines rejected\n`], stderr);
    const again = await startService(data);
    try {
      const query = { count: 1, limit: 1, order: '-n' };
      const { body } = await again.call('GET', '/platform/classes/Many', { query });
      assert.deepEqual([body.count, body.results[0].n], [count - 60, count - 2]);
    } finally {
      await again.stop();
    }
  });
