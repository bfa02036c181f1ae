/**
 * The connection to PostgreSQL ends between a commit and its answer: the write is in doubt, done once or not at all, and its triggers run once.
 * Reference: faults.md#writes-in-doubt.
 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import type { BreakingPoint } from '../../src/storage/postgres/testing/proxy.ts';
import { callTool, masterHeaders } from '../support/mcp.ts';
import { type Json, path, unique } from '../support/records.ts';
import { type Answer, engines } from '../support/service.ts';
import { soon } from '../support/soon.ts';
import { IN_DOUBT } from './answers.ts';
import { TABLE } from './clients.ts';
import { useLine } from './line.ts';

const points: readonly BreakingPoint[] = ['before', 'sent', 'done'];

if (engines.includes('postgres'))
  describe('a commit whose answer is lost', { timeout: 120_000 }, () => {
    const line = useLine();
    const call = (...args: Parameters<typeof line.world.service.call>) => line.world.service.call(...args);
    const find = async (table: string, where: object): Promise<Json[]> => {
      const answer = await call('GET', path(table), { query: { where, limit: 100_000 } });
      assert.equal(answer.status, 200, answer.text);
      return answer.body.results;
    };
    const assertInDoubt = ({ status, text, headers }: Answer) => {
      assert.deepEqual([status, text], [503, IN_DOUBT]);
      assert.match(headers.get('retry-after') ?? '', /^[1-9]\d*$/);
    };
    const about = /"t_Probes"|Probes/;
    /** Runs something and breaks its commit. */
    const broken = async <T>(point: BreakingPoint, work: () => Promise<T>): Promise<T> => {
      line.proxy.breakCommits({ point, times: 1, about });
      try {
        return await work();
      } finally {
        assert.equal(line.proxy.mend(), 0, 'a commit was broken');
      }
    };

    /** Breaks a number of commits, one after the other. */
    const breakMany = async (count: number, about: RegExp) => {
      const deadline = Date.now() + 10_000;
      for (let n = 0; n < count; n++) {
        const before = line.proxy.broken.length;
        line.proxy.breakCommits({ point: points[n % 3] as BreakingPoint, times: 1, about });
        while (line.proxy.broken.length === before) {
          assert.ok(Date.now() < deadline, `${n} commits were broken`);
          await wait(5);
        }
      }
    };

    test('many times, beside writers: what is acknowledged is there, what is in doubt there once or not, triggers once', async () => {
      await line.world.beside({
        name: 'commits broken',
        expect: { writes: 'fail' },
        async fault() {
          await breakMany(21, new RegExp(TABLE));
        },
      });
    });

    test('a commit that triggers make is broken: each action is done once', async () => {
      await line.world.beside({
        name: "triggers' commits broken",
        async fault() {
          await breakMany(10, /_syslogTriggers/);
        },
      });
    });

    test('each kind of write says so, with Retry-After', async () => {
      const made = await call('POST', '/platform/schemas/Probes', {
        body: { className: 'Probes', fields: { Name: { type: 'String' }, n: { type: 'Number' } } },
      });
      assert.equal(made.status, 200, made.text);
      for (const point of points) {
        const isDone = point !== 'before';
        const Name = unique('probe');
        assertInDoubt(await broken(point, () => call('POST', path('Probes'), { body: { Name } })));
        await soon(async () => assert.equal((await find('Probes', { Name })).length, isDone ? 1 : 0), 4_000);
        const { body } = await call('POST', path('Probes'), { body: { Name, n: 1 } });
        const at = path('Probes', body.objectId);
        assertInDoubt(await broken(point, () => call('PUT', at, { body: { n: { __op: 'Increment', amount: 1 } } })));
        await soon(async () => assert.equal((await call('GET', at)).body.n, isDone ? 2 : 1), 4_000);
        assertInDoubt(await broken(point, () => call('DELETE', at)));
        await soon(async () => assert.equal((await call('GET', at)).status, isDone ? 404 : 200), 4_000);
      }
    });

    test('a batch says it of each item that is in doubt', async () => {
      for (const point of points) {
        const Name = unique('probe');
        const requests = Array.from({ length: 3 }, (_, n) => ({ method: 'POST', path: path('Probes'), body: { Name, n } }));
        const refused = { method: 'POST', path: path('Probes'), body: { n: 'no number' } };
        const answer = await broken(point, () => call('POST', '/platform/batch', { body: { requests: [...requests, refused] } }));
        assert.equal(answer.status, 200, answer.text);
        for (const item of answer.body.slice(0, 3)) assert.deepEqual(item, { error: JSON.parse(IN_DOUBT) });
        assert.equal(answer.body[3].error.code, 111, answer.text);
        await soon(async () => assert.equal((await find('Probes', { Name })).length, point === 'before' ? 0 : 3), 4_000);
      }
    });

    test('an agent is answered that the outcome is unknown', async () => {
      const { service } = line.world;
      for (const point of points) {
        const Name = unique('probe');
        const answer = await broken(point, () =>
          callTool(service, masterHeaders(service), 'Create-Record', { table: 'Probes', data: { Name } }),
        );
        assert.ok(answer.isError, answer.text);
        assert.match(answer.text, /the outcome of this write is unknown/);
        await soon(async () => assert.equal((await find('Probes', { Name })).length, point === 'before' ? 0 : 1), 4_000);
      }
    });

    test('schema changes whose commit is in doubt: carried out whole or not at all', async () => {
      for (const point of points) {
        const className = unique('Probes');
        const answer = await broken(point, () =>
          call('POST', `/platform/schemas/${className}`, { body: { className, fields: { Name: { type: 'String' } } } }),
        );
        assertInDoubt(answer);
        await soon(
          async () => assert.equal((await call('GET', `/platform/schemas/${className}`)).status, point === 'before' ? 400 : 200),
          4_000,
        );
        const written = await call('POST', path(className), { body: { Name: 'x', More: 1 } });
        assert.equal(written.status, 201, written.text);
      }
    });

    test('an answer that never comes, on a connection that stays: in doubt, and others are not held up', async () => {
      const Name = unique('probe');
      line.proxy.breakCommits({ point: 'mute', times: 1, about });
      const asked = call('POST', path('Probes'), { body: { Name } });
      await wait(300);
      assert.equal(line.proxy.mend(), 0);
      const since = performance.now();
      const other = await call('POST', path('Probes'), { body: { Name: 'other' } });
      assert.equal(other.status, 201, other.text);
      assert.ok(performance.now() - since < 4_000, 'others wait for it');
      assertInDoubt(await asked);
      assert.equal((await find('Probes', { Name })).length, 1);
    });
  });
