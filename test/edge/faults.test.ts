/** The log and the exit code when a fault, and not a signal, ends the service. Reference: operations.md#log-lines. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { anyEngine, type EngineName, engines } from '../support/service.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { soon } from '../support/soon.ts';
import { temporary } from './process.ts';

/** Loaded into the service first: a signal throws outside of any function of a system, in the way that `FAULT` names. */
const FAULTY = `
const faults = {
  error: () => { throw new Error('fault on purpose'); },
  rejection: () => { Promise.reject(new Error('fault on purpose')); },
  text: () => { throw 'fault on purpose'; },
};
process.on('SIGUSR2', () => setImmediate(faults[process.env.FAULT]));
`;

async function startFaulty(engine: EngineName, fault: string, env: Record<string, string> = {}) {
  const file = join(await temporary(), 'faulty.mjs');
  await writeFile(file, FAULTY);
  return startServiceProcess({ engine, env: { LOG_LEVEL: 'info', FAULT: fault, NODE_OPTIONS: `--import=${file}`, ...env } });
}

/** Parses the log lines in the output of a service. */
const logLines = (output: string): Record<string, any>[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Record<string, any>);

/** Returns the log lines of start and stop, in order. */
const life = (output: string) =>
  logLines(output)
    .filter(({ msg }) => /^(started|stopping|stopped|a fault ends the process)$/.test(msg))
    .map(({ msg, cause, signal, err }) => [msg, cause ?? signal ?? err?.message].filter(Boolean));

const ended = [['started'], ['a fault ends the process', 'fault on purpose'], ['stopping', 'fault'], ['stopped']];

for (const engine of anyEngine)
  for (const fault of ['rejection', 'text'])
    test(`Operations: a fault (${fault}) is logged, then stopping with its cause, then stopped; the exit code is 1`, async () => {
      const service = await startFaulty(engine, fault);
      const exited = once(service.process, 'exit');
      const begun = Date.now();
      service.process.kill('SIGUSR2');
      assert.deepEqual(await exited, [1, null]);
      assert.ok(Date.now() - begun < 10_000, `${Date.now() - begun} ms`);
      assert.deepEqual(life(service.output()), ended, service.output());
      assert.match(service.output(), /^record-service: ended by a fault, which the log tells of$/m);
      await service.stop();
    });

for (const engine of anyEngine)
  test('Operations: a fault (error) is logged and ends the service; a request that is never answered does not hold the end', async () => {
    const service = await startFaulty(engine, 'error');
    const exited = once(service.process, 'exit');
    const body = new ReadableStream({ start: (stream) => stream.enqueue(Buffer.from('{"n":')) });
    const headers = { 'X-Platform-Application-Id': service.appId, 'X-Platform-Master-Key': service.masterKey };
    const sent = fetch(`${service.url}/platform/classes/Kept`, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
    const failed = assert.rejects(sent);
    await wait(300);
    const begun = Date.now();
    service.process.kill('SIGUSR2');
    assert.deepEqual(await exited, [1, null]);
    await failed;
    assert.ok(Date.now() - begun < 10_000, `${Date.now() - begun} ms`);
    assert.deepEqual(life(service.output()), ended, service.output());
    assert.match(service.output(), /^record-service: ended by a fault, which the log tells of$/m);
    await service.stop();
  });

for (const engine of anyEngine)
  test('Operations: a fault while the service ends is logged, and its exit code is 1', async () => {
    const service = await startFaulty(engine, 'error');
    const exited = once(service.process, 'exit');
    const { promise: rest, resolve: finish } = Promise.withResolvers<string>();
    const parts = async function* () {
      yield Buffer.from('{"n":');
      yield Buffer.from(await rest);
    };
    const headers = { 'X-Platform-Application-Id': service.appId, 'X-Platform-Master-Key': service.masterKey };
    const body = ReadableStream.from(parts());
    const sent = fetch(`${service.url}/platform/classes/Kept`, { method: 'POST', headers, body, duplex: 'half' } as RequestInit);
    await wait(300);
    service.process.kill('SIGTERM');
    await soon(async () => assert.ok(service.output().includes('"stopping"')));
    service.process.kill('SIGUSR2');
    await soon(async () => assert.ok(service.output().includes('a fault ends the process')));
    finish('1}');
    assert.equal((await sent).status, 201);
    assert.deepEqual(await exited, [1, null]);
    assert.deepEqual(life(service.output()), [
      ['started'],
      ['stopping', 'SIGTERM'],
      ['a fault ends the process', 'fault on purpose'],
      ['stopped'],
    ]);
    await service.stop();
  });

if (engines.includes('postgres')) {
  const together = { WEB_CONCURRENCY: '2' };
  test('Operations: of several processes one logs when the service started, why it stops, and when it has', async () => {
    const service = await startFaulty('postgres', 'error', together);
    assert.equal(await service.stop(), 0);
    assert.deepEqual(life(service.output()), [['started'], ['stopping', 'SIGTERM'], ['stopped']]);
    const started = logLines(service.output()).find(({ msg }) => msg === 'started');
    assert.deepEqual([started?.engine, started?.systems, started?.address], ['postgres', 1, service.url]);
  });

  test('Operations: a fault of the process that starts the others ends them all', async () => {
    const service = await startFaulty('postgres', 'error', together);
    const exited = once(service.process, 'exit');
    service.process.kill('SIGUSR2');
    assert.deepEqual(await exited, [1, null]);
    assert.deepEqual(life(service.output()), ended, service.output());
    await assert.rejects(fetch(`${service.url}/health/live`));
    await service.stop();
  });

  test('Operations: a fault of one of several processes is logged, and the service goes on', async () => {
    const service = await startFaulty('postgres', 'error', together);
    // The first process may serve before the service has started as a whole.
    await soon(async () => assert.deepEqual(life(service.output()), [['started']]), 15_000);
    const children = `/proc/${service.process.pid}/task/${service.process.pid}/children`;
    const workers = () => readFileSync(children, 'utf8').trim().split(' ');
    const [first, second] = workers();
    process.kill(Number(first), 'SIGUSR2');
    await soon(async () => {
      assert.deepEqual(
        [workers().length, workers().includes(String(second)), workers().includes(String(first))],
        [2, true, false],
      );
    }, 15_000);
    assert.equal((await service.call('GET', '/platform/classes/Accounts')).status, 200);
    assert.equal(await service.stop(), 0);
    assert.deepEqual(life(service.output()), [
      ['started'],
      ['a fault ends the process', 'fault on purpose'],
      ['stopping', 'SIGTERM'],
      ['stopped'],
    ]);
  });
}
