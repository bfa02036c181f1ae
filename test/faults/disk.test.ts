/**
 * A disk that fails beside writers and readers, on SQLite. The faults are injected into the calls of the C library (preload/faults.c);
 * disk-full.test.ts fills a real disk. Reference: faults.md#passing-faults.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { temporary } from '../edge/process.ts';
import { dataForTest } from '../support/data.ts';
import { engines } from '../support/service.ts';
import type { Expected } from './expected.ts';
import { type Injector, injector, type Rule } from './preload/control.ts';
import { cutPower, journalSettings } from './preload/power-cut.ts';
import { startWorld, type World } from './world.ts';

interface Row {
  name: string;
  rules: readonly Omit<Rule, 'path'>[];
  forMs: number;
  expect: Expected;
}

/** SQLite reports some failed reads as damage. The log then names one of these conditions, and never that the file is damaged. */
const UNREAD = /^(an I\/O error|a page cannot be read)$/;

const rows: readonly Row[] = [
  {
    name: 'disk full',
    rules: [{ calls: ['write'], error: 'ENOSPC' }],
    forMs: 1_200,
    expect: { writes: 'fail', reads: 'work', ready: 'ready', condition: 'the disk is full' },
  },
  {
    name: 'read-only file system',
    rules: [{ calls: ['write', 'truncate', 'change'], error: 'EROFS' }],
    forMs: 1_000,
    expect: { writes: 'fail', reads: 'work', condition: /read-only|I\/O error/ },
  },
  {
    name: 'flushes fail',
    rules: [{ calls: ['sync'], error: 'EIO' }],
    forMs: 2_500,
    expect: { writes: 'fail', reads: 'work', ready: 'unavailable', condition: 'an I/O error' },
  },
  {
    name: 'reads and writes fail for a moment',
    rules: [{ calls: ['read', 'write', 'sync'], error: 'EIO' }],
    forMs: 200,
    expect: { writes: 'fail', condition: UNREAD },
  },
  {
    name: 'reads and writes fail',
    rules: [{ calls: ['read', 'write', 'sync', 'open'], error: 'EIO' }],
    forMs: 2_500,
    expect: { writes: 'fail', ready: 'unavailable', condition: UNREAD },
  },
  {
    name: 'only half of each write is done',
    rules: [{ calls: ['write'], effect: 'half' }],
    forMs: 500,
    expect: { writes: 'work', reads: 'work', ready: 'ready', condition: null },
  },
  {
    name: 'a flush takes 20 ms more',
    rules: [{ calls: ['sync'], delayMs: 20 }],
    forMs: 700,
    expect: { writes: 'work', reads: 'work', ready: 'ready', condition: null },
  },
  {
    name: 'a flush takes 500 ms more',
    rules: [{ calls: ['sync'], delayMs: 500 }],
    forMs: 1_800,
    expect: { writes: 'work', reads: 'work', ready: 'ready', condition: null },
  },
];

/** What precedes a kill of the service and a power cut. */
const cuts: readonly { name: string; rule: Omit<Rule, 'path'>; forMs: number }[] = [
  { name: 'flushes fail', rule: { calls: ['sync'], error: 'EIO' }, forMs: 1_500 },
  { name: 'the process is killed in the middle of flushes', rule: { calls: ['sync'], delayMs: 300 }, forMs: 1_000 },
];

async function meet(world: World, faults: Injector, { name, rules, forMs, expect }: Row): Promise<void> {
  await world.beside({
    name,
    expect,
    async fault() {
      const begun = rules.map((rule) => faults.begin({ ...rule, path: world.service.dataDir }));
      await wait(forMs);
      for (const rule of begun) {
        assert.ok(rule.met() > 0, `${name}: the fault was never met`);
        rule.end();
      }
    },
  });
}

if (engines.includes('sqlite'))
  describe('a disk that fails (sqlite)', () => {
    test('one fault after the other: nothing is lost, and all goes on by itself', async (t) => {
      const faults = injector();
      if (!faults) return t.skip('no C compiler');
      const world = await startWorld({ env: faults.env });
      for (const row of rows) await t.test(row.name, () => meet(world, faults, row));
      await world.close();
    });

    for (const { name, rule, forMs } of cuts)
      test(`${name}, then the power is cut: what was acknowledged is there`, async (t) => {
        const faults = injector();
        if (!faults) return t.skip('no C compiler');
        const data = await dataForTest('sqlite');
        const journal = join(await temporary(), 'journal');
        const world = await startWorld({ ...data, env: { ...faults.env, ...journalSettings(journal, data.dataDir) } });
        await world.beside({
          name,
          expect: { broken: true },
          async fault() {
            const begun = faults.begin({ ...rule, path: data.dataDir });
            await wait(forMs);
            await world.service.kill();
            assert.ok(begun.met() > 0);
            begun.end();
            assert.ok(cutPower(journal, data.dataDir) > 0, 'writes that were not flushed were taken back');
            await world.restart();
          },
        });
        await world.close();
      });
  });
