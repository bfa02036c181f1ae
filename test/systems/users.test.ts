/** `user add`, and the administrator of a new system. Reference: users.md#administrators. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { runToEnd, startBare } from '../edge/process.ts';
import { dataForTest } from '../support/data.ts';
import { runCommand } from '../support/hosts/run-command.ts';
import { onEachEngine, pointer } from '../support/query.ts';
import type { Json } from '../support/records.ts';
import { anyEngine, compileCache, engines, type Service } from '../support/service.ts';
import { afterCommand } from '../support/soon.ts';
import { callSystem, command, printed, succeed } from './cli.ts';

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url));
const lines = (text: string) => text.trim().split('\n');
const policy = /^(?=.*\p{Ll})(?=.*\p{Lu})(?=.*\p{Nd}).{20}$/u;

/** Returns the users with a name, as the master key reads them. */
async function usersNamed(service: Service, username: string): Promise<Json[]> {
  const { body } = await service.call('GET', '/platform/users', { query: { where: { username } } });
  return body.results;
}

/** Returns the names of the roles of a user. */
async function rolesOf(service: Service, userId: string): Promise<string[]> {
  const { body } = await service.call('GET', '/platform/roles', { query: { where: { users: pointer('_User', userId) } } });
  return body.results.map((role: Json) => role.name).sort();
}

const logIn = (service: Service, username: string, password: string) =>
  service.call('POST', '/platform/login', { as: 'anonymous', body: { username, password } });

onEachEngine((get, engine) => {
  test('user add: makes a user with their roles, and prints a generated password once', async () => {
    const args = ['--username', 'dana@crm.example', '--name', 'Dana Levi'];
    const output = await succeed(get(), 'user', 'add', '--system', get().appId, ...args, '--role', 'Sales', '--role', 'Service');
    const password = printed(output, /password/i);
    assert.match(password, policy);
    const { status, body } = await logIn(get(), 'dana@crm.example', password);
    assert.equal(status, 200);
    assert.deepEqual([body.name, body.email, body.objectId], ['Dana Levi', 'dana@crm.example', printed(output, /id/i)]);
    assert.deepEqual(await rolesOf(get(), body.objectId), ['Sales', 'Service']);
  });
  test('user add: a given password is not printed; without roles the user has none', async () => {
    const output = await succeed(get(), 'user', 'add', '--system', get().appId, '--username', 'avi', '--password', 'Given1Pass');
    assert.ok(!output.includes('Given1Pass'));
    const { body } = await logIn(get(), 'avi', 'Given1Pass');
    assert.deepEqual(await rolesOf(get(), body.objectId), []);
  });
  test('user list, set-password, block, unblock: what an operator needs in an emergency', async () => {
    const service = get();
    const of = ['--system', service.appId];
    await succeed(service, 'user', 'add', ...of, '--username', 'Noa@crm.example', '--password', 'Given1Pass', '--name', 'Noa');
    const { body } = await logIn(service, 'noa@crm.example', 'Given1Pass');
    const isAlive = async () => (await service.call('GET', '/platform/users/me', { session: body.sessionToken })).status === 200;
    const listed = async () =>
      lines(await succeed(service, 'user', 'list', ...of, '--json'))
        .map((line) => JSON.parse(line))
        .find(({ name }) => name === 'Noa');
    assert.deepEqual(Object.keys(await listed()), ['username', 'objectId', 'state', 'lastLogin', 'name']);
    assert.match((await listed()).lastLogin, /^20\d\d-.*Z$/);
    assert.match(
      await succeed(service, 'user', 'list', ...of),
      new RegExp(`^Noa@crm.example\t${body.objectId}\tactive\t20.*Z\tNoa$`, 'm'),
    );
    assert.ok(await isAlive());

    await succeed(service, 'user', 'block', ...of, 'NOA@crm.example');
    await afterCommand(service, async () => assert.ok(!(await isAlive())));
    assert.equal((await listed()).state, 'blocked');
    assert.notEqual((await logIn(service, 'noa@crm.example', 'Given1Pass')).status, 200);
    await succeed(service, 'user', 'unblock', ...of, 'noa@crm.example');
    const made = printed(await succeed(service, 'user', 'set-password', ...of, 'noa@crm.example'), /password/i);
    assert.match(made, policy);
    assert.equal((await logIn(service, 'noa@crm.example', made)).status, 200);
    assert.notEqual((await logIn(service, 'noa@crm.example', 'Given1Pass')).status, 200);
    assert.ok(
      !(await succeed(service, 'user', 'set-password', ...of, 'noa@crm.example', '--password', 'Other1Pass')).includes('Other1'),
    );
    assert.equal((await logIn(service, 'noa@crm.example', 'Other1Pass')).status, 200);
    for (const args of [
      ['set-password', 'noa@crm.example', '--password', 'weak'],
      ['block', 'nobody'],
      ['unblock', 'nobody'],
    ]) {
      const { code, stdout, stderr } = await command(service, 'user', ...args, ...of);
      assert.deepEqual([code, stdout, lines(stderr).length], [1, '', 1], stderr);
    }
  });
  test('user block: the last active administrator only with --force; of two, blocked at once, one stays', async () => {
    const service = get();
    const of = ['--system', service.appId];
    const { body } = await service.call('GET', '/platform/roles', { query: { where: { name: 'Admin' } } });
    const members = { __type: 'Relation', className: '_User' };
    assert.deepEqual(body.results[0].users, members);
    const active = async () => {
      const where = { $relatedTo: { object: pointer('_Role', body.results[0].objectId), key: 'users' }, active: { $ne: false } };
      return (await service.call('GET', '/platform/users', { query: { where } })).body.results.map((user: Json) => user.username);
    };
    for (const name of await active()) await succeed(service, 'user', 'block', ...of, name, '--force');
    for (const name of ['one', 'two']) await succeed(service, 'user', 'add', ...of, '--username', name, '--role', 'Admin');
    const both = await Promise.all(
      ['one', 'two'].map((name) => runToEnd(['user', 'block', ...of, name], service.settings, service.dataDir)),
    );
    assert.deepEqual(both.map(({ code }) => code).sort(), [0, 1], both.map(({ stderr }) => stderr).join());
    assert.equal((await active()).length, 1);
    const [last] = await active();
    const { code, stdout, stderr } = await command(service, 'user', 'block', ...of, last);
    assert.deepEqual([code, stdout, lines(stderr).length], [1, '', 1], stderr);
    assert.match(stderr, /last active member of Admin.*--force/);
    await succeed(service, 'user', 'block', ...of, last, '--force');
    assert.deepEqual(await active(), []);
    await succeed(service, 'user', 'block', ...of, 'one');
    await succeed(service, 'user', 'unblock', ...of, 'one');
    assert.deepEqual(await active(), ['one']);
  });
  for (const [why, args, line, on = anyEngine] of [
    ['a name that is taken, in any case', ['--username', 'AVI'], /Account already exists for this username\.$/, engines],
    [
      'a weak password',
      ['--username', 'noa', '--password', 'weak'],
      /Password does not meet the Password Policy requirements\.$/,
    ],
    ['an address that is none', ['--username', 'noa', '--email', 'noa'], /Email address format is invalid\.$/],
    ['an empty name', ['--username', ' '], /bad or missing username$/],
    [
      'a role that is missing',
      ['--username', 'noa', '--role', 'Sales', '--role', 'No\nSuch'],
      /there is no role "No\?Such"$/,
      engines,
    ],
  ] as const)
    if (on.includes(engine))
      test(`user add: ${why} is refused in one line, and nothing is made`, async () => {
        const { code, stdout, stderr } = await command(get(), 'user', 'add', '--system', get().appId, ...args);
        assert.equal(code, 1);
        assert.equal(stdout, '');
        assert.equal(lines(stderr).length, 1, stderr);
        assert.match(stderr.trim(), line);
        assert.deepEqual(await usersNamed(get(), 'noa'), []);
      });
  test('user add: a system that is missing is refused', async () => {
    const { code, stderr } = await command(get(), 'user', 'add', '--system', 'none', '--username', 'noa');
    assert.equal(code, 1);
    assert.match(stderr, /there is no system "none"/);
  });

  if (anyEngine.includes(engine))
    test('system add: --admin-email makes an administrator, with a password of their own or a given one', async () => {
      const cases: [appId: string, given: string[]][] = [
        ['with-admin', []],
        ['with-password', ['--admin-password', 'Given1Pass']],
      ];
      for (const [appId, given] of cases) {
        const args = ['system', 'add', '--app-id', appId, '--admin-email', 'boss@crm.example', ...given];
        const output = await succeed(get(), ...args);
        const password = given[1] ?? printed(output, /password/i);
        if (given[1]) assert.ok(!output.includes(given[1]));
        const system = { appId, masterKey: printed(output, /master/i), apiKey: printed(output, /api/i) };
        const body = { username: 'boss@crm.example', password };
        await afterCommand(get(), async () =>
          assert.equal((await callSystem(get(), system, 'POST', '/platform/login', { as: 'anonymous', body })).status, 200),
        );
      }
    });
  test('system add: a weak password of the administrator, or one without an address, adds nothing', async () => {
    for (const args of [
      ['--admin-email', 'boss@crm.example', '--admin-password', 'weak'],
      ['--admin-password', 'Given1Pass'],
    ]) {
      const { code, stderr } = await command(get(), 'system', 'add', '--app-id', 'not-made', ...args);
      assert.equal(code, 1);
      assert.equal(lines(stderr).length, 1, stderr);
      assert.ok(!stderr.includes('weak') && !stderr.includes('Given1Pass'));
    }
    assert.ok(!(await succeed(get(), 'system', 'list')).includes('not-made'));
  });
});

type Kept = Record<'appId' | 'masterKey' | 'adminEmail' | 'adminPassword', string>;
const kept = async (cwd: string): Promise<Kept> => JSON.parse(await readFile(join(cwd, 'credentials.json'), 'utf8'));
async function ask(url: string, { appId, masterKey }: Partial<Kept>, path: string, body?: object): Promise<Json> {
  const headers = { 'X-Platform-Application-Id': appId ?? '', ...(masterKey ? { 'X-Platform-Master-Key': masterKey } : {}) };
  const init = body ? { method: 'POST', body: JSON.stringify(body) } : {};
  const response = await fetch(`${url}/platform${path}`, { ...init, headers });
  return { status: response.status, ...((await response.json()) as Json) };
}

for (const engine of anyEngine)
  describe(`first start (${engine})`, () => {
    test('the administrator has a generated password, printed once and kept, and the role Admin', async () => {
      const { dataDir: cwd, settings } = await dataForTest(engine, false);
      const first = await startBare(settings, cwd);
      const { appId, masterKey, adminEmail, adminPassword } = await kept(cwd);
      assert.equal(adminEmail, 'admin@example.com');
      assert.match(adminPassword, policy);
      assert.ok(first.output().includes(adminEmail) && first.output().includes(adminPassword));
      const user = await ask(first.url, { appId }, '/login', { username: adminEmail, password: adminPassword });
      assert.deepEqual([user.status, user.username, user.email], [200, adminEmail, adminEmail]);
      const where = encodeURIComponent(JSON.stringify({ users: pointer('_User', user.objectId) }));
      const roles = await ask(first.url, { appId, masterKey }, `/roles?where=${where}`);
      assert.deepEqual(
        roles.results.map(({ name }: Json) => name),
        ['Admin'],
      );
      assert.equal(await first.stop(), 0);
      const second = await startBare({ ...settings, ADMIN_PASSWORD: 'Other1Pass' }, cwd);
      assert.ok(!second.output().includes(adminPassword));
      const again = { username: adminEmail, password: adminPassword };
      assert.equal((await ask(second.url, { appId }, '/login', again)).status, 200, 'used only when the store is empty');
      await second.stop();
    });

    test('one that is cut off leaves no system without its administrator', async () => {
      const { dataDir: cwd, settings } = await dataForTest(engine, false);
      const env = { PATH: process.env.PATH ?? '', HOST: '127.0.0.1', PORT: '0', ...compileCache, ...settings };
      for (const after of [250, 450, 650]) {
        const child = spawn(process.execPath, [main, 'start'], { cwd, env, stdio: 'ignore' });
        await wait(after);
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
      const service = await startBare(settings, cwd);
      const { appId, adminEmail, adminPassword } = await kept(cwd);
      const body = { username: adminEmail, password: adminPassword };
      assert.equal((await ask(service.url, { appId }, '/login', body)).status, 200);
      await service.stop();
    });

    test('a given password stays where it was given', async () => {
      const { dataDir: cwd, settings } = await dataForTest(engine, false);
      const given = { ADMIN_EMAIL: 'boss@crm.example', ADMIN_PASSWORD: 'Given1Pass' };
      const service = await startBare({ ...settings, ...given }, cwd);
      const { appId, ...rest } = await kept(cwd);
      assert.ok(!Object.hasOwn(rest, 'adminPassword') && !service.output().includes('Given1Pass'));
      const body = { username: 'boss@crm.example', password: 'Given1Pass' };
      assert.equal((await ask(service.url, { appId }, '/login', body)).status, 200);
      await service.stop();
    });

    test('where all is given, nothing is printed and nothing kept', async () => {
      const { dataDir: cwd, settings } = await dataForTest(engine, false);
      const keys = { APP_ID: 'app', MASTER_KEY: 'a-master-key-of-its-own', API_KEY: 'an-api-key-of-its-own', LOG_LEVEL: 'warn' };
      const service = await startBare(
        { ...settings, ...keys, ADMIN_EMAIL: 'boss@crm.example', ADMIN_PASSWORD: 'Given1Pass' },
        cwd,
      );
      const [address = '', page = '', ...rest] = lines(service.output());
      assert.match(address, /listening on http/);
      assert.match(page, /^Console: http\S+\/console\/$/);
      assert.deepEqual(rest, []);
      assert.ok(!existsSync(join(cwd, 'credentials.json')));
      await service.stop();
    });

    for (const password of ['Short1A', 'NoDigitsHere'])
      test(`ADMIN_PASSWORD that the policy refuses stops it, and makes nothing: ${password}`, async () => {
        const { dataDir: cwd, settings } = await dataForTest(engine, false);
        const env = { HOST: '127.0.0.1', PORT: '0', ...settings };
        const { code, stdout, stderr } = await runToEnd(['start'], { ...env, ADMIN_PASSWORD: password }, cwd);
        assert.equal(code, 1);
        assert.equal(stdout, '');
        assert.equal(lines(stderr).length, 1, stderr);
        assert.match(stderr, /ADMIN_PASSWORD: /);
        assert.ok(!stderr.includes(password));
        const list = await runCommand(['system', 'list'], settings, cwd);
        assert.equal(list.stdout, '');
        assert.ok(!existsSync(join(cwd, 'credentials.json')));
      });
  });
