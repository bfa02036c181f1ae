/** `record-service import --continue`: every row once, even if the command is killed several times. Reference: import.md#continue. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { defineTable, find, onEachEngine, tableName } from '../../support/query.ts';
import { compileCache, type Service } from '../../support/service.ts';
import { command } from '../../systems/cli.ts';
import { fileOf, freshPath, importCsv, line } from './importing.ts';

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
/** How often the command is killed. */
const kills = Number(process.env.IMPORT_KILLS ?? 3);

/** Runs the command and kills it shortly after it began to write, or after a deadline. @returns its exit code; `null` if it was killed */
async function killed(service: Service, args: readonly string[], count: () => Promise<number>): Promise<number | null> {
  const env = { PATH: process.env.PATH ?? '', ...compileCache, ...service.settings };
  const child = spawn(process.execPath, [main, ...args], { cwd: service.dataDir, env, stdio: 'ignore' });
  const exit = once(child, 'exit') as Promise<[number | null]>;
  const before = await count();
  const deadline = Date.now() + randomInt(1_500, 6_000);
  while (Date.now() < deadline && child.exitCode === null && (await count()) === before) await wait(20);
  await wait(randomInt(0, 150));
  child.kill('SIGKILL');
  const [code] = await exit;
  return code;
}

onEachEngine((get) => {
  test('Import --continue: every row once, and every rejected row once, after SIGKILL at any moment', async () => {
    const table = tableName('Continue');
    await defineTable(get(), table, { n: 'Number', twin: 'Number' }, { indexes: { byTwin: { twin: 1 } } });
    const rows = 12_000;
    const text = `n,twin\n${Array.from({ length: rows }, (_, n) => (n % 100 === 7 ? `no ${n},` : `${n},${n % 3 === 0 ? n : n - (n % 3)}`)).join('\n')}`;
    const rejected = freshPath('rejected');
    const file = await fileOf(text);
    const args = ['import', '--system', get().appId, '--table', table, '--file', file, '--rejected', rejected];
    const count = async () =>
      (await get().call('GET', `/platform/classes/${table}`, { query: { count: 1, limit: 0 } })).body.count as number;
    let code: number | null = null;
    for (let run = 0; run < kills && code === null; run++) code = await killed(get(), [...args, '--continue'], count);
    const last = await command(get(), ...args, '--continue');
    // The last kill may come between the end of the import and the exit of the process.
    const isOver = /nothing is left: 12000 rows/.test(last.stderr);
    assert.ok(isOver || code === null, last.stderr);
    assert.deepEqual([last.code, last.stdout], isOver ? [0, line(0)] : [2, line(rows - 120, 0, 120)], last.stderr);
    assert.equal(await count(), rows - 120);
    const found = await find(get(), table, { keys: 'n', limit: rows });
    assert.equal(new Set(found.map(({ n }) => n)).size, rows - 120);
    const kept = (await readFile(rejected, 'utf8')).trim().split('\n');
    assert.deepEqual(
      kept.map((one) => JSON.parse(one).line),
      Array.from({ length: 120 }, (_, n) => 100 * n + 9),
    );
    const again = await command(get(), ...args, '--continue');
    assert.deepEqual([again.code, again.stdout], [0, line(0)]);
    assert.match(again.stderr, /nothing is left: 12000 rows were dealt with before/);
    assert.equal(await count(), rows - 120);
  });

  test('Import --continue: begins if nothing was done; other options are refused; without it the import starts again', async () => {
    const table = tableName('Continue');
    await defineTable(get(), table, { n: 'Number' });
    const text = 'n\n1\n2\n';
    const first = await importCsv(get(), table, text, '--continue');
    assert.deepEqual([first.code, first.stdout], [0, line(2)], first.stderr);
    const other = await importCsv(get(), table, text, '--continue', '--skip-timeline');
    assert.deepEqual([other.code, other.stdout], [1, '']);
    assert.match(other.stderr, /begun with other options/);
    const anew = await importCsv(get(), table, text);
    assert.deepEqual([anew.code, anew.stdout], [0, line(2)]);
    assert.equal((await find(get(), table)).length, 4);
    const dry = await importCsv(get(), table, text, '--continue', '--dry-run');
    assert.deepEqual([dry.code, dry.stdout], [1, '']);
  });

  test('Import --continue: if the table was dropped since, it is refused', async () => {
    const table = tableName('Continue');
    const text = 'n\n1\n2\n';
    const first = await importCsv(get(), table, text, '--new-fields');
    assert.deepEqual([first.code, first.stdout], [0, line(2)], first.stderr);
    for (const { objectId } of await find(get(), table))
      assert.equal((await get().call('DELETE', `/platform/classes/${table}/${objectId}`)).status, 200);
    assert.equal((await get().call('DELETE', `/platform/schemas/${table}`)).status, 200);
    const again = await importCsv(get(), table, text, '--new-fields', '--continue');
    assert.deepEqual([again.code, again.stdout], [1, '']);
    assert.match(again.stderr, new RegExp(`${table} was dropped since: begin anew, without --continue`));
    const anew = await importCsv(get(), table, text, '--new-fields');
    assert.deepEqual([anew.code, anew.stdout], [0, line(2)], anew.stderr);
  });
});
