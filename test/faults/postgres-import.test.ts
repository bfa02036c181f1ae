/** An import while the connection to PostgreSQL breaks: it waits and goes on, and each row is there once. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { TestProxy } from '../../src/storage/postgres/testing/proxy.ts';
import { query } from '../../src/storage/postgres/testing/server.ts';
import { runToEnd, temporary } from '../edge/process.ts';
import { dataForTest } from '../support/data.ts';
import { type Json, storeOf, unique } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { startServiceProcess } from '../support/service-process.ts';

const ROWS = 8_000;

if (engines.includes('postgres'))
  test('an import goes on when the line is back, and each row is there once', { timeout: 60_000 }, async () => {
    const { database } = await dataForTest('postgres');
    assert.ok(database);
    const proxy = await TestProxy.before(database.url);
    const service = await startServiceProcess({ database });
    try {
      const table = unique('Imported');
      await storeOf(() => service).table({ n: 'Number' }, table);
      const file = join(await temporary(), 'rows.ndjson');
      writeFileSync(file, Array.from({ length: ROWS }, (_, n) => `{"n":${n}}\n`).join(''));
      const args = ['import', '--system', service.appId, '--table', table, '--file', file];
      const importing = runToEnd(args, { ...service.settings, DATABASE_URL: proxy.url }, service.dataDir);
      let isOver = false;
      const ended = importing.finally(() => {
        isOver = true;
      });
      // Waits until it is under way.
      proxy.breakCommits({ point: 'done', times: 1, about: new RegExp(table) });
      while (proxy.broken.length === 0 && !isOver) await wait(10);
      for (let round = 0; round < 4 && !isOver; round++) {
        await wait(200);
        proxy.cut();
      }
      const { code, stdout, stderr } = await ended;
      assert.equal(code, 0, stdout + stderr);
      assert.match(stdout, new RegExp(`${ROWS} created`));
      assert.equal(proxy.broken.length, 1, 'a commit was broken');
      const sql = `SELECT count(*) AS n, count(DISTINCT "n") AS different FROM rds_testapp."t_${table}"`;
      const [found] = (await query(database.url, sql)) as Json[];
      assert.deepEqual([Number(found.n), Number(found.different)], [ROWS, ROWS]);
    } finally {
      await service.stop();
      proxy.close();
    }
  });
