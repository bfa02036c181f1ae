/** `record-service migrate parse` from the tables of a real Parse Server in PostgreSQL. Reference: migration.md#migration-from-parse-server. */
import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporary } from '../../edge/process.ts';
import { engines, sampledEngines } from '../../support/service.ts';
import { freshSystem } from '../other-system.ts';
import { before, type Json, killedOnce, migrate, objectsOf, parseDatabase } from './world.ts';

const classes = ['Post', 'Place', 'Letter', '_User', '_Role'] as const;
const idsOf = (className: string): string[] => before[className].map(({ objectId }: Json) => objectId);

/** Returns an object as Parse showed it, with the changes of a migration. */
function expected(className: string, object: Json): Json {
  const { authData: _, ...rest } = structuredClone(object);
  if (Object.keys(rest.ACL ?? {}).length === 0) rest.ACL = rest.ACL ? { '*': {} } : {};
  if (className === 'Place') for (const name of ['at', 'raw', 'area']) delete rest[name].__type;
  return rest;
}

for (const engine of engines) {
  test(`objects are read as Parse Server showed them, users sign in and see what they saw (${engine})`, async () => {
    const service = await freshSystem(engine);
    const { url } = await parseDatabase();
    const users = await objectsOf(service, '_User');
    const dry = await migrate(service, url, '--dry-run');
    assert.equal(dry.code, 0, dry.stderr);
    assert.deepEqual(await objectsOf(service, '_User'), users);
    assert.equal((await service.call('GET', '/platform/schemas/Post')).status, 400);
    const run = await migrate(service, url);
    assert.equal(run.code, 0, run.stderr);
    assert.equal(run.stdout, dry.stdout);
    for (const part of [
      'Letter 20 · Place 5 · Post 12 · _User 9 (8 passwords kept) · _Role 3 · ',
      '_Session not taken (',
      '_Installation not taken (1)',
      '_GlobalConfig not taken (1)',
      'GeoPoint fields kept as Object: Place.at',
      'Bytes fields kept as Object: Place.raw',
      'authData of 1 user not taken',
      'not taken: defaultValue of Letter.note',
    ])
      assert.ok(run.stdout.includes(part), `${part}\n${run.stdout}`);

    for (const className of classes) {
      const found = await objectsOf(service, className);
      for (const object of before[className]) {
        const wanted = expected(className, object);
        const read = found.get(object.objectId);
        if (wanted.cover) {
          // Without --files-from the name is kept; the URL is of this service.
          assert.equal(read.cover.name, wanted.cover.name);
          wanted.cover = read.cover;
        }
        assert.deepEqual(read, wanted);
      }
    }
    for (const [owner, members] of Object.entries(before.readers)) {
      const where = { $relatedTo: { object: { __type: 'Pointer', className: 'Post', objectId: owner }, key: 'readers' } };
      const { body } = await service.call('GET', '/platform/classes/_User', { query: { where, order: 'objectId' } });
      assert.deepEqual(
        body.results.map(({ objectId }: Json) => objectId),
        members,
      );
    }
    for (const [n, seen] of before.signedIn.entries()) {
      const login = await service.call('POST', '/platform/login', {
        as: 'anonymous',
        body: { username: `User ${n}`, password: `old password ${n}` },
      });
      assert.equal(login.status, 200, login.text);
      const read = async (className: string): Promise<Json[]> => {
        const answer = await service.call('GET', `/platform/classes/${className}`, {
          session: login.body.sessionToken,
          query: { limit: 1_000, order: 'objectId' },
        });
        assert.equal(answer.status, 200, answer.text);
        return answer.body.results.filter(({ objectId }: Json) => idsOf(className).includes(objectId));
      };
      const ids = (objects: Json[]) => objects.map(({ objectId }) => objectId);
      const posts = await read('Post');
      assert.deepEqual(ids(posts), seen.Post);
      assert.deepEqual(ids(posts.filter(({ secret }) => secret !== undefined)), seen.secrets);
      for (const className of ['Place', 'Letter', '_User']) assert.deepEqual(ids(await read(className)), seen[className]);
      assert.deepEqual(ids((await read('_User')).filter(({ email }) => email !== undefined)), seen.emails);
    }
    const { body: schema } = await service.call('GET', '/platform/schemas/Post');
    assert.deepEqual(schema.indexes, { by_likes: { likes: -1, title: 1 }, by_author: { author: 1 } });
    assert.deepEqual(schema.classLevelPermissions.addField, {});
    assert.deepEqual(schema.classLevelPermissions.update, { 'role:Editors': true, pointerFields: ['author'] });
    // No trigger fires, and the timeline has no rows.
    for (const log of ['_Timeline', '_syslogTriggers']) assert.equal((await objectsOf(service, log)).size, 0);

    const again = await migrate(service, url);
    assert.equal(again.code, 1);
    assert.match(again.stderr, /nothing was written: 9 objects of _User are here already .*--continue/);
    const continued = await migrate(service, url, '--continue', '--json');
    assert.equal(continued.code, 0, continued.stderr);
    assert.deepEqual(JSON.parse(continued.stdout).classes, { Letter: 20, Place: 5, Post: 12, _User: 9, _Role: 3 });
    assert.equal((await objectsOf(service, 'Post')).size, 12);
  });
}

for (const engine of sampledEngines())
  test(`files are served here if their bytes were brought (${engine})`, async () => {
    const service = await freshSystem(engine);
    const files = join(await temporary(), 'files');
    await mkdir(files);
    const name = before.Post.find(({ cover }: Json) => cover).cover.name;
    await writeFile(join(files, encodeURIComponent(name)), 'bytes of a photo');
    const { url } = await parseDatabase();
    const first = await migrate(service, url, '--only', '_User,Post');
    assert.equal(first.code, 0, first.stderr);
    assert.match(first.stdout, /files 2: names kept, bytes not taken/);
    const second = await migrate(service, url, '--only', 'Post', '--continue', '--files-from', files);
    assert.equal(second.code, 0, second.stderr);
    assert.match(second.stdout, /^Post 12 \(12 were here\) · .*files 2/);
    const read = [...(await objectsOf(service, 'Post')).values()].find(({ cover }) => cover);
    assert.equal(read.cover.name, name);
    const answer = await fetch(read.cover.url);
    assert.equal(await answer.text(), 'bytes of a photo');
  });

test('what is impossible is refused in one line, before anything is written', async () => {
  const service = await freshSystem('sqlite');
  const users = await objectsOf(service, '_User');
  const clash = await parseDatabase(`
    INSERT INTO "_SCHEMA" VALUES ('Accounts', '{"className":"Accounts","fields":{"City":{"type":"Number"},"Own":{"type":"String"}}}', true);
    UPDATE "_SCHEMA" SET "schema" = jsonb_set("schema", '{fields,constructor}', '{"type":"String"}') WHERE "className" = 'Letter';
  `);
  const cases: [string[], RegExp][] = [
    [
      ['--from', clash.url],
      /^record-service: nothing was written: Accounts\.City is Number in the source and String here; Letter\.constructor: .*--only\n$/,
    ],
    [['--from', clash.url, '--only', 'Pots'], /--only: Pots is no class of the source; is Post meant\?\n$/],
    [['--from', clash.url, '--only', '_Session'], /--only: _Session is not taken over\n$/],
    [['--from', 'postgres://nobody:hidden@127.0.0.1:1/x'], /--from: PostgreSQL: .*ECONNREFUSED/],
    [['--from', 'postgres://:hidden@/%'], /--from: /],
    [['--from', 'mysql://root:hidden@localhost/x'], /neither postgres/],
    [['--from', 'mongodb://u:hidden@127.0.0.1:1/x?serverSelectionTimeoutMS=200'], /--from: MongoDB: .*ECONNREFUSED/],
    [['--from', 'mongodb://u:hidden@'], /address of MongoDB cannot be read/],
    [['--from', '/nowhere/at/all'], /--from: ENOENT/],
    [['--from', service.dataDir], /credentials\.json, object 1: it has no id, so that this is no dump/],
    [['--from', await temporary()], /holds no dump/],
    [['--from', clash.url, '--files-from', '/nowhere'], /--files-from: ENOENT/],
  ];
  const empty = await parseDatabase('DROP TABLE "_SCHEMA";');
  cases.push([['--from', empty.url], /has no table _SCHEMA/]);
  for (const [[_, from = '', ...options], says] of cases) {
    const { code, stdout, stderr } = await migrate(service, from, ...options);
    assert.equal(code, 1, `${from} ${stdout}`);
    assert.match(stderr, says);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
    assert.ok(!stderr.includes('hidden'), stderr);
  }
  assert.deepEqual(await objectsOf(service, '_User'), users);
  assert.equal((await service.call('GET', '/platform/schemas/Post')).status, 400);
});

const action = { type: 'create-object', actionData: { table: 'Notes', fields: { Name: 'fired' } } };

test('permissions never give more than the source did', async () => {
  const service = await freshSystem('sqlite');
  const made = await service.call('POST', '/platform/classes/Accounts', { body: { Name: 'ours' } });
  assert.equal(made.status, 201);
  const permissions = JSON.stringify({
    find: { '*': true },
    create: { '*': true },
    ACL: { currentUser: { read: true, write: true } },
    readUserFields: ['text', 'to'],
    protectedFields: { '*': ['text', 'gone'] },
  });
  const { url } = await parseDatabase(`
    INSERT INTO "_SCHEMA" VALUES ('Accounts', '{"className":"Accounts","fields":{"Own":{"type":"String"}}}', true);
    CREATE TABLE "Accounts" ("objectId" text, "createdAt" timestamptz, "updatedAt" timestamptz, "Own" text, "_rperm" text[], "_wperm" text[]);
    INSERT INTO "Accounts" VALUES ('theirs', now(), now(), 'x', NULL, ARRAY['user']);
    UPDATE "_SCHEMA" SET "schema" = jsonb_set("schema", '{classLevelPermissions}', '${permissions}') WHERE "className" = 'Letter';
    UPDATE "_SCHEMA" SET "schema" = "schema" - 'classLevelPermissions' WHERE "className" = 'Place';
    UPDATE "_SCHEMA" SET "schema" = jsonb_set("schema", '{fields,mcpPermissions}', '{"type":"Array"}') WHERE "className" = '_User';
    ALTER TABLE "_User" ADD COLUMN "mcpPermissions" jsonb DEFAULT '["advanced"]';
  `);
  const trigger = { Name: 'Noted', table: 'Accounts', events: ['create'], actions: [action], Active: true };
  assert.equal((await service.call('POST', '/platform/classes/_Trigger', { body: trigger })).status, 201);
  const { body: unchanged } = await service.call('GET', '/platform/schemas/Accounts');
  const { body: roles } = await service.call('GET', '/platform/schemas/_Role');
  const { code, stdout, stderr } = await migrate(service, url);
  assert.equal(code, 0, stderr);
  const clp = async (className: string) =>
    (await service.call('GET', `/platform/schemas/${className}`)).body.classLevelPermissions;
  assert.deepEqual(await clp('Accounts'), unchanged.classLevelPermissions);
  assert.match(stdout, /those of Accounts stay as they are here/);
  const letter = await clp('Letter');
  assert.deepEqual([letter.find, letter.get, letter.count, letter.create], [{ '*': true }, {}, {}, {}]);
  assert.deepEqual([letter.readUserFields, letter.protectedFields], [['to'], { '*': ['text'] }]);
  assert.match(stdout, /create of Letter is for keys alone/);
  assert.match(stdout, /Letter\.readUserFields for the users in "text"/);
  assert.deepEqual((await clp('Place')).delete, { '*': true });
  assert.match(stdout, /not taken: _User\.mcpPermissions, which gives rights here/);
  for (const user of (await objectsOf(service, '_User')).values()) assert.equal(user.mcpPermissions, undefined);
  assert.deepEqual((await clp('_User')).protectedFields, { '*': ['email'] });
  for (const action of ['create', 'update', 'delete', 'addField'])
    assert.deepEqual((await clp('_Role'))[action], roles.classLevelPermissions[action]);
  // It leaves no history and fires no trigger.
  const where = { objectIdValue: 'theirs' };
  const { body: history } = await service.call('GET', '/platform/classes/_Timeline', { query: { where } });
  assert.deepEqual(history.results, []);
  assert.equal((await objectsOf(service, 'Notes')).size, 0);
  // Parse lets everybody read an object without a list of readers; the ACL of the object does not name them.
  assert.deepEqual((await objectsOf(service, 'Accounts')).get('theirs').ACL, { user: { write: true } });
});

for (const engine of engines)
  test(`a run that was killed at any moment continues, and each object is there once (${engine})`, async () => {
    const service = await freshSystem(engine);
    const { url } = await parseDatabase(`
    INSERT INTO "Letter" ("objectId", "createdAt", "updatedAt", "text") SELECT 'many' || n, now(), now(), repeat('x', 200) FROM generate_series(1, 12000) n;
  `);
    const count = async (className: string): Promise<number> =>
      (await service.call('GET', `/platform/classes/${className}`, { query: { count: 1, limit: 0 } })).body.count ?? 0;
    let reached = 0;
    for (const className of ['_Role', 'Letter', 'Letter', 'Letter']) {
      const from = await count(className);
      await killedOnce(service, url, async () => (await count(className)) > from);
      reached = await count('Letter');
    }
    assert.ok(reached > 0 && reached < 12_020, `${reached}`);
    const { code, stdout, stderr } = await migrate(service, url, '--continue');
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Letter 12,020 \([\d,]+ were here\)/);
    assert.equal(await count('Letter'), 12_020);
    assert.equal(await count('Post'), 12);
    assert.equal(
      (
        await service.call('POST', '/platform/login', {
          as: 'anonymous',
          body: { username: 'User 1', password: 'old password 1' },
        })
      ).status,
      200,
    );
  });
