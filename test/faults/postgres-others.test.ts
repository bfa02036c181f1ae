/** Sign-in and uploads while the connection to PostgreSQL breaks. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type BreakingPoint, TestProxy } from '../../src/storage/postgres/testing/proxy.ts';
import { query, type TestDatabase } from '../../src/storage/postgres/testing/server.ts';
import { allowLarge, newPolicy, sendForm } from '../files/large.ts';
import { makeDatabase } from '../support/data.ts';
import { ask, credentials, filePath, uploadUrl } from '../support/files.ts';
import { type Json, path, storeOf } from '../support/records.ts';
import { engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { soon } from '../support/soon.ts';
import { isAlive, login, password, signUp, wrong } from '../support/users.ts';
import { IN_DOUBT, judge, UNAVAILABLE } from './answers.ts';

const points: readonly BreakingPoint[] = ['before', 'sent', 'done'];

if (engines.includes('postgres'))
  describe('what is done beside records, while the line to PostgreSQL breaks', { timeout: 120_000 }, () => {
    let database: TestDatabase;
    let proxy: TestProxy;
    let service: ServiceProcess;
    const store = storeOf(() => service);
    before(async () => {
      database = await makeDatabase(true);
      proxy = await TestProxy.before(database.url);
      service = await startServiceProcess({ database: proxy });
    });
    after(async () => {
      await service?.stop();
      proxy?.close();
      await database?.drop();
    });
    /** Repeats requests of several clients during a fault. */
    const beside = async (fault: () => Promise<void>, clients: readonly (() => Promise<void>)[]) => {
      let isOver = false;
      const running = Promise.all(
        clients.map(async (act) => {
          while (!isOver) {
            await act();
            await wait(20);
          }
        }),
      );
      running.catch(() => {});
      try {
        await fault();
      } finally {
        isOver = true;
        await running;
      }
      await isBack();
    };
    const isBack = () =>
      soon(async () => {
        const read = await service.call('GET', path('Accounts'), { query: { limit: 1 } });
        const written = await service.call('POST', path('Accounts'), { body: { Name: 'back' } });
        assert.deepEqual([read.status, written.status], [200, 201]);
      }, 4_000);
    const breakingLine = (about: RegExp) => async () => {
      for (let round = 0; round < 4; round++) {
        await wait(200);
        proxy.cut();
      }
      for (let round = 0; round < 12; round++) {
        proxy.breakCommits({ point: points[round % 3] as BreakingPoint, times: 1, about });
        await wait(100);
      }
      proxy.mend();
      proxy.refuse();
      proxy.cut();
      await wait(400);
      await proxy.accept();
    };

    test('sign-in: a session that was answered is there; a wrong password never signs in, and never counts as an outage', async () => {
      const users = await Promise.all(Array.from({ length: 4 }, () => signUp(service)));
      const victim = await signUp(service);
      const tokens: string[] = [];
      let refused = 0;
      const right = users.map((user) => async () => {
        const answer = await login(service, { username: user.username, password });
        const verdict = judge(answer, 'write', 200);
        assert.notEqual(verdict, 'wrong', answer.text);
        if (verdict === 'done') tokens.push(answer.body.sessionToken);
        else refused++;
      });
      const guess = async () => {
        const answer = await login(service, { username: victim.username, password: wrong });
        if (answer.status !== 404) assert.equal(judge(answer, 'write', 404) === 'wrong' ? answer.text : '', '');
        await wait(300);
      };
      await beside(breakingLine(/_Session/), [...right, guess]);
      assert.ok(tokens.length > 0 && refused > 0, `${tokens.length} sessions, ${refused} refused`);
      for (const token of tokens) assert.ok(await isAlive(service, token), 'a session that was answered');
    });

    test('uploads: what was answered is served, what was refused is not there, and no row is without its bytes', async () => {
      const served = new Map<string, Buffer>();
      let refused = 0;
      const sender = (n: number) => async () => {
        const bytes = Buffer.alloc(100_000 + n, `upload ${served.size} of ${n}, `);
        const answer = await ask(filePath(service, 'a.txt'), {
          method: 'POST',
          headers: { ...credentials(service, { as: 'master' }), 'Content-Type': 'text/plain' },
          body: bytes,
        });
        if (answer.status === 201) served.set(answer.body.name, bytes);
        else {
          assert.equal(answer.status, 503, answer.text);
          assert.ok([UNAVAILABLE, IN_DOUBT].includes(answer.text), answer.text);
          refused++;
        }
      };
      await beside(breakingLine(/_StoredFile/), [0, 1, 2].map(sender));
      assert.ok(served.size > 0 && refused > 0, `${served.size} served, ${refused} refused`);
      for (const [name, bytes] of served) {
        const got = await ask(uploadUrl(service, name));
        assert.ok(got.status === 200 && got.bytes.equals(bytes), `${name}: ${got.status}`);
      }
      const rows = (await query(database.url, `SELECT * FROM rds_testapp."t__StoredFile"`)) as Json[];
      assert.ok(rows.length >= served.size);
      const column = Object.keys(rows[0]).find((key) => served.has(rows.find((row) => served.has(row[key]))?.[key]));
      assert.ok(column, `the name of a file is in ${Object.keys(rows[0])}`);
      for (const row of rows) {
        const got = await ask(uploadUrl(service, row[column]));
        assert.equal(got.status, 200, `the bytes of ${row[column]}: ${got.text.slice(0, 200)}`);
      }
    });

    test('a large upload whose row is in doubt, and one that meets an outage', async () => {
      await allowLarge(store);
      const size = 12 << 20;
      const bytes = Buffer.alloc(size, 'large, ');
      for (const point of points) {
        const policy = await newPolicy(service, 'large.txt', size);
        proxy.breakCommits({ point, times: 1, about: /_StoredFile/ });
        const { status, text } = await sendForm(policy, bytes);
        proxy.mend();
        assert.ok([204, 503].includes(status), `${status} ${text}`);
        if (status === 503) assert.ok([IN_DOUBT, UNAVAILABLE].includes(text), text);
        // The client may send the form again under the same name.
        const got = await ask(uploadUrl(service, policy.name));
        assert.ok(got.status === 404 || got.bytes.equals(bytes), `${got.status} ${got.text.slice(0, 200)}`);
        if (status === 204) assert.equal(got.status, 200);
      }
    });
  });
