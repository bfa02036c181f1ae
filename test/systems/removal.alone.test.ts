/** A removed system is put aside for 14 days, answers 403 everywhere and can be restored unchanged. Reference: faults.md#removed-systems. */
import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { dataForTest } from '../support/data.ts';
import { assertServed, fileObject, publicUrl, uploadFile } from '../support/files.ts';
import { runCommand } from '../support/hosts/run-command.ts';
import { keyHeaders, mcpAddress, message, post } from '../support/mcp.ts';
import { find, onEachEngine, type Row } from '../support/query.ts';
import { useStore } from '../support/records.ts';
import { anyEngine, type Service } from '../support/service.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { afterCommand } from '../support/soon.ts';
import { clockAhead } from '../support/users.ts';
import { addSystem, callSystem, command, type System, succeed } from './cli.ts';

/** Adds a system and returns it, once the service knows it, with a function that calls it. */
async function newSystem(service: Service) {
  const system = await addSystem(service);
  const call = (method: string, path: string, body?: Row, as: 'master' | 'apiKey' = 'master') =>
    callSystem(service, system, method, path, body === undefined ? { as } : { as, body });
  await afterCommand(service, async () => assert.equal((await call('GET', '/platform/schemas/_User')).status, 200));
  return { system, call };
}

const unauthorized = { error: 'unauthorized' };

/** Every address of a system, with its answer. */
async function answers(service: Service, system: System, file: string): Promise<[door: string, status: number, body: unknown][]> {
  const { appId } = system;
  const headers = { 'X-Platform-Application-Id': appId, 'X-Platform-Master-Key': system.masterKey };
  const json = { ...headers, 'Content-Type': 'application/json' };
  const doors: [string, RequestInit?][] = [
    ['/platform/classes/Accounts', { headers }],
    ['/platform/schemas', { headers }],
    ['/platform/login', { method: 'POST', headers: json, body: '{"username":"a","password":"b"}' }],
    ['/platform/batch', { method: 'POST', headers: json, body: '{"requests":[]}' }],
    ['/platform/files/a.txt', { method: 'POST', headers, body: 'x' }],
    [`/functions/${appId}/getlead?Name=x&PhoneNumber=1`],
    [`/static/${appId}/${file}`],
    [`/platform/files/${appId}/${file}`],
    [`/platform/files/${appId}/${file}/Accounts/x/F`, { headers }],
    [`/oauth/${appId}/.well-known/oauth-authorization-server`],
    [`/.well-known/oauth-authorization-server/oauth/${appId}`],
    [`/.well-known/oauth-protected-resource/mcp/${appId}`],
    [`/oauth/${appId}/token`, { method: 'POST', headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: 'a=b' }],
  ];
  return Promise.all(
    doors.map(async ([path, init]) => {
      const response = await fetch(service.url + path, { redirect: 'manual', ...init });
      const text = await response.text();
      return [path, response.status, text.startsWith('{') ? JSON.parse(text) : text];
    }),
  );
}

onEachEngine((get, engine) => {
  test('Operations: a removed system answers 403 at every address, and is restored unchanged', async () => {
    const service = get();
    const { system, call } = await newSystem(service);
    const { appId } = system;
    const at = { ...service, ...system };
    const file = await uploadFile(at, 'a.txt', 'the bytes');
    const made = await call('POST', '/platform/classes/Accounts', { Name: 'kept', F: fileObject(file) });
    assert.equal(made.status, 201, made.text);
    await succeed(service, 'files', 'quota', '--system', appId, '--bytes', '10MB');
    const { name } = (await call('GET', `/platform/classes/Accounts/${made.body.objectId}`)).body.F;
    await assertServed(publicUrl(at, name), 'the bytes');

    assert.match(await succeed(service, 'system', 'remove', appId), new RegExp(`comes back by: .*system restore ${appId}`));
    await afterCommand(service, async () => {
      for (const [door, status, body] of await answers(service, system, name))
        assert.deepEqual([door, status, body], [door, 403, unauthorized]);
      const listed = await post(mcpAddress(at), message('tools/list'), keyHeaders(system));
      assert.deepEqual([listed.status, listed.body.error.message], [403, 'unauthorized']);
      const page = await fetch(`${service.url}/oauth/${appId}/authorize`, { headers: { accept: 'text/html' } });
      assert.equal(page.status, 403);
    });
    for (const [door, status] of await answers(service, { ...system, appId: 'never-there' }, name))
      assert.ok(status === 403 || (status === 404 && !door.startsWith('/platform/classes')), door);

    assert.ok(!(await succeed(service, 'system', 'list')).includes(appId));
    assert.match(await succeed(service, 'system', 'list', '--removed'), new RegExp(`^${appId}\t20\\d\\d-.*Z\t${appId}$`, 'm'));
    const [row] = (await succeed(service, 'system', 'list', '--removed', '--json'))
      .split('\n')
      .map((line) => line && JSON.parse(line));
    assert.deepEqual(Object.keys(row), ['appId', 'deleteAfter', 'name']);
    const wayOut = new RegExp(`system restore ${appId} brings it back`);
    for (const args of [
      ['system', 'add', '--app-id', appId],
      ['system', 'add', '--app-id', appId.toUpperCase()],
      ['system', 'remove', appId],
      ['key', 'add', '--system', appId, '--name', 'more'],
      ['key', 'list', '--system', appId],
      ['user', 'add', '--system', appId, '--username', 'x'],
      ['files', 'usage', '--system', appId],
    ]) {
      const { code, stderr } = await command(service, ...args);
      assert.deepEqual([code, wayOut.test(stderr), stderr.trim().split('\n').length], [1, true, 1], stderr);
    }
    assert.equal((await command(service, 'system', 'restore', 'never-there')).code, 1);

    await succeed(service, 'system', 'restore', appId);
    await afterCommand(service, async () => {
      for (const as of ['master', 'apiKey'] as const) {
        const { body } = await call('GET', `/platform/classes/Accounts/${made.body.objectId}`, undefined, as);
        assert.equal(body.Name, 'kept');
      }
    });
    await assertServed(publicUrl(at, name), 'the bytes');
    assert.match(await succeed(service, 'files', 'usage', '--system', appId), /^quota: 10000000$/m);
    assert.ok((await succeed(service, 'system', 'list')).includes(appId));
  });

  test('Operations: remove --now deletes at once, what was put aside too, and the id is free', async () => {
    const service = get();
    let { system } = await newSystem(service);
    // Both on one engine: on the other, exchange.test.ts removes systems in force.
    for (const isAside of anyEngine.includes(engine) ? [false, true] : [true]) {
      const { appId } = system;
      await callSystem(service, system, 'POST', '/platform/classes/T', { body: { n: 1 } });
      await uploadFile({ ...service, ...system }, 'a.txt', 'x');
      if (isAside) await succeed(service, 'system', 'remove', appId);
      await succeed(service, 'system', 'remove', appId, '--now');
      assert.equal(await succeed(service, 'system', 'list', '--removed'), '');
      assert.equal((await command(service, 'system', 'restore', appId)).code, 1);
      assert.ok(!(await kept(service)).includes(appId));
      const again = await addSystem(service, '--app-id', appId);
      await afterCommand(service, async () =>
        assert.deepEqual((await callSystem(service, again, 'GET', '/platform/classes/T')).body, { results: [] }),
      );
      assert.equal((await callSystem(service, system, 'GET', '/platform/schemas')).status, 403);
      system = again;
    }
    assert.equal((await command(service, 'system', 'remove', 'never-there', '--now')).code, 1);
  });
});

/** The systems that DATA_DIR has folders of. */
async function kept({ dataDir }: Service): Promise<string[]> {
  const lists = ['systems', 'files'].map((name) => readdir(`${dataDir}/${name}`).catch(() => []));
  return (await Promise.all(lists)).flat();
}

// The clock and the days of removed systems do not depend on the engine.
for (const engine of anyEngine)
  describe(engine, () => {
    const { service } = useStore(engine);

    test('Operations: triggers by the clock of a removed system rest, and go on once it is restored', async () => {
      const { system, call } = await newSystem(service());
      const action = { type: 'create-object', actionData: { table: 'Marks', fields: { n: 1 } } };
      await call('POST', '/platform/classes/Marks', { n: 0 });
      await call('POST', '/platform/classes/Clock', { n: 0 });
      const trigger = {
        Name: 'clock',
        table: 'Clock',
        events: ['schedule'],
        actions: [action],
        schedule: { cron: '* * * * * *', timezone: 'UTC' },
      };
      assert.equal((await call('POST', '/platform/classes/_Trigger', trigger)).status, 201);
      const marks = async (): Promise<string[]> =>
        (await call('GET', '/platform/classes/Marks?where={"n":1}&limit=1000')).body.results.map((row: Row) =>
          String(row.createdAt),
        );
      const until = async (isSo: (marks: string[]) => boolean) => {
        const deadline = Date.now() + 20_000;
        while (!isSo(await marks())) {
          assert.ok(Date.now() < deadline, 'the clock does not go on');
          await wait(50);
        }
      };
      await until((found) => found.length > 0);
      await succeed(service(), 'system', 'remove', system.appId);
      const from = new Date(Date.now() + 2_500).toISOString();
      await wait(4_500);
      const to = new Date().toISOString();
      await succeed(service(), 'system', 'restore', system.appId);
      await afterCommand(service(), async () => assert.equal((await call('GET', '/platform/schemas/Marks')).status, 200));
      await until((found) => found.some((at) => at > to));
      assert.deepEqual(
        (await marks()).filter((at) => at > from && at < to),
        [],
      );
    });
  });

for (const engine of anyEngine)
  test(`Operations: a start 14 days later deletes what was removed, and nothing else (${engine})`, async () => {
    const data = await dataForTest(engine);
    const service = await startServiceProcess(data);
    const [gone, younger, back] = [await newSystem(service), await newSystem(service), await newSystem(service)];
    for (const { system } of [gone, younger, back]) await uploadFile({ ...service, ...system }, 'a.txt', 'x');
    for (const { system } of [gone, back]) await succeed(service, 'system', 'remove', system.appId);
    await succeed(service, 'system', 'restore', back.system.appId);
    const days = 24 * 3_600_000;
    const removeLater = await runCommand(
      ['system', 'remove', younger.system.appId],
      { ...service.settings, ...clockAhead(days) },
      service.dataDir,
    );
    assert.equal(removeLater.code, 0, removeLater.stderr);
    await service.kill();
    const later = await startServiceProcess({ ...data, env: clockAhead(14 * days + 60_000) });
    try {
      const deadline = Date.now() + 10_000;
      const isListed = async ({ system }: typeof gone) =>
        (await succeed(later, 'system', 'list', '--removed')).includes(system.appId);
      while ((await isListed(gone)) && Date.now() < deadline) await wait(100);
      assert.deepEqual([await isListed(gone), await isListed(younger)], [false, true]);
      const found = await kept(later);
      assert.deepEqual(
        [gone, younger, back].map(({ system }) => found.includes(system.appId)),
        [false, true, true],
      );
      assert.equal((await callSystem(later, back.system, 'GET', '/platform/schemas')).status, 200);
      assert.deepEqual(await find(later, 'Nothing'), []);
    } finally {
      await later.kill();
    }
  });
