/** Users of a Parse Server sign in with their old password, and its hash is replaced then. Reference: migration.md#migration-from-parse-server. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporary } from '../../edge/process.ts';
import { type EngineName, engines, type Service, sampledEngines } from '../../support/service.ts';
import { storedIn } from '../../support/stored.ts';
import { freshSystem } from '../other-system.ts';
import { migrate, oldHash, oldPassword } from './world.ts';

const names = ['dana', 'roni', 'noa', 'weak'];

async function migrated(engine: EngineName): Promise<Service> {
  const service = await freshSystem(engine);
  const dump = await temporary();
  const results = names.map((username) => ({
    objectId: `${username}Id`,
    username,
    email: `${username}@example.com`,
    bcryptPassword: oldHash,
  }));
  await writeFile(join(dump, '_User.json'), JSON.stringify({ results }));
  const { code, stdout, stderr } = await migrate(service, dump);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^_User 4 \(passwords kept\)/);
  return service;
}

const login = (service: Service, body: Record<string, string>) =>
  service.call('POST', '/platform/login', { as: 'anonymous', body });

for (const engine of sampledEngines()) {
  test(`an old password signs in, by name and by address, repeatedly and many times at once (${engine})`, async () => {
    const service = await migrated(engine);
    const wrong = await login(service, { username: 'dana', password: 'Wrong3Pass' });
    assert.deepEqual([wrong.status, wrong.body.code], [404, 101]);
    const all = await Promise.all(Array.from({ length: 5 }, () => login(service, { username: 'dana', password: oldPassword })));
    assert.deepEqual(
      all.map(({ status }) => status),
      all.map(() => 200),
    );
    const again = await login(service, { email: 'Dana@example.com', password: oldPassword });
    assert.equal(again.body.objectId, 'danaId', again.text);
    assert.equal((await login(service, { username: 'dana', password: 'Wrong3Pass' })).status, 404);
    const me = await service.call('GET', '/platform/users/me', { session: again.body.sessionToken });
    assert.equal(me.body.username, 'dana');
    // No hash of any kind is ever shown.
    for (const path of ['classes/_User', 'schemas/_User'])
      assert.doesNotMatch((await service.call('GET', `/platform/${path}`)).text, /\$2b\$|argon2|_imported/);
    assert.doesNotMatch(service.output(), /\$2b\$/);
  });

  test(`eight wrong passwords lock, a new password takes the place of the old one (${engine})`, async () => {
    const service = await migrated(engine);
    for (let n = 0; n < 8; n++) await login(service, { username: 'roni', password: 'Wrong3Pass' });
    const locked = await login(service, { username: 'roni', password: oldPassword });
    assert.equal(locked.status, 404);
    assert.match(locked.text, /lock/i);
    const changed = await service.call('PUT', '/platform/users/noaId', { body: { password: 'Another1Pass' } });
    assert.equal(changed.status, 200, changed.text);
    assert.equal((await login(service, { username: 'noa', password: oldPassword })).status, 404);
    assert.equal((await login(service, { username: 'noa', password: 'Another1Pass' })).status, 200);
    const blocked = await service.call('PUT', '/platform/users/weakId', { body: { active: false } });
    assert.equal(blocked.status, 200, blocked.text);
    assert.match((await login(service, { username: 'weak', password: oldPassword })).text, /not active/);
  });
}

if (engines.includes('postgres'))
  test('the first login replaces the hash of bcrypt, and no other', async () => {
    const service = await migrated('postgres');
    const hashes = async () => {
      const own = (await storedIn(service)).filter(({ path }) => path.includes(service.appId));
      const rows = own.map(({ bytes }) => bytes.toString());
      return names.map(
        (name) =>
          /\$2b\$|\$argon2id\$/.exec(rows.find((row) => row.includes(`${name}Id`) && row.includes('@example.com')) ?? '')?.[0],
      );
    };
    assert.deepEqual(await hashes(), ['$2b$', '$2b$', '$2b$', '$2b$']);
    await login(service, { username: 'dana', password: oldPassword });
    await login(service, { username: 'roni', password: 'Wrong3Pass' });
    assert.deepEqual(await hashes(), ['$argon2id$', '$2b$', '$2b$', '$2b$']);
  });
