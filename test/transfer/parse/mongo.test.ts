/** `record-service migrate parse` from MongoDB, over its protocol and from dumps of all kinds. Reference: migration.md#migration-from-parse-server. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { EJSON, serialize } from 'bson';
import { temporary } from '../../edge/process.ts';
import { startMongo } from '../../support/mongo.ts';
import { anyEngine, type Service, sampledEngines } from '../../support/service.ts';
import { freshSystem } from '../other-system.ts';
import { before, collections, type Json, migrate, objectsOf, oldPassword, shopOne } from './world.ts';

const [engine = 'sqlite'] = anyEngine;

/** Parts of the report. */
const reported = [
  'Open 1 · Shop 3 · _User 3 (2 passwords kept) · _Role 2 · relations 4 members · ',
  'files 2: names kept, bytes not taken',
  '_Hooks not taken (1)',
  '_Session not taken (1)',
  'GeoPoint fields kept as Object: Shop.place',
  'Polygon fields kept as Object: Shop.area',
  'Bytes fields kept as Object: Shop.raw',
  'authData of 1 user not taken',
  '1 user without a password: they have to reset it',
  '1 user with the name or address of another: they cannot sign in by it',
  'empty ACL of 1 object written as {"*":{}}',
  'roles in the place of those of the same name here: Sales',
  'required of Shop.name',
  'index Shop.spot (place is of type Object)',
];

/** Asserts that a system has the content of `collections`. */
async function assertMigrated(service: Service, run: { code: number | null; stdout: string; stderr: string }): Promise<void> {
  // Exit code 2, because of a hash of an unknown kind and a user name that occurs twice.
  assert.equal(run.code, 2, run.stderr + run.stdout);
  for (const part of reported) assert.ok(run.stdout.includes(part), `${part}\n${run.stdout}`);
  assert.ok(!run.stderr.includes('md5$') && !run.stdout.includes('$2b$'), run.stderr);
  const shops = await objectsOf(service, 'Shop');
  const { photo, ...one } = shops.get('shop1');
  assert.deepEqual(one, shopOne);
  assert.equal(photo.name, '0123456789abcdef0123456789abcdef_photo.txt');
  assert.deepEqual(shops.get('shop2').ACL, { '*': {} });
  assert.deepEqual(shops.get('shop3').photo, { __type: 'File', name: 'tfss-old.txt' });
  assert.deepEqual([...(await objectsOf(service, 'Open')).keys()], ['64b5f0c2a1b2c3d4e5f60718']);
  const { body: schema } = await service.call('GET', '/platform/schemas/Shop');
  assert.deepEqual(schema.indexes, { owner_1: { owner: 1 } });
  assert.deepEqual(schema.classLevelPermissions.protectedFields, { '*': ['info'] });
  const words = { name: { $text: { $search: { $term: 'חנות' } } } };
  const found = await service.call('GET', '/platform/classes/Shop', { query: { where: words } });
  assert.deepEqual(
    found.body.results.map(({ objectId }: Json) => objectId),
    ['shop1'],
  );
  const login = (username: string) =>
    service.call('POST', '/platform/login', { as: 'anonymous', body: { username, password: oldPassword } });
  const { status, body } = await login('Dana');
  assert.deepEqual([status, body.objectId], [200, 'user1']);
  assert.equal((await login('other')).status, 404);
  // Role2 contains role1, and role1 the user, who has the rights of both.
  const { body: roles } = await service.call('GET', '/platform/classes/_Role', {
    query: { where: { name: { $in: ['Sales', 'Editors'] } }, order: 'objectId', keys: 'name' },
  });
  assert.deepEqual(
    roles.results.map(({ objectId }: Json) => objectId),
    ['role1', 'role2'],
  );
  const open = { 'role:Sales': true };
  const changed = await service.call('PUT', '/platform/schemas/Open', { body: { classLevelPermissions: { find: open } } });
  assert.equal(changed.status, 200, changed.text);
  const seen = await service.call('GET', '/platform/classes/Open', { session: body.sessionToken });
  assert.equal(seen.body.results?.length, 1, seen.text);
}

test('from MongoDB, in a snapshot if it has snapshots', async () => {
  const service = await freshSystem(engine);
  const mongo = await startMongo(collections, { isReplicaSet: true });
  await assertMigrated(service, await migrate(service, mongo.url));
  const finds = mongo.commands.filter(({ find }) => find !== undefined);
  assert.ok(finds.length > 5 && finds.every(({ readConcern }) => readConcern?.level === 'snapshot'));
});

test('from MongoDB without snapshots, and with one that expires: in the order of ids, which is reported', async () => {
  for (const options of [{}, { isReplicaSet: true, snapshotDocuments: 9 }]) {
    const service = await freshSystem(engine);
    const mongo = await startMongo(collections, options);
    const run = await migrate(service, mongo.url);
    assert.match(run.stdout, /what was written meanwhile may be missing$/m);
    await assertMigrated(service, run);
  }
});

test('from MongoDB that refuses', async () => {
  const service = await freshSystem(engine);
  const { url } = await startMongo(collections);
  const { code, stderr } = await migrate(service, url.replace('//', '//user:hidden@'));
  assert.equal(code, 1);
  assert.match(stderr, /^record-service: --from: MongoDB: Authentication failed\.\n$/);
  const other = await startMongo({ Shop: [] });
  const without = await migrate(service, other.url);
  assert.equal(without.code, 1);
  assert.match(without.stderr, /the database app has no collection _SCHEMA/);
});

const bson = (documents: readonly Json[]) => Buffer.concat(documents.map((document) => serialize(document)));
const lines = (documents: readonly Json[]) =>
  documents.map((document) => `${EJSON.stringify(document, { relaxed: false })}\n`).join('');

for (const [title, suffix, contentOf] of [
  ['mongodump', '.bson', bson],
  ['mongodump --gzip', '.bson.gz', (documents: readonly Json[]) => gzipSync(bson(documents))],
  ['mongoexport', '.json', lines],
  [
    'mongoexport --jsonArray',
    '.json',
    (documents: readonly Json[]) => `[${documents.map((one) => EJSON.stringify(one)).join(',\n')}]`,
  ],
] as const)
  test(`from a directory of ${title}`, async () => {
    const service = await freshSystem(engine);
    const dump = await temporary();
    // mongodump makes a folder for the database, and encodes characters that file names cannot have.
    const folder = join(dump, 'app');
    await mkdir(folder);
    for (const [name, documents] of Object.entries(collections))
      await writeFile(join(folder, encodeURIComponent(name) + suffix), contentOf(documents));
    await writeFile(join(folder, 'Shop.metadata.json'), '{"indexes":[]}');
    await assertMigrated(service, await migrate(service, dump));
  });

test('files are brought from an address; a name that could not be looked up here gets a beginning', async () => {
  const service = await freshSystem(engine);
  const dump = await temporary();
  for (const [name, documents] of Object.entries(collections)) await writeFile(join(dump, `${name}.bson`), bson(documents));
  const files = createServer((request, response) => {
    const isThere = request.url === '/files/app/tfss-old.txt';
    response.writeHead(isThere ? 200 : 404).end(isThere && request.method === 'GET' ? 'old bytes' : undefined);
  }).listen(0, '127.0.0.1');
  await once(files, 'listening');
  after(() => files.closeAllConnections());
  after(() => files.close());
  const from = `http://127.0.0.1:${(files.address() as AddressInfo).port}/files/app/`;
  for (const options of [['--dry-run'], []]) {
    const { code, stdout, stderr } = await migrate(service, dump, '--only', 'Shop', '--files-from', from, ...options);
    assert.equal(code, 2, stderr);
    assert.match(stdout, / · files 1 · 1 file with a new beginning of the name · 1 file not taken · /);
    assert.match(stderr, /1 file not taken: not found, first 0123456789abcdef0123456789abcdef_photo\.txt/);
  }
  const { photo } = (await objectsOf(service, 'Shop')).get('shop3');
  assert.match(photo.name, /^[0-9a-f]{32}_tfss-old\.txt$/);
  assert.equal(await (await fetch(photo.url)).text(), 'old bytes');
  files.close();
  files.closeAllConnections();
  const gone = from.replace('http://', 'http://user:hidden@').replace(/\/$/, '?key=hidden');
  const refused = await migrate(service, dump, '--continue', '--only', 'Shop', '--files-from', gone);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^record-service: --files-from: http:\/\/127\.0\.0\.1:\d+\/files\/app: .*ECONNREFUSED.*\n$/);
  assert.ok(!refused.stderr.includes('hidden'));
});

test('damaged and missing files of a dump are refused before anything is written', async () => {
  const service = await freshSystem(engine);
  const cases: [Record<string, string | Buffer>, RegExp][] = [
    [{ 'Shop.bson': bson(collections.Shop ?? []) }, /_SCHEMA of Parse Server is missing/],
    [
      { '_SCHEMA.bson': bson(collections._SCHEMA ?? []), 'Shop.bson': bson(collections.Shop ?? []).subarray(0, -3) },
      /Shop\.bson ends in the middle/,
    ],
    [{ '_SCHEMA.bson': bson(collections._SCHEMA ?? []), 'Shop.bson': Buffer.alloc(300) }, /Shop\.bson is no BSON/],
    [
      {
        '_SCHEMA.bson': bson(collections._SCHEMA ?? []),
        'Shop.bson.gz': gzipSync(bson(collections.Shop ?? [])).subarray(0, -12),
      },
      /Shop\.bson\.gz/,
    ],
    [{ '_SCHEMA.json': lines(collections._SCHEMA ?? []), 'Shop.json': '{"_id":1}\nno json' }, /Shop\.json holds something else/],
    [{ 'Post.json': '{"results":[{"objectId":"a"' }, /Post\.json ends in the middle/],
    [{ 'Post.json': '{"results":[{"objectId":a}]}' }, /Post\.json, object 1: this is no JSON/],
  ];
  for (const [files, says] of cases) {
    const dump = await temporary();
    for (const [name, content] of Object.entries(files)) await writeFile(join(dump, name), content);
    const { code, stdout, stderr } = await migrate(service, dump);
    assert.equal(code, 1, `${says} ${stdout}`);
    assert.match(stderr, says);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
  }
  for (const name of ['Shop', 'Post']) assert.equal((await service.call('GET', `/platform/schemas/${name}`)).status, 400);
});

for (const each of sampledEngines())
  test(`from an export of Parse, which has no schema (${each})`, async () => {
    const service = await freshSystem(each);
    const dump = await temporary();
    for (const name of ['Post', 'Place', '_User'])
      await writeFile(join(dump, `${name}.json`), JSON.stringify({ results: before[name] }));
    const [post] = before.Post;
    const joins = { results: [{ owningId: post.objectId, relatedId: before._User[0].objectId }] };
    await writeFile(join(dump, '_Join:readers:Post.json'), JSON.stringify(joins));
    const { code, stdout, stderr } = await migrate(service, dump);
    assert.equal(code, 2, stderr);
    assert.match(stdout, /^Place 5 · Post 12 · _User 9 · relations 1 member · /);
    assert.match(stdout, /8 users without a password/);
    assert.match(stdout, /permissions of Post are not known: keys alone reach it/);
    const read = (await objectsOf(service, 'Post')).get(post.objectId);
    const { ACL: _, cover: __, ...rest } = post;
    const { ACL: ___, cover: ____, ...found } = read;
    assert.deepEqual(found, rest);
    const cover = before.Post.find(({ cover: one }: Json) => one);
    // The URL of the export is kept, because the bytes are there.
    assert.deepEqual((await objectsOf(service, 'Post')).get(cover.objectId).cover, cover.cover);
    const { body } = await service.call('GET', '/platform/schemas/Post');
    assert.deepEqual(body.classLevelPermissions.find, {});
  });
