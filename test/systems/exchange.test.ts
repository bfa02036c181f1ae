/** The present system of an id is put aside, as by `system remove`, while another one comes into force. Reference: backup.md#restore. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startServices } from '../processes/processes.ts';
import { makeData, makeDatabase, settingsOf } from '../support/data.ts';
import { assertServed, fileObject, publicUrl, uploadFile } from '../support/files.ts';
import { runCommand } from '../support/hosts/run-command.ts';
import { onEachEngine, type Row } from '../support/query.ts';
import { anyEngine, compileCache, engines, type Service, startService } from '../support/service.ts';
import type { ServiceProcess } from '../support/service-process.ts';
import { afterCommand, soon } from '../support/soon.ts';
import { addSystem, callSystem, command, type System, succeed } from './cli.ts';
import { holdSystem, makeSystem } from './making.ts';

const maker = fileURLToPath(new URL('./maker.ts', import.meta.url));

/** Starts a process that makes a system and waits before this comes into force. */
async function startMaker(service: Service, appId: string) {
  const child = spawn(process.execPath, [maker, appId], {
    cwd: service.dataDir,
    env: { PATH: process.env.PATH ?? '', ...compileCache, ...service.settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  await Promise.race([once(child.stdout, 'data'), closed]);
  assert.equal(child.exitCode, null);
  return {
    async kill() {
      child.kill('SIGKILL');
      await closed;
    },
  };
}

const rowsOf = async (service: Service, system: System, table: string) =>
  (await callSystem(service, system, 'GET', `/platform/classes/${table}`)).body.results?.map((row: Row) => row.by);

const removed = async (service: Service): Promise<Row[]> =>
  (await succeed(service, 'system', 'list', '--removed', '--json'))
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

/** Folders of DATA_DIR whose names contain an application id. */
async function placesOf(service: Service, appId: string): Promise<string[]> {
  const lists = ['systems', 'files'].map(async (name) =>
    (await readdir(`${service.dataDir}/${name}`).catch(() => [])).map((one) => `${name}/${one}`),
  );
  return (await Promise.all(lists)).flat().filter((name) => name.includes(appId));
}

onEachEngine((get, engine) => {
  test('an exchanged system is put aside, and each comes back with its records, files and keys', async () => {
    const service = get();
    const old = await addSystem(service);
    const { appId } = old;
    const at = { ...service, ...old };
    const call = (system: System, path: string, body?: Row) =>
      callSystem(service, system, body ? 'POST' : 'GET', path, body ? { body } : {});
    await afterCommand(service, async () => assert.equal((await call(old, '/platform/schemas')).status, 200));
    const file = await uploadFile(at, 'a.txt', 'of the old one');
    await call(old, '/platform/classes/Made', { by: 'old', F: fileObject(file) });
    const { name } = (await call(old, '/platform/classes/Made')).body.results[0].F;
    const now = await makeSystem(service, appId, 'exchange');
    await afterCommand(service, async () => {
      assert.deepEqual(await rowsOf(service, now, 'Made'), ['maker']);
      assert.equal((await call(old, '/platform/classes/Made')).body.code, 119, 'its keys are good for it alone');
      assert.equal((await fetch(publicUrl(at, name))).status, 404);
    });
    const own = await uploadFile({ ...service, ...now }, 'b.txt', 'of the new one');
    await call(now, '/platform/classes/Made', { by: 'later', F: fileObject(own) });

    const [aside] = (await removed(service)).filter((row) => row.appId === appId);
    assert.deepEqual(Object.keys(aside ?? {}), ['appId', 'deleteAfter', 'name', 'restoreAs']);
    const id = String(aside?.restoreAs);
    assert.match(await succeed(service, 'system', 'list', '--removed'), new RegExp(`^${appId}\t20\\S+\t\\S+\t${id}$`, 'm'));
    for (const named of [appId, id]) {
      const refused = await command(service, 'system', 'restore', named);
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, new RegExp(`${appId} is in force: system restore ${named} --replace puts it aside`));
    }
    assert.match(
      await succeed(service, 'system', 'restore', appId, '--replace'),
      new RegExp(`^Restored ${appId}\nAside until .* ${appId}~`),
    );
    await afterCommand(service, async () => {
      assert.deepEqual(await rowsOf(service, old, 'Made'), ['old']);
      assert.equal((await call(now, '/platform/classes/Made')).body.code, 119);
    });
    await assertServed(publicUrl(at, name), 'of the old one');

    // Of two systems removed under the id, the last comes back, and the output names the other.
    await succeed(service, 'system', 'remove', appId);
    const output = await succeed(service, 'system', 'restore', appId);
    const other = (await removed(service)).find((row) => row.appId === appId)?.restoreAs;
    assert.ok(output.includes(`system restore ${other} --replace`), output);
    await afterCommand(service, async () => assert.deepEqual(await rowsOf(service, old, 'Made'), ['old']));
    await succeed(service, 'system', 'restore', String(other), '--replace');
    await afterCommand(service, async () => assert.deepEqual(await rowsOf(service, now, 'Made'), ['maker', 'later']));

    // Each of them is deleted separately.
    const [last] = (await removed(service)).filter((row) => row.appId === appId);
    await succeed(service, 'system', 'remove', String(last?.restoreAs), '--now');
    assert.deepEqual(await rowsOf(service, now, 'Made'), ['maker', 'later']);
    assert.ok(!(await placesOf(service, appId)).includes(`files/${appId}`));
    const [{ F: kept }] = (await call(now, '/platform/classes/Made?where={"by":"later"}')).body.results;
    await assertServed(publicUrl({ ...service, ...now }, kept.name), 'of the new one');
    assert.equal((await command(service, 'check')).code, 0);
    await succeed(service, 'system', 'remove', appId, '--now');
    assert.deepEqual(await placesOf(service, appId), []);
    if (!anyEngine.includes(engine)) return;
    // The id is free again.
    await addSystem(service, '--app-id', appId);
    await succeed(service, 'system', 'remove', appId, '--now');
  });

  test('while one of an id is aside the id stays taken, and what is forgotten is taken in by its place', async () => {
    const service = get();
    const { appId } = await addSystem(service);
    await makeSystem(service, appId, 'exchange');
    await succeed(service, 'system', 'forget', appId);
    const refused = await command(service, 'system', 'add', '--app-id', appId);
    assert.match(
      refused.stderr,
      new RegExp(`^record-service: the application id ${appId} is taken by a removed system: system restore ${appId}~`),
    );
    const found = (await command(service, 'check')).stdout.split('\n').find((line) => line.includes('is not registered'));
    const place = String(found?.split('\t')[0]);
    assert.match(place, new RegExp(`^${appId}~`));
    assert.match((await command(service, 'system', 'adopt', place)).stderr, new RegExp(`system forget ${appId}~\\S+ drops it`));
    const [aside] = (await removed(service)).filter((row) => row.appId === appId);
    await succeed(service, 'system', 'remove', String(aside?.restoreAs), '--now');
    const [, masterKey = ''] = /Master key: (\S+)/.exec(await succeed(service, 'system', 'adopt', place)) ?? [];
    const adopted = { appId, masterKey, apiKey: '' };
    await afterCommand(service, async () => assert.deepEqual(await rowsOf(service, adopted, 'Made'), ['maker']));
    await succeed(service, 'system', 'remove', appId, '--now');
    assert.equal((await command(service, 'check')).code, 0);
  });

  test('a making that is cut off leaves nothing, and one that goes on is left alone', async () => {
    const service = get();
    const dead = 'Cut-off';
    const [alive, killed] = await Promise.all([startMaker(service, 'Goes-on'), startMaker(service, dead)]);
    assert.deepEqual(await placesOf(service, `files/${dead}`), [`files/${dead}`]);
    await killed.kill();
    // The command clears what the killed process left.
    const other = await addSystem(service);
    assert.deepEqual(await placesOf(service, dead), []);
    assert.deepEqual(await placesOf(service, 'files/Goes-on'), ['files/Goes-on']);
    await alive.kill();
    await makeSystem(service, 'Goes-on', 'beside');
    for (const appId of ['Goes-on', other.appId]) await succeed(service, 'system', 'remove', appId, '--now');
    assert.equal((await command(service, 'check')).code, 0);
  });
});

if (engines.includes('postgres'))
  test('an exchange is seen by every process, and requests in flight are answered by the system that they came to', async () => {
    const database = await makeDatabase(true);
    const [a, b] = (await startServices(2, database)) as [ServiceProcess, ServiceProcess];
    try {
      const old = { appId: a.appId, masterKey: a.masterKey, apiKey: a.apiKey };
      const put = (service: Service, n: number) =>
        callSystem(service, old, 'POST', '/platform/classes/Made', { body: { by: `${n}` } });
      for (const service of [a, b]) assert.equal((await put(service, 0)).status, 201);
      let isOver = false;
      const acknowledged: string[] = ['0', '0'];
      const writer = async (service: Service, from: number) => {
        for (let n = from; !isOver; n += 4) {
          const { status } = await put(service, n);
          assert.ok([201, 400].includes(status), `${status}`);
          if (status === 201) acknowledged.push(`${n}`);
          await wait(5);
        }
      };
      const writing = [a, a, b, b].map((service, n) => writer(service, n + 1));
      const now = await makeSystem(a, a.appId, 'exchange');
      for (const service of [a, b])
        await soon(async () => {
          assert.deepEqual(await rowsOf(service, now, 'Made'), ['maker']);
          assert.equal((await put(service, -1)).body.code, 119);
        });
      isOver = true;
      await Promise.all(writing);
      await succeed(a, 'system', 'restore', a.appId, '--replace');
      for (const service of [a, b])
        await soon(async () => {
          const { body } = await callSystem(service, old, 'GET', '/platform/classes/Made?limit=1000&count=1');
          assert.equal(body.count, acknowledged.length);
        });
    } finally {
      for (const service of [a, b]) await service.stop();
      await database.drop();
    }
  });

if (engines.includes('postgres'))
  test('a move carries over what is aside in exchange, where each lies, and that a system is held', async () => {
    const { dataDir, remove } = await makeData('sqlite');
    const database = await makeDatabase(false);
    const running: Service[] = [];
    const start = async (data: object) => {
      const service = await startService(data);
      running.push(service);
      return service;
    };
    try {
      const from = await start({ dataDir });
      const old = { appId: from.appId, masterKey: from.masterKey, apiKey: from.apiKey };
      await callSystem(from, old, 'POST', '/platform/classes/Made', { body: { by: 'old' } });
      const now = await makeSystem(from, from.appId, 'exchange');
      await holdSystem(from, from.appId);
      const aside = await removed(from);
      const held = await succeed(from, 'system', 'list', '--json');
      assert.match(held, /"held":/);
      await from.stop();
      const data = { dataDir, database };
      const moved = await runCommand(['move', '--to', 'postgres', '--quiet'], settingsOf(data), dataDir);
      assert.equal(moved.code, 0, moved.stderr);
      const to = await start(data);
      // In a cluster the list says where a system lies, too.
      const { node: _, ...row } = JSON.parse(await succeed(to, 'system', 'list', '--json'));
      assert.deepEqual([await removed(to), row], [aside, JSON.parse(held)]);
      assert.deepEqual(await rowsOf(to, now, 'Made'), ['maker']);
      await succeed(to, 'system', 'restore', to.appId, '--replace');
      await soon(async () => assert.deepEqual(await rowsOf(to, old, 'Made'), ['old']));
    } finally {
      for (const service of running) await service.stop();
      await database.drop();
      await remove();
    }
  });
