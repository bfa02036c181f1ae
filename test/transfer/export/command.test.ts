/** `record-service export`: to a file or the standard output, while a service runs. Reference: export.md#export-command. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runToEnd, temporary } from '../../edge/process.ts';
import { createEach, createMany, defineTable, pointer, tableName } from '../../support/query.ts';
import { compileCache } from '../../support/service.ts';
import { command } from '../../systems/cli.ts';
import { onSampledEngine } from '../sampled.ts';
import { cellsOf, exported } from './exporting.ts';

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const directory = await temporary();
let files = 0;
const newFile = () => join(directory, `export-${++files}`);

onSampledEngine((get) => {
  const table = tableName('Command');
  before(async () => {
    await defineTable(get(), table, { Name: 'String', n: 'Number', p: 'Pointer:_User' });
    await createEach(get(), table, [
      { Name: 'שלום', n: 2, p: pointer('_User', 'nobody') },
      { Name: '=1', n: 1 },
      { Name: '', n: 3 },
    ]);
  });

  const run = (...args: string[]) => command(get(), 'export', '--system', get().appId, '--table', table, ...args);

  test('Export: the command writes what HTTP answers the master key, in every format', async () => {
    for (const format of ['csv', 'ndjson', 'json']) {
      const to = newFile();
      const { code, stdout, stderr } = await run('--format', format, '--to', to);
      assert.deepEqual([code, stdout, stderr], [0, '3 records\n', '']);
      assert.equal(await readFile(to, 'utf8'), (await exported(get(), table, { format })).text);
      assert.equal((await stat(to)).mode & 0o777, 0o600, 'readable only for the operator');
    }
  });

  test('Export: the command takes the options of a query, --bom and --raw', async () => {
    const to = newFile();
    const options = ['--where', '{"n":{"$lt":3}}', '--keys', 'n,Name', '--order', 'n', '--include', 'p.username'];
    const { code } = await run('--format', 'csv', '--to', to, ...options, '--bom', '--raw');
    assert.deepEqual([code, await readFile(to, 'utf8')], [0, '\uFEFFn,Name,p.username\r\n1,=1,\r\n2,שלום,\r\n']);
  });

  test('Export: - writes to the standard output, and reports on stderr', async () => {
    const of = ['--system', get().appId, '--table', table, '--format', 'csv', '--to', '-', '--keys', 'n'];
    // In processes of their own, because the standard output is what is tested.
    const stream = (...more: string[]) => runToEnd(['export', ...of, ...more], get().settings, get().dataDir);
    const plain = await stream();
    assert.deepEqual(plain, { code: 0, stdout: 'n\r\n2\r\n1\r\n3\r\n', stderr: '3 records\n' });
    const quiet = await stream('--quiet');
    assert.deepEqual([quiet.stdout, quiet.stderr], [plain.stdout, '']);
    const json = await stream('--json');
    assert.deepEqual([json.stdout, JSON.parse(json.stderr)], [plain.stdout, { records: 3 }]);
    const toFile = await run('--format', 'csv', '--to', newFile(), '--json');
    assert.deepEqual(JSON.parse(toFile.stdout), { records: 3 });
  });

  test('Export: an error is one line and exit code 1, and leaves an existing file', async () => {
    const to = newFile();
    await writeFile(to, 'before');
    const cases: [string[], RegExp][] = [
      [['--format', 'xml'], /format: should be csv, ndjson or json/],
      [['--format', 'csv', '--where', '{'], /where/],
      [['--format', 'csv', '--keys', 'Nmae'], /has no field Nmae/],
      [['--format', 'json', '--bom'], /bom: is for csv alone/],
    ];
    for (const [args, says] of cases) {
      const { code, stdout, stderr } = await run('--to', to, ...args);
      assert.deepEqual([code, stdout], [1, ''], stderr);
      assert.match(stderr, says);
      assert.equal(stderr.trim().split('\n').length, 1, stderr);
    }
    const other = ['--format', 'csv', '--to', to];
    const noTable = await command(get(), 'export', '--system', get().appId, '--table', `${table}s`, ...other);
    assert.deepEqual([noTable.code, noTable.stderr], [1, `record-service: Class ${table}s does not exist.\n`]);
    assert.equal((await command(get(), 'export', '--system', 'no-such', '--table', table, ...other)).code, 1);
    assert.equal((await command(get(), 'export', '--system', get().appId, '--table', '_PasswordReset', ...other)).code, 1);
    assert.equal((await run('--to', to)).code, 1, 'no format');
    assert.equal(await readFile(to, 'utf8'), 'before');
  });

  test('Export: a file that cannot be written is reported in one line', async () => {
    const folder = newFile();
    await mkdir(folder);
    for (const to of [folder, join(folder, 'missing', 'file')]) {
      const { code, stderr } = await run('--format', 'csv', '--to', to);
      assert.deepEqual([code, stderr.trim().split('\n').length], [1, 1], stderr);
      assert.match(stderr, /^record-service: --to: E/);
    }
    assert.deepEqual(await readdir(folder), [], 'no partial file is left');
  });

  test('Export: a reader that goes away ends the command', async () => {
    const large = tableName('Command');
    await defineTable(get(), large, { s: 'String' });
    await createMany(
      get(),
      large,
      Array.from({ length: 4_000 }, () => ({ s: 'x'.repeat(500) })),
    );
    const args = [main, 'export', '--system', get().appId, '--table', large, '--format', 'csv', '--to', '-'];
    const child = spawn(process.execPath, args, {
      cwd: get().dataDir,
      env: { PATH: process.env.PATH ?? '', ...compileCache, ...get().settings },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let message = '';
    child.stderr.on('data', (chunk: Buffer) => {
      message += chunk.toString();
    });
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const [code] = await once(child, 'close');
    assert.equal(code, 1);
    assert.match(message, /^record-service: --to: [^\n]*EPIPE[^\n]*\n$/);
    const to = newFile();
    const whole = await command(get(), 'export', '--system', get().appId, '--table', large, '--format', 'csv', '--to', to);
    assert.equal(whole.stdout, '4000 records\n');
    assert.equal(cellsOf(await readFile(to, 'utf8')).length, 4_001);
  });
});
