/** Mail, functions, sign-ins, uploads and an import beside a disk that fails and a held lock, on SQLite. Reference: faults.md#passing-faults. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { defineTrail, emptied, layTrail, type Trail, verifyTrail } from '../automation/trail.ts';
import { runToEnd, temporary } from '../edge/process.ts';
import { assertServed, upload } from '../support/files.ts';
import { path } from '../support/records.ts';
import { type Answer, engines } from '../support/service.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { isAlive, login, password, signUp, type User } from '../support/users.ts';
import { judge } from './answers.ts';
import { holdLock } from './lock.ts';
import { type Injector, injector } from './preload/control.ts';

const IMPORTED = 'Imported';
/** A table whose records each call a function, in a job. */
const QUEUED = 'Queued';
const ROWS = 2_000;

/** Clients that go on until `stop`, and what they were answered. */
class Workload {
  readonly answered: string[] = [];
  readonly queued: string[] = [];
  readonly sessions: string[] = [];
  readonly files: { url: string; text: string }[] = [];
  readonly wrong: string[] = [];
  refused = 0;
  #isOver = false;
  readonly #all: Promise<unknown>;

  constructor(service: ServiceProcess, user: User, name: string) {
    const creator = (n: number) =>
      this.#repeat('create', async (turn) => {
        const answer = await service.call('POST', path('Tasks'), { body: { Name: `${name}-${n}-${turn}` } });
        if (this.#is(answer, 201)) this.answered.push(answer.body.objectId);
      });
    const queuer = () =>
      this.#repeat('create', async (turn) => {
        const answer = await service.call('POST', path(QUEUED), { body: { Name: `${name}-${turn}` } });
        if (this.#is(answer, 201)) this.queued.push(answer.body.objectId);
      });
    const guest = () =>
      this.#repeat('login', async () => {
        const answer = await login(service, { username: user.username, password });
        if (this.#is(answer, 200)) this.sessions.push(answer.body.sessionToken);
      });
    const uploader = (n: number) =>
      this.#repeat('upload', async (turn) => {
        const text = `${name} ${n} ${turn} `.repeat(3_000);
        const got = await upload(service, 'a.txt', text, { as: 'master', type: 'text/plain' });
        const headers = new Headers({ 'retry-after': String(got.headers['retry-after'] ?? '') });
        if (this.#is({ ...got, headers }, 201)) this.files.push({ url: got.body.url, text });
      });
    this.#all = Promise.all([creator(0), creator(1), queuer(), guest(), uploader(0), uploader(1)]);
  }

  #is(answer: Answer, done: number): boolean {
    const verdict = judge(answer, 'write', done);
    if (verdict === 'wrong') this.wrong.push(`${answer.status} ${answer.text.slice(0, 200)}`);
    if (verdict === 'refused') this.refused++;
    return verdict === 'done';
  }

  async #repeat(what: string, step: (turn: number) => Promise<void>): Promise<void> {
    for (let turn = 0; !this.#isOver; turn++, await wait(40))
      await step(turn).catch((error) => this.wrong.push(`${what}: ${error}`));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#all;
  }
}

async function defineQueued({ call }: ServiceProcess): Promise<void> {
  const table = { className: QUEUED, fields: { Name: { type: 'String' } } };
  assert.equal((await call('POST', `/platform/schemas/${QUEUED}`, { body: table })).status, 200);
  const actions = [{ type: 'server-side-code', actionData: { functionName: 'notes', useQueue: true } }];
  const body = { Name: 'queued', table: QUEUED, events: ['create'], actions };
  const { status, text } = await call('POST', path('_Trigger'), { body });
  assert.equal(status, 201, text);
}

/** Asserts that the function was called for each record, and that a repeated call is marked as one. */
function assertCalled(ids: readonly string[], calls: ReturnType<Trail['calls']>): void {
  const runs = Map.groupBy(calls, ({ record }) => record.objectId);
  const missing = ids.filter((id) => !runs.has(id));
  assert.deepEqual(missing, [], 'records whose function was never called');
  for (const id of ids)
    for (const { trigger } of runs.get(id)?.slice(1) ?? [])
      assert.ok(trigger.attempt > 1, `called again for ${id} without a mark`);
}

/** Imports rows beside the running service, in a process that meets the same faults. */
async function importRows({ settings, dataDir, appId }: ServiceProcess, faults: Injector, name: string) {
  const file = join(await temporary(), 'rows.ndjson');
  const rows = Array.from({ length: ROWS }, (_, n) => JSON.stringify({ of: name, n, filler: 'x'.repeat(500) }));
  await writeFile(file, rows.join('\n'));
  const args = ['import', '--system', appId, '--table', IMPORTED, '--file', file, '--new-fields'];
  return runToEnd(args, { ...settings, ...faults.env }, dataDir);
}

/** Waits until the first rows of an import are stored. */
async function underWay({ call }: ServiceProcess, name: string): Promise<void> {
  const query = { where: { of: name }, limit: 1 };
  for (const deadline = Date.now() + 20_000; ; await wait(20)) {
    const { body } = await call('GET', path(IMPORTED), { query });
    if (body.results.length > 0) return;
    assert.ok(Date.now() < deadline, 'the import does not begin');
  }
}

if (engines.includes('sqlite'))
  describe('work beside a fault (sqlite)', () => {
    test('mail, functions, notifications, sign-ins, uploads and an import lose nothing and do nothing twice', async (t) => {
      const faults = injector();
      if (!faults) return t.skip('no C compiler');
      const trail = await layTrail();
      const service = await startServiceProcess({ env: { ...trail.env, ...faults.env } });
      const answered: string[] = [];
      const queued: string[] = [];
      try {
        await defineTrail(service);
        await defineQueued(service);
        const user = await signUp(service);
        const table = { className: IMPORTED, fields: { of: { type: 'String' }, n: { type: 'Number' } } };
        assert.equal((await service.call('POST', `/platform/schemas/${IMPORTED}`, { body: table })).status, 200);
        const inject = (error: 'ENOSPC' | 'EIO', calls: readonly ('write' | 'sync' | 'read')[]) => async () => {
          const rule = faults.begin({ calls, path: service.dataDir, error });
          return async () => rule.end();
        };
        const database = join(service.dataDir, 'systems', service.appId, 'records.sqlite');
        for (const [name, begin, forMs] of [
          ['disk full', inject('ENOSPC', ['write']), 1_200],
          ['I/O errors', inject('EIO', ['write', 'sync', 'read']), 1_500],
          ['a lock', () => holdLock(database), 2_000],
        ] as const)
          await t.test(name, async () => {
            const workload = new Workload(service, user, name);
            await wait(300);
            const imported = importRows(service, faults, name);
            await underWay(service, name);
            const end = await begin();
            await wait(forMs);
            await end();
            await wait(500);
            await workload.stop();
            answered.push(...workload.answered);
            queued.push(...workload.queued);
            assert.deepEqual(workload.wrong.slice(0, 5), []);
            for (const session of workload.sessions.slice(-20))
              assert.ok(await isAlive(service, session), 'a session that was answered');
            for (const { url, text } of workload.files.slice(-20)) await assertServed(url, text);
            const { code, stdout, stderr } = await imported;
            assert.equal(code, 0, `import: ${stdout}${stderr}`);
            const where = { of: name };
            const { body } = await service.call('GET', path(IMPORTED), { query: { where, limit: 100_000, keys: 'n' } });
            const numbers = new Set(body.results.map(({ n }: { n: number }) => n));
            assert.deepEqual([body.results.length, numbers.size], [ROWS, ROWS], 'rows of the import, each once');
          });
        await emptied(service);
        await verifyTrail(service, answered, trail, QUEUED);
        assertCalled(queued, trail.calls());
      } finally {
        await service.stop();
        await trail.close();
      }
    });
  });
