/** Sources of migrations: tables of a real Parse Server in PostgreSQL, and similar content as MongoDB stores it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { after } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Binary, Decimal128, Double, Long, ObjectId } from 'bson';
import { query, type TestDatabase, testDatabase } from '../../../src/storage/postgres/testing/server.ts';
import { compileCache, type Service } from '../../support/service.ts';
import { endWithTests } from '../../support/service-process.ts';
import { command } from '../../systems/cli.ts';

export type Json = any;

const main = fileURLToPath(new URL('../../../src/main.ts', import.meta.url));
const here = (name: string) => new URL(name, import.meta.url);

/** What the SDK read from the Parse Server, with the master key and as each user (bench/peers/parse-server/reading.mjs). */
export const before: Json = JSON.parse(await readFile(here('parse-server.json'), 'utf8'));
const tables = await readFile(here('parse-server.sql'), 'utf8');

/** Creates a database with the tables of a Parse Server, dropped after the current test. @param more SQL that changes it */
export async function parseDatabase(more = ''): Promise<TestDatabase> {
  const database = await testDatabase();
  after(() => database.drop());
  await query(database.url, tables + more);
  return database;
}

/** Runs the migration into the service's system. */
export const migrate = (service: Service, from: string, ...options: string[]) =>
  command(service, 'migrate', 'parse', '--from', from, '--system', service.appId, ...options);

/** Starts the migration and kills it once a condition holds. */
export async function killedOnce(service: Service, from: string, condition: () => Promise<boolean>): Promise<void> {
  const args = [main, 'migrate', 'parse', '--from', from, '--system', service.appId, '--continue'];
  const env = { PATH: process.env.PATH ?? '', ...compileCache, ...service.settings };
  const child = spawn(process.execPath, args, { cwd: service.dataDir, env, stdio: 'ignore' });
  const closed = once(child, 'close');
  endWithTests(child, async () => {
    child.kill('SIGKILL');
    await closed;
  });
  while (child.exitCode === null && !(await condition())) await wait(20);
  child.kill('SIGKILL');
  await closed;
}

/** Reads the objects of a class with the master key. @returns them by id */
export async function objectsOf(service: Service, className: string): Promise<Map<string, Json>> {
  const { body } = await service.call('GET', `/platform/classes/${className}`, { query: { limit: 100_000, order: 'objectId' } });
  return new Map(body.results.map((object: Json) => [object.objectId, object]));
}

/** A time of 2024 as MongoDB stores it. */
const at = (second: number) => new Date(Date.UTC(2024, 0, 1, 0, 0, second));

/** bcrypt hash of `old password`, cost 10. */
export const oldHash = '$2b$10$jxHq8VTd6d6MY/RfIyb7XOu3q2kr.aFYRfWzhOERutk0CZl5c6q1y';
export const oldPassword = 'old password';

const every = { '*': true };

/** Collections of a Parse Server in MongoDB, as `MongoStorageAdapter.js` writes them. */
export const collections: Readonly<Record<string, readonly Json[]>> = {
  _SCHEMA: [
    {
      _id: 'Shop',
      objectId: 'string',
      createdAt: 'date',
      updatedAt: 'date',
      name: 'string',
      count: 'number',
      big: 'number',
      open: 'boolean',
      since: 'date',
      tags: 'array',
      info: 'object',
      place: 'geopoint',
      area: 'polygon',
      raw: 'bytes',
      photo: 'file',
      owner: '*_User',
      visitors: 'relation<_User>',
      _metadata: {
        class_permissions: { find: every, get: every, update: { pointerFields: ['owner'] }, protectedFields: { '*': ['info'] } },
        indexes: { _id_: { _id: 1 }, owner_1: { _p_owner: 1 }, words: { name: 'text' }, spot: { place: '2dsphere' } },
        fields_options: { name: { required: true } },
      },
    },
    { _id: 'Open', text: 'string' },
    { _id: '_User', username: 'string', email: 'string', emailVerified: 'boolean', authData: 'object', nick: 'string' },
    { _id: '_Role', name: 'string', users: 'relation<_User>', roles: 'relation<_Role>' },
    { _id: '_Session', user: '*_User', expiresAt: 'date' },
  ],
  Shop: [
    {
      _id: 'shop1',
      name: 'חנות 😀',
      count: new Double(1.5),
      big: Long.fromNumber(2 ** 40),
      open: true,
      since: at(1),
      tags: ['a', at(2), { deep: [Long.fromNumber(7)] }],
      info: { price: Decimal128.fromString('12.5'), none: null },
      place: [34.78, 32.08],
      area: {
        type: 'Polygon',
        coordinates: [
          [
            [0, 1],
            [2, 3],
            [4, 5],
            [0, 1],
          ],
        ],
      },
      raw: new Binary(Buffer.from('raw')),
      photo: '0123456789abcdef0123456789abcdef_photo.txt',
      _p_owner: '_User$user1',
      _rperm: ['*', 'user1'],
      _wperm: ['user1'],
      _acl: { user1: { w: true, r: true } },
      _created_at: at(10),
      _updated_at: at(20),
    },
    { _id: 'shop2', name: 'master', _rperm: [], _wperm: [], _created_at: at(11), _updated_at: at(11) },
    { _id: 'shop3', photo: 'tfss-old.txt', _created_at: at(12), _updated_at: at(12) },
  ],
  Open: [{ _id: new ObjectId('64b5f0c2a1b2c3d4e5f60718'), text: 'an id of MongoDB', _created_at: at(1), _updated_at: at(1) }],
  _User: [
    {
      _id: 'user1',
      username: 'Dana',
      email: 'dana@example.com',
      nick: 'D',
      _hashed_password: oldHash,
      _email_verify_token: 'secret',
      _rperm: ['*', 'user1'],
      _wperm: ['user1'],
      _created_at: at(1),
      _updated_at: at(1),
    },
    {
      _id: 'user2',
      username: 'dana',
      _hashed_password: oldHash,
      _auth_data_google: { id: '1' },
      _created_at: at(2),
      _updated_at: at(2),
    },
    { _id: 'user3', username: 'other', _hashed_password: 'md5$0123', _created_at: at(3), _updated_at: at(3) },
  ],
  _Role: [
    { _id: 'role1', name: 'Editors', _rperm: ['*'], _wperm: [], _created_at: at(1), _updated_at: at(1) },
    { _id: 'role2', name: 'Sales', _rperm: ['*'], _wperm: [], _created_at: at(2), _updated_at: at(2) },
  ],
  _Session: [{ _id: 'session1', _session_token: 'r:secret', _p_user: '_User$user1', _created_at: at(1), _updated_at: at(1) }],
  _Hooks: [{ _id: 'hook1', functionName: 'f', url: 'https://example.com' }],
  '_Join:users:_Role': [{ _id: 'join1', owningId: 'role1', relatedId: 'user1' }],
  '_Join:roles:_Role': [{ _id: 'join2', owningId: 'role2', relatedId: 'role1' }],
  '_Join:visitors:Shop': [
    { _id: 'join3', owningId: 'shop1', relatedId: 'user1' },
    { _id: 'join4', owningId: 'shop1', relatedId: 'user3' },
  ],
};

/** The object `shop1` of `collections` as this service shows it. */
export const shopOne: Json = {
  objectId: 'shop1',
  createdAt: '2024-01-01T00:00:10.000Z',
  updatedAt: '2024-01-01T00:00:20.000Z',
  ACL: { '*': { read: true }, user1: { read: true, write: true } },
  name: 'חנות 😀',
  count: 1.5,
  big: 2 ** 40,
  open: true,
  since: { __type: 'Date', iso: '2024-01-01T00:00:01.000Z' },
  tags: ['a', { __type: 'Date', iso: '2024-01-01T00:00:02.000Z' }, { deep: [7] }],
  info: { price: 12.5, none: null },
  place: { latitude: 32.08, longitude: 34.78 },
  area: {
    coordinates: [
      [1, 0],
      [3, 2],
      [5, 4],
      [1, 0],
    ],
  },
  raw: { base64: Buffer.from('raw').toString('base64') },
  owner: { __type: 'Pointer', className: '_User', objectId: 'user1' },
  visitors: { __type: 'Relation', className: '_User' },
};
