/** Imports that end before their last row: what they report, what stays, and how they continue. Reference: import.md#continue. */
import assert from 'node:assert/strict';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { defineTable, onEachEngine, type Row, tableName } from '../../support/query.ts';
import type { Service } from '../../support/service.ts';
import { command } from '../../systems/cli.ts';
import { counts, ended, imported, send } from './import-jobs.ts';
import { fileOf, importCsv, line } from './importing.ts';

/** Many more than one commit of the command has while a service runs (some thousand), so that it is interrupted. */
const ROWS = 60_000;

const countOf = async (service: Service, table: string): Promise<number> =>
  (await service.call('GET', `/platform/classes/${table}`, { query: { count: 1, limit: 0 } })).body.count;

/** Imports many rows with the command, and drops their field `gone` once the first rows exist. @returns the result of the command, and its file */
async function brokenOff(service: Service, table: string) {
  const file = await fileOf(`n,gone\n${Array.from({ length: ROWS }, (_, n) => `${n},x`).join('\n')}\n`);
  let isOver = false;
  const importing = command(service, 'import', '--system', service.appId, '--table', table, '--file', file).finally(() => {
    isOver = true;
  });
  while (!isOver && (await countOf(service, table)) === 0) await wait(20);
  const drop = { className: table, fields: { gone: { __op: 'Delete' } } };
  const dropped = () => service.call('PUT', `/platform/schemas/${table}`, { body: drop });
  let answer = await dropped();
  // The command locks the embedded store while it writes.
  while (answer.status === 503 && !isOver) answer = await dropped();
  assert.equal(answer.status, 200, answer.text);
  return { ...(await importing), file };
}

onEachEngine((get) => {
  test('Import: a field that is dropped in the middle ends the command, which reports what stays; --continue refuses another file', async () => {
    const table = tableName('BrokenOff');
    await defineTable(get(), table, { n: 'Number', gone: 'String' });
    const { code, stdout, stderr } = await brokenOff(get(), table);
    assert.deepEqual([code, stdout], [1, ''], stderr);
    const [, records] =
      /the import broke off after (\d+) records, which stay in (\w+); --continue goes on there\n/.exec(stderr) ?? [];
    assert.match(stderr, new RegExp(`record-service: the field gone of ${table} was dropped during the import\n$`));
    assert.ok(Number(records) > 0 && Number(records) < ROWS, records);
    assert.equal(await countOf(get(), table), Number(records));
    const schema = (await get().call('GET', `/platform/schemas/${table}`)).body;
    assert.equal(schema.fields.gone, undefined);

    const other = await importCsv(get(), table, 'n\n1\n', '--continue');
    assert.deepEqual([other.code, other.stdout], [1, '']);
    assert.match(other.stderr, new RegExp(`another one into ${table} is under way or was cut off after ${records} rows`));
    assert.equal(await countOf(get(), table), Number(records));
    const anew = await importCsv(get(), table, 'n\n1\n');
    assert.deepEqual([anew.code, anew.stdout], [0, line(1)]);
    // An import without --continue replaces the interrupted one.
    const next = await importCsv(get(), table, 'n\n2\n', '--continue');
    assert.deepEqual([next.code, next.stdout], [0, line(1)], next.stderr);
    // It is complete now, so that nothing is left to continue.
    const again = await importCsv(get(), table, 'n\n1\n', '--continue');
    assert.deepEqual([again.code, again.stdout], [0, line(0)], again.stderr);
  });

  test('Import job: one whose file is gone fails in plain words, and later ones are executed', async () => {
    const table = tableName('Behind');
    await defineTable(get(), table, { Name: 'String' });
    const places = join(get().dataDir, 'files');
    const kept = async () => new Set(await readdir(places, { recursive: true }));
    const text = (rows: number) => `Name\n${'x\n'.repeat(rows)}`;
    const jobOf = async (rows: number): Promise<string> => (await send(get(), table, text(rows))).body.job;
    const first = await jobOf(20_000);
    const before = await kept();
    const second = await jobOf(10);
    const [file = ''] = [...(await kept())].filter((path) => !before.has(path));
    await rm(join(places, file), { recursive: true });
    const third = await imported(get(), table, text(10));
    const jobs: Row[] = [await ended(get(), first), await ended(get(), second), third];
    assert.deepEqual(
      jobs.map(({ state }) => state),
      ['done', 'failed', 'done'],
    );
    assert.doesNotMatch(String(jobs[1]?.error), /[/\\]|ENOENT|Error|\bat\b/);
    assert.ok(String(jobs[1]?.error).length > 0);
    assert.deepEqual(counts(third), ['done', 10, 10, 10, 0, 0]);
    assert.equal(await countOf(get(), table), 20_010);
  });
});
