/** `record-service move` from the embedded store to PostgreSQL and back, seen by operators and clients. Reference: migration.md#move-between-engines. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp } from 'node:fs/promises';
import { after, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { query, sharedServer } from '../../src/storage/postgres/testing/server.ts';
import { type Run, runToEnd } from '../edge/process.ts';
import { type Data, makeData, makeDatabase, makeDirectory, removeDirectory, settingsOf } from '../support/data.ts';
import { runCommand } from '../support/hosts/run-command.ts';
import { createMany, defineTable, find, type Row } from '../support/query.ts';
import { compileCache, engines, type Service, startService } from '../support/service.ts';
import { printed } from '../systems/cli.ts';
import { done } from './backups.ts';
import { fileOf } from './import/importing.ts';
import { assertAlike, assertCredentials, assertFiles, fill, readAll } from './world.ts';

type Both = Data & { database: { url: string } };
const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const same = /^moved 1 system and [\d,]+ records; counts and checksums are the same$/m;

async function running<T>(data: Data, work: (service: Service) => Promise<T>): Promise<T> {
  const service = await startService(data);
  try {
    return await work(service);
  } finally {
    await service.stop();
  }
}

const ends: (() => unknown)[] = [];
after(async () => {
  for (const end of ends.reverse()) await end();
});

async function emptyDatabase(): Promise<{ url: string }> {
  const database = await makeDatabase(false);
  ends.push(database.drop);
  return database;
}

async function embeddedData(): Promise<Data> {
  const { dataDir, remove } = await makeData('sqlite');
  ends.push(remove);
  return { dataDir };
}

async function emptyDirectory(): Promise<string> {
  const path = await makeDirectory('sqlite', false);
  ends.push(() => removeDirectory(path));
  return path;
}

/** Data of a system with a table `Many` of three records. Each test gets a copy. */
let small: Promise<Data> | undefined;

async function prepare(): Promise<Data> {
  const embedded = await embeddedData();
  await running(embedded, async (service) => {
    await defineTable(service, 'Many', { n: 'Number', s: 'String', tags: 'Array' }, { indexes: { byText: { s: 1 } } });
    await createMany(service, 'Many', rowsFrom(0, 3));
  });
  return embedded;
}

/** A system with a table `Many` of that many records, at least three, and an empty database to move it to. */
async function bothWith(records: number): Promise<Both> {
  small ??= prepare();
  const dataDir = await emptyDirectory();
  await cp((await small).dataDir, dataDir, { recursive: true });
  if (records > 3) {
    const rows = rowsFrom(3, records - 3).map((row) => JSON.stringify(row));
    const file = await fileOf(rows.join('\n'), 'ndjson');
    await done({ dataDir }, ['import', '--system', 'testapp', '--table', 'Many', '--file', file, '--skip-timeline', '--quiet']);
  }
  return { dataDir, database: await emptyDatabase() };
}

const rowsFrom = (first: number, count: number): Row[] =>
  Array.from({ length: count }, (_, n) => ({ n: first + n, s: `row ${'x'.repeat(n % 90)}`, tags: [n % 7] }));

const move = (data: Data, to: 'postgres' | 'embedded'): Promise<Run> =>
  runCommand(['move', '--to', to, '--quiet'], settingsOf(data), data.dataDir);

/** Starts a move in its own process; the test continues meanwhile. */
function beginMove(data: Both, to: 'postgres' | 'embedded') {
  const child = spawn(process.execPath, [main, 'move', '--to', to, '--quiet'], {
    cwd: data.dataDir,
    env: { PATH: process.env.PATH ?? '', ...compileCache, ...settingsOf(data) },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  ends.push(() => child.kill('SIGKILL'));
  const run: Run = { code: null, stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => (run.stdout += chunk));
  child.stderr.on('data', (chunk) => (run.stderr += chunk));
  const ended = once(child, 'close').then(([code]): Run => ({ ...run, code }));
  return { child, ended };
}

/** Returns how many records of `Many` are in PostgreSQL, and the transaction that inserted the first one. */
async function copied({ database }: Both): Promise<{ count: number; first: unknown }> {
  const text = `SELECT count(*)::int, (array_agg(xmin::text ORDER BY "_seq"))[1] AS first FROM rds_testapp."t_Many"`;
  const [row] = await query(database.url, text).catch(() => []);
  return (row as { count: number; first: unknown }) ?? { count: 0, first: null };
}

async function whenCopied(data: Both, atLeast: number): Promise<void> {
  const deadline = Date.now() + 20_000;
  while ((await copied(data)).count < atLeast) {
    assert.ok(Date.now() < deadline, 'the move makes no progress');
    await wait(10);
  }
}

function assertRefused({ code, stdout, stderr }: Run, says: RegExp): void {
  assert.deepEqual([code, stdout], [1, ''], stderr);
  assert.match(stderr, says);
  assert.equal(stderr.trim().split('\n').length, 1, stderr);
}

function assertDone({ code, stdout, stderr }: Run): void {
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, same);
}

// A move needs both engines; TEST_ENGINES may name only one.
describe('Move', { skip: engines.length < 2 }, () => {
  test('Move: to PostgreSQL and back, everything is as it was', async () => {
    const embedded = await embeddedData();
    const database = await emptyDatabase();
    const { world, read } = await running(embedded, async (service) => {
      const world = await fill(service, 300);
      return { world, read: await readAll(service, world) };
    });
    const there = await move({ ...embedded, database }, 'postgres');
    assert.deepEqual([there.code, there.stderr], [0, '']);
    assert.match(there.stdout, /^moved 2 systems and [\d,]+ records; counts and checksums are the same$/m);

    const now = await running({ dataDir: await emptyDirectory(), database }, async (service) => {
      assertAlike(await readAll(service, world), read);
      await assertCredentials(service, world);
      await assertFiles(service, world);
      const made = await service.call('POST', '/platform/classes/Hostile', { body: { s: 'new' } });
      assert.equal(made.status, 201, made.text);
      assert.equal((await find(service, 'Hostile')).at(-1)?.s, 'new');
      return readAll(service, world);
    });

    const emptied = { dataDir: await emptyDirectory() };
    const back = await move({ ...emptied, database }, 'embedded');
    assert.deepEqual([back.code, back.stderr], [0, '']);
    await running(emptied, async (service) => {
      assertAlike(await readAll(service, world), now);
      await assertCredentials(service, world);
      await assertFiles(service, world);
    });
    const again = await move({ ...emptied, database }, 'embedded');
    assert.match(`${again.stdout}${again.stderr}`, /testapp is in the target already, and .* is not the same in both/);
  });

  test('Move: one that is killed continues where it was, and copies what was written to the source since', async () => {
    // A chunk of a move has up to 1,000 rows: kills come in the first chunks and between later ones.
    const data = await bothWith(5_000);
    let last: Awaited<ReturnType<typeof copied>> | undefined;
    for (const atLeast of [1, 600, 2_000]) {
      const { child, ended } = beginMove(data, 'postgres');
      await whenCopied(data, atLeast);
      await wait(Math.random() * 100);
      child.kill('SIGKILL');
      await ended;
      const now = await copied(data);
      if (last) assert.equal(now.first, last.first);
      last = now;
    }
    const embedded = { dataDir: data.dataDir };
    const written = await running(embedded, async (service) => {
      const [first, second] = await find(service, 'Many', { limit: 2 });
      await service.call('PUT', `/platform/classes/Many/${first?.objectId}`, { body: { n: -1 } });
      await service.call('DELETE', `/platform/classes/Many/${second?.objectId}`);
      await service.call('POST', '/platform/classes/Many', { body: { objectId: second?.objectId, more: true } });
      return find(service, 'Many', { limit: 100_000 });
    });
    assertDone(await move(data, 'postgres'));
    const again = await move(data, 'postgres');
    assert.deepEqual([again.code, again.stderr], [0, '']);
    assert.match(again.stdout, /^testapp: there already, and compared\nmoved 0 systems/);

    const back = { dataDir: await emptyDirectory(), database: data.database };
    const { child, ended } = beginMove(back, 'embedded');
    await wait(1_000 + Math.random() * 1_000);
    child.kill('SIGKILL');
    await ended;
    assert.match((await move(back, 'embedded')).stdout, /counts and checksums are the same/);
    assert.deepEqual(await running({ dataDir: back.dataDir }, (service) => find(service, 'Many', { limit: 100_000 })), written);
  });

  test('Move: while one is under way no other begins; a lost connection is reported in one line, and the next move continues', async () => {
    const data = await bothWith(2_000);
    const { database, dataDir } = data;
    const { child, ended } = beginMove(data, 'postgres');
    await whenCopied(data, 1);
    child.kill('SIGSTOP');
    await assert.rejects(startService({ dataDir: await emptyDirectory(), database }), /a move of this database is under way/);
    await assert.rejects(startService({ dataDir }), /another process serves this data directory/);
    const elsewhere = { dataDir: await emptyDirectory(), database };
    assertRefused(await move(elsewhere, 'embedded'), /services or commands use this database/);

    const name = new URL(database.url).pathname.slice(1);
    const { url } = await sharedServer();
    await query(url, `ALTER DATABASE "${name}" ALLOW_CONNECTIONS false`);
    await query(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${name}'`);
    child.kill('SIGCONT');
    const { code, stderr } = await ended;
    await query(url, `ALTER DATABASE "${name}" ALLOW_CONNECTIONS true`);
    assert.equal(code, 1);
    // Log lines about the connection come first.
    assert.match(stderr, /^(\{.*\}\n)*record-service: PostgreSQL cannot be reached any more.*\n$/);
    const { first } = await copied(data);
    assertDone(await move(data, 'postgres'));
    assert.deepEqual(await copied(data), { count: 2_000, first });
  });

  test('Move: the old copy is served no more, and written to by no command, until its mark is undone', async () => {
    const data = await bothWith(3);
    const { dataDir, database } = data;
    const removed = printed(await done({ dataDir }, ['system', 'add']), /app/i);
    await done({ dataDir }, ['system', 'remove', removed]);
    const [old, unmarked] = [settingsOf({ dataDir }), settingsOf(data)];
    const run = (env: Record<string, string>, ...args: string[]) => runCommand(args, env, dataDir);
    const start = (env: Record<string, string>) => runToEnd(['start'], { PORT: '0', ...env }, dataDir);
    assertRefused(await run(old, 'move', '--undo-mark'), /there is no mark to undo/);
    assert.match((await move(data, 'postgres')).stdout, /^moved 2 systems/m);

    const toPostgres =
      /these systems were moved to PostgreSQL on 20\d\d-\d\d-\d\d; set DATABASE_URL, or run record-service move --undo-mark/;
    // Refusing a start does not change the mark.
    for (let n = 0; n < 2; n++) assertRefused(await start(old), toPostgres);
    for (const args of [
      ['key', 'add', '--system', 'testapp', '--name', 'x'],
      ['system', 'list'],
    ])
      assertRefused(await run(old, ...args), toPostgres);
    assertRefused(await move({ dataDir, database: await emptyDatabase() }, 'postgres'), toPostgres);
    const listed = await run(unmarked, 'system', 'list', '--removed');
    assert.deepEqual([listed.code, listed.stdout.startsWith(removed)], [0, true], listed.stdout + listed.stderr);

    const back = { dataDir: await emptyDirectory(), database };
    assert.equal((await move(back, 'embedded')).code, 0);
    const toEmbedded =
      /these systems were moved to the embedded store on 20\d\d-\d\d-\d\d; unset DATABASE_URL, or run record-service move --undo-mark/;
    assertRefused(await start({ ...unmarked, WEB_CONCURRENCY: '2' }), toEmbedded);
    assertRefused(await run(unmarked, 'system', 'add'), toEmbedded);
    await running({ dataDir: back.dataDir }, async (service) => assert.equal((await find(service, 'Many')).length, 3));

    assert.equal((await run(old, 'move', '--undo-mark')).code, 0);
    await running({ dataDir }, async (service) => assert.equal((await find(service, 'Many')).length, 3));
    assertRefused(await run(old, 'move', '--undo-mark'), /there is no mark to undo/);
  });

  test('Move: what cannot be moved is refused in one line', async () => {
    const data = await bothWith(3);
    const empty = { dataDir: await emptyDirectory(), database: data.database };
    assertRefused(await move(empty, 'postgres'), /DATA_DIR: .* holds no systems/);
    assertRefused(await move(empty, 'embedded'), /nothing to move: the source holds no systems/);
    assertRefused(await move({ dataDir: data.dataDir }, 'postgres'), /DATABASE_URL: must be set/);
    const away = { ...data, database: { url: 'postgres://postgres@127.0.0.1:1/none' } };
    assertRefused(await move(away, 'postgres'), /DATABASE_URL: PostgreSQL at 127.0.0.1:1 cannot be reached/);
    const text = Array.from({ length: 4_000 }, () => String.fromCodePoint(0x4e00 + Math.floor(Math.random() * 20_000))).join('');
    await running({ dataDir: data.dataDir }, async (service) => {
      await service.call('POST', '/platform/classes/Many', { body: { objectId: 'large', s: text } });
      assertRefused(await move(data, 'postgres'), /another process serves this data directory/);
    });
    assertRefused(await move(data, 'postgres'), /cannot take the record "large" of Many: index row /);
    const other = { dataDir: await emptyDirectory(), database: await emptyDatabase() };
    await running(other, async () => {
      assertRefused(await move({ ...data, database: other.database }, 'postgres'), /services or commands use this database/);
    });
    assertRefused(await move({ ...data, database: other.database }, 'postgres'), /systems of another installation/);
  });
});
