/** Progress of long commands, also with --quiet and --json. Reference: commands.md#progress. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Run, temporary } from '../edge/process.ts';
import { dataForTest, type OwnData } from '../support/data.ts';
import { anyEngine, compileCache, startService } from '../support/service.ts';
import { command } from '../systems/cli.ts';
import { run as runPlain } from './backups.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const directory = await temporary();

/** Preloaded by the command: its clock for progress runs a thousand times as fast, so that the ten seconds between reports pass quickly. */
const hasty = join(directory, 'hasty.mjs');
await writeFile(hasty, 'const now = performance.now.bind(performance); performance.now = () => now() * 1000;');

const rows = `${JSON.stringify({ Name: 'x'.repeat(1_000) })}\n`.repeat(3_000);
const file = join(directory, 'rows.ndjson');
await writeFile(file, rows);

/** The text in ten parts, so that its transfer takes longer than the interval of reports, however fast the pipe is. */
async function* slowly(text: string): AsyncGenerator<string> {
  const size = Math.ceil(text.length / 10) || 1;
  for (let at = 0; at < text.length; at += size) {
    yield text.slice(at, at + size);
    await wait(5);
  }
}

/** Runs a command with the fast clock. No other process may use the data, because the command would wait for it by that clock. */
async function run(data: OwnData, args: readonly string[], input = ''): Promise<Run> {
  const more = { NODE_OPTIONS: `--import=${hasty}`, QUERY_TIMEOUT_MS: '3600000' };
  const child = spawn(process.execPath, [main, ...args], {
    cwd: data.dataDir,
    env: { PATH: process.env.PATH ?? '', ...compileCache, ...data.settings, ...more },
    stdio: 'pipe',
  });
  const texts = Promise.all(
    [child.stdout, child.stderr].map(async (stream) => (await stream.setEncoding('utf8').toArray()).join('')),
  );
  pipeline(slowly(input), child.stdin).catch(() => {});
  const [code] = await once(child, 'close');
  const [stdout = '', stderr = ''] = await texts;
  return { code, stdout, stderr };
}

/** Parses lines that are JSON objects. */
const objects = (text: string) =>
  text
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as Record<string, unknown>);

for (const engine of anyEngine) {
  test('Progress: import reports the standard input, the first pass over the rows, and created records', async () => {
    const data = await dataForTest(engine);
    const args = ['import', '--system', 'testapp', '--table', 'Accounts', '--file', '-', '--skip-timeline'];
    const plain = await run(data, args, rows);
    assert.deepEqual([plain.code, plain.stdout], [0, '3000 rows: 3000 created, 0 updated, 0 rejected\n']);
    assert.match(plain.stderr, /^standard input: [\d,]+ bytes, [\d,]+ a second$/m);
    assert.match(plain.stderr, /^Accounts: [\d,]+ rows looked at, [\d,]+ a second, [\d:]+ left$/m);
    assert.match(plain.stderr, /^Accounts: 3,000 rows, [\d,]+ a second, 0:00 left$/m);

    const json = await run(data, [...args, '--json'], rows);
    assert.equal(json.code, 0, json.stderr);
    assert.deepEqual(objects(json.stdout), [{ rows: 3000, created: 3000, updated: 0, rejected: 0 }]);
    const reported = objects(json.stderr);
    assert.deepEqual([...new Set(reported.map(({ unit }) => unit))], ['bytes', 'rows looked at', 'rows']);
    for (const object of reported)
      assert.deepEqual(Object.keys(object), ['progress', 'done', 'unit', 'perSecond', 'secondsLeft']);

    for (const more of [[], ['--json']]) {
      const quiet = await run(data, [...args.with(6, file), '--quiet', ...more]);
      assert.deepEqual([quiet.code, quiet.stderr], [0, ''], quiet.stdout);
      if (more.length > 0) assert.deepEqual(objects(quiet.stdout), objects(json.stdout));
      else assert.equal(quiet.stdout, plain.stdout);
    }
  });

  test('Progress: a file that is cut off is refused before its first row, in one line', async () => {
    const data = await dataForTest(engine);
    const service = await startService({ ...data, engine });
    const cutOff = join(directory, 'cut-off.json');
    await writeFile(cutOff, `{"results":[${'{"Name":"a"},'.repeat(5_100)}`);
    const args = ['import', '--system', 'testapp', '--table', 'Accounts', '--file', cutOff, '--new-fields', '--skip-timeline'];
    for (const run of await Promise.all([[], ['--json']].map((more) => command(service, ...args, ...more)))) {
      assert.deepEqual([run.code, run.stdout], [1, '']);
      assert.equal(run.stderr, 'record-service: the file is cut off: it ends in the middle of its JSON\n');
    }
    const { body } = await service.call('GET', '/platform/classes/Accounts', { query: { count: 1, limit: 0 } });
    assert.equal(body.count, 0);
    await service.stop();
  });

  test('Progress: system remove takes --json and --quiet, and --now reports progress', async () => {
    const data = await dataForTest(engine);
    const removed = await runPlain(data, ['system', 'remove', 'testapp', '--json']);
    assert.equal(removed.code, 0, removed.stderr);
    const [{ until, ...rest } = {}] = objects(removed.stdout);
    assert.deepEqual(rest, { appId: 'testapp', outcome: 'removed' });
    assert.match(String(until), /^\d{4}-\d\d-\d\dT/);
    const deleted = await run(data, ['system', 'remove', 'testapp', '--now', '--json']);
    assert.deepEqual([deleted.code, objects(deleted.stdout)], [0, [{ appId: 'testapp', outcome: 'deleted' }]]);
    for (const { progress, unit } of objects(deleted.stderr)) assert.deepEqual([progress, unit], ['Deleting testapp', 'files']);
    await runPlain(data, ['system', 'add', '--app-id', 'testapp']);
    const quiet = await run(data, ['system', 'remove', 'testapp', '--now', '--quiet']);
    assert.deepEqual([quiet.code, quiet.stdout, quiet.stderr], [0, 'Deleted testapp\n', '']);
  });
}
