/** Mail, functions, notifications and records of triggers while the connection to PostgreSQL breaks: each is done, and once if that can be known. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type BreakingPoint, TestProxy } from '../../src/storage/postgres/testing/proxy.ts';
import { defineTrail, emptied, layTrail, verifyTrail } from '../automation/trail.ts';
import { dataForTest } from '../support/data.ts';
import { path } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { judge } from './answers.ts';

/** Creates records until the signal, after any answer. @returns the objectIds of the acknowledged ones */
async function createUntil(signal: AbortSignal, service: ServiceProcess, name: string): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; !signal.aborted; n++) {
    const answer = await service.call('POST', path('Tasks'), { body: { Name: `${name}-${n}` } });
    const verdict = judge(answer, 'write', 201);
    assert.notEqual(verdict, 'wrong', answer.text);
    if (verdict === 'done') ids.push(answer.body.objectId);
    await wait(verdict === 'done' ? 30 : 60);
  }
  return ids;
}

const points: readonly BreakingPoint[] = ['before', 'sent', 'done'];
/** Match the statements of the commits of each kind of job. */
const parts = [/Made/, /_Notification/, /Emails/, /_TriggerQueue/, /_syslogTriggers/];

if (engines.includes('postgres'))
  test('jobs of every kind while the line breaks', { timeout: 120_000 }, async (t) => {
    const { database } = await dataForTest('postgres');
    assert.ok(database);
    const proxy = await TestProxy.before(database.url);
    const trail = await layTrail();
    const service = await startServiceProcess({ database: proxy, env: trail.env });
    const writing = new AbortController();
    try {
      await defineTrail(service);
      const writers = Promise.all([0, 1, 2].map((n) => createUntil(writing.signal, service, `w${n}`)));
      writers.catch(() => {});
      await wait(300);
      for (let round = 0; round < 5; round++) {
        proxy.cut();
        await wait(120);
      }
      // More rounds on a busy machine, which commits less often.
      for (let round = 0; round < 20 || (proxy.broken.length < 15 && round < 300); round++) {
        const about = parts[round % parts.length] as RegExp;
        proxy.breakCommits({ point: points[round % 3] as BreakingPoint, times: 1, about });
        await wait(80);
      }
      proxy.mend();
      proxy.silence();
      await wait(1_500);
      proxy.strand();
      await wait(1_000);
      proxy.cut();
      writing.abort();
      const answered = (await writers).flat();
      await emptied(service);
      const records = await verifyTrail(service, answered, trail);
      t.diagnostic(`${answered.length} acknowledged, ${records} records, ${proxy.broken.length} commits broken`);
      assert.ok(answered.length > 20 && proxy.broken.length >= 15, 'the test tested nothing');
    } finally {
      writing.abort();
      await service.stop();
      await trail.close();
      proxy.close();
    }
  });
