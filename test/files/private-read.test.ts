/** Reads of private files go through record and field: who may read, and who is sent to the sign-in gate. Reference: files.md#private-files. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import {
  type At,
  ask,
  assertGone,
  assertServed,
  credentials,
  fileObject,
  type Place,
  recordUrl,
  uploadFile,
} from '../support/files.ts';
import { path, pointer } from '../support/records.ts';
import { newRole, newSession, signUp, type User } from '../support/users.ts';
import { assertGate, assertNotKept } from './gate.ts';
import { addSystem } from './operator.ts';
import { onEachStore } from './stores.ts';

onEachStore((files) => {
  const { service, call } = files;
  const bytes = 'a private text';
  let reader: User;
  let stranger: User;
  let role: string;
  let place: Place;
  let url: string;
  let name: string;
  const by = (session: string) => credentials(service(), { session });
  const keys = () => (['master', 'apiKey'] as const).map((as) => credentials(service(), { as }));
  /** Creates a record with a private file, in a table that the reader's role may read. */
  const hold = async (record: object = {}, rules: object = {}) => {
    const file = await files.upload('a.txt', bytes);
    const table = await files.table({
      F: 'PrivateFile',
      G: 'PrivateFile',
      N: 'Number',
      User: { type: 'Pointer', targetClass: '_User' },
    });
    const classLevelPermissions = { get: { [role]: true }, find: { [role]: true }, ...rules };
    await call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions } });
    const id = await files.create(table, { F: fileObject(file), ...record });
    const held: Place = { table, id, field: 'F' };
    return { file, place: held, url: recordUrl(service(), file.name, held) };
  };

  before(async () => {
    [reader, stranger] = [await signUp(files), await signUp(files)];
    role = `role:${(await newRole(files, [reader])).name}`;
    const held = await hold();
    ({ place, url } = held);
    name = held.file.name;
  });

  test('master key, API key, and the session of a user with rights on the record', async () => {
    for (const headers of [...keys(), by(reader.token)]) assertNotKept(await assertServed(url, bytes, headers));
  });

  test('an application id header is not looked at', async () => {
    const { 'X-Platform-Application-Id': _, ...bare } = credentials(service(), { as: 'master' });
    await assertServed(url, bytes, bare);
    await assertServed(url, bytes, { ...bare, 'X-Platform-Application-Id': 'nobody' });
  });

  for (const [what, headers] of [
    ['no credential', () => ({})],
    ['the application id', () => credentials(service())],
    ['a session without rights', () => by(stranger.token)],
    ['a wrong master key', () => ({ 'X-Platform-Master-Key': 'wrong' })],
    ['a wrong API key', () => ({ 'X-Platform-API-Key': service().masterKey })],
    ['a session that never was', () => by(`r:${'0'.repeat(32)}`)],
    ['a session that is none', () => by('nonsense')],
  ] as const)
    test(`others get 302 to the sign-in gate: ${what}`, async () => {
      await assertGate(service(), url, { headers: headers() });
      await assertGate(service(), url, { headers: headers(), method: 'HEAD' });
    });

  test('a bad session is treated as none (302): after a logout', async () => {
    const session = await newSession(files, reader);
    await assertServed(url, bytes, by(session));
    await call('POST', '/platform/logout', { session });
    await assertGate(service(), url, { headers: by(session) });
  });

  test('returnTo is the whole address, its query too', async () => {
    await assertGate(service(), `${url}?a=b&c=%D7%A9`);
  });

  test('Files/Open private file by POST: credentials in the JSON body', async () => {
    const { masterKey, apiKey } = service();
    for (const body of [{ _MasterKey: masterKey }, { _apiKey: apiKey }, { _SessionToken: reader.token }])
      for (const type of ['application/json', 'text/plain']) {
        const sent = { method: 'POST', headers: { 'Content-Type': type }, body: JSON.stringify(body) };
        const { status, text } = await ask(url, sent);
        assert.deepEqual([status, text], [200, bytes], JSON.stringify(Object.keys(body)));
      }
    const wrongBodies = [
      {},
      { _MasterKey: 'x' },
      { _apiKey: masterKey },
      { _SessionToken: stranger.token },
      { _SessionToken: 5 },
    ];
    for (const body of [...wrongBodies, { _ApplicationId: service().appId }])
      await assertGate(service(), url, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'Content-Type': 'application/json' },
      });
    await assertGate(service(), url, { method: 'POST' });
  });

  test('a header wins over the body', async () => {
    const body = JSON.stringify({ _MasterKey: service().masterKey });
    const headers = { 'Content-Type': 'application/json', ...by(stranger.token) };
    await assertGate(service(), url, { method: 'POST', headers, body });
  });

  test('with a key a wrong table, record, field or name is 404 `File not found`; others get 302', async () => {
    const other = await files.upload('a.txt', 'another');
    const elsewhere = await hold();
    const places: [string, Place][] = [
      [name, { ...place, table: 'NoSuchTable' }],
      [name, { ...place, table: '__proto__' }],
      [name, { ...place, table: elsewhere.place.table }],
      [name, { ...place, table: '_StoredFile', id: name.slice(0, 32) }],
      [name, { ...place, id: 'missing123' }],
      [name, elsewhere.place],
      [name, { ...place, field: 'G' }],
      [name, { ...place, field: 'NoSuchField' }],
      [name, { ...place, field: 'N' }],
      [name, { ...place, field: 'objectId' }],
      [name, { ...place, field: 'constructor' }],
      [other.name, place],
      [elsewhere.file.name, place],
      [`${name}x`, place],
      ['never.txt', place],
    ];
    for (const [file, at] of places) {
      const wrong = recordUrl(service(), file, at);
      for (const headers of keys()) await assertGone(wrong, headers);
      await assertGate(service(), wrong, { headers: by(stranger.token) });
      await assertGate(service(), wrong);
    }
    // The user may read the record and the field, but the field holds another file: 404.
    await assertGone(recordUrl(service(), other.name, place), by(reader.token));
    await assertGone(recordUrl(service(), name, { ...place, field: 'G' }), by(reader.token));
    await assertGate(service(), recordUrl(service(), name, { ...place, id: 'missing123' }), { headers: by(reader.token) });
  });

  test("Files: another system's record path, keys and sessions open nothing here", async () => {
    const other = await addSystem(service());
    const at: At = { ...service(), ...other };
    for (const as of ['master', 'apiKey'] as const) await assertGate(service(), url, { headers: credentials(at, { as }) });
    const theirs = await uploadFile(at);
    await assertGone(recordUrl(service(), theirs.name, place), credentials(service(), { as: 'master' }));
    await assertGone(recordUrl(at, name, place), credentials(at, { as: 'master' }));
  });

  test('after the record is deleted, the field cleared, or the file replaced', async () => {
    const [one, two, three] = [await hold(), await hold(), await hold()];
    for (const { url } of [one, two, three]) await assertServed(url, bytes, by(reader.token));
    await files.remove(one.place.table, one.place.id);
    await files.update(two.place.table, two.place.id, { F: { __op: 'Delete' } });
    await files.update(three.place.table, three.place.id, { F: fileObject(await files.upload()) });
    for (const { url, file } of [one, two, three]) {
      for (const headers of keys()) await assertGone(url, headers);
      await assertGone(file.url);
    }
    await assertGate(service(), one.url, { headers: by(reader.token) });
    for (const { url } of [two, three]) await assertGone(url, by(reader.token));
  });

  test('a record that its ACL hides', async () => {
    const { url } = await hold({ ACL: { [stranger.id]: { read: true } } });
    await assertGate(service(), url, { headers: by(reader.token) });
    for (const headers of keys()) await assertServed(url, bytes, headers);
    const open = await hold({ ACL: { [reader.id]: { read: true } } });
    await assertServed(open.url, bytes, by(reader.token));
  });

  test('a field that is protected, from all or in some records', async () => {
    const hidden = await hold({}, { protectedFields: { [role]: ['F'] } });
    await assertGate(service(), hidden.url, { headers: by(reader.token) });
    const some = await hold({ User: pointer('_User', reader.id) }, { protectedFields: { 'userField:User': ['F'] } });
    await assertGate(service(), some.url, { headers: by(reader.token) });
    for (const headers of keys()) await assertServed(hidden.url, bytes, headers);
  });

  test('get decides, and the fields that name users', async () => {
    const noGet = await hold({}, { get: {}, find: { [role]: true } });
    await assertGate(service(), noGet.url, { headers: by(reader.token) });
    const mine = await hold({ User: pointer('_User', stranger.id) }, { get: {}, find: {}, readUserFields: ['User'] });
    await assertServed(mine.url, bytes, by(stranger.token));
    await assertGate(service(), mine.url, { headers: by(reader.token) });
    const everyones = await hold({}, { get: { '*': true } });
    await assertServed(everyones.url, bytes);
  });

  test('Sessions: rights that are taken away are gone at once', async () => {
    const held = await hold();
    await assertServed(held.url, bytes, by(reader.token));
    await call('PUT', `/platform/schemas/${held.place.table}`, { body: { classLevelPermissions: { get: {}, find: {} } } });
    await assertGate(service(), held.url, { headers: by(reader.token) });
  });

  test('a File field is not read through its record', async () => {
    const file = await files.upload();
    const at = await files.attached('File', file);
    const { status } = await ask(recordUrl(service(), file.name, at), { headers: credentials(service(), { as: 'master' }) });
    assert.equal(status, 404);
  });

  test('POST on the raw upload URL: 403 {error: unauthorized}; with `_ApplicationId` in the body 404', async () => {
    const file = await files.upload();
    const post = (body?: object, headers = {}) =>
      ask(file.url, { method: 'POST', headers, ...(body && { body: JSON.stringify(body) }) });
    for (const headers of [{}, credentials(service()), credentials(service(), { as: 'master' })])
      for (const body of [undefined, {}, { _ApplicationId: 'nobody' }]) {
        const answer = await post(body, { ...headers, 'Content-Type': 'application/json' });
        assert.deepEqual([answer.status, answer.body], [403, { error: 'unauthorized' }]);
      }
    assert.equal((await post({ _ApplicationId: service().appId }, { 'Content-Type': 'application/json' })).status, 404);
    assert.equal((await call('GET', path(place.table, place.id))).body.F.url, url);
  });
});
