// @ts-nocheck Its packages are installed where it runs.
import { writeFile } from 'node:fs/promises';
import FSFilesAdapter from '@parse/fs-files-adapter';
import express from 'express';
import Parse from 'parse/node';
import { ParseServer } from 'parse-server';
import { nameOf, passwordOf, readAll, USERS } from './reading.mjs';

// Started by bench/support/parse-server.ts: node fill.mjs <postgres url> <directory> <posts>. Fills a database through the SDK and stores what the
// SDK then reads.
const [databaseURI, directory, posts] = process.argv.slice(2);
const app = express();
const listening = app.listen(0, '127.0.0.1');
await new Promise((resolve) => listening.once('listening', resolve));
const serverURL = `http://127.0.0.1:${listening.address().port}/parse`;
const server = new ParseServer({
  databaseURI,
  appId: 'filled',
  masterKey: 'filled-master',
  serverURL,
  publicServerURL: serverURL,
  allowClientClassCreation: true,
  logLevel: 'error',
  silent: true,
  maxLimit: 100_000,
  filesAdapter: new FSFilesAdapter(),
  fileUpload: { enableForPublic: true },
});
await server.start();
app.use('/parse', server.app);
Parse.initialize('filled', undefined, 'filled-master');
Parse.serverURL = serverURL;
const master = { useMasterKey: true };
const user = { '*': true };
const signed = { requiresAuthentication: true };

const schema = new Parse.Schema('Post');
schema.addString('title').addNumber('likes').addDate('at').addBoolean('open').addArray('tags').addObject('meta');
schema
  .addPointer('author', '_User')
  .addPointer('previous', 'Post')
  .addRelation('readers', '_User')
  .addFile('cover')
  .addString('secret');
schema.addIndex('by_likes', { likes: -1, title: 1 }).addIndex('by_author', { author: 1 });
schema.setCLP({
  find: user,
  get: user,
  count: user,
  create: signed,
  update: { 'role:Editors': true, pointerFields: ['author'] },
  delete: { 'role:Admin': true },
  addField: {},
  protectedFields: { '*': ['secret'], 'role:Admin': [], 'userField:author': [] },
});
await schema.save();
const place = new Parse.Schema('Place');
place.addString('name').addGeoPoint('at').addPolygon('area').addObject('extra');
place._fields.raw = { type: 'Bytes' };
place.setCLP({
  find: signed,
  get: signed,
  count: {},
  create: {},
  update: {},
  delete: {},
  addField: {},
  readUserFields: [],
  protectedFields: {},
});
await place.save();
const letter = new Parse.Schema('Letter');
letter.addPointer('to', '_User').addString('text').addString('note', { required: false, defaultValue: 'n' });
letter.setCLP({
  find: {},
  get: {},
  count: {},
  create: {},
  update: {},
  delete: {},
  addField: {},
  readUserFields: ['to'],
  writeUserFields: ['to'],
});
await letter.save();

const users = [];
for (let n = 0; n < USERS; n++) {
  const one = new Parse.User({
    username: nameOf(n),
    password: passwordOf(n),
    email: `user${n}@example.com`,
    nick: `nick\u05d0${n}`,
  });
  users.push(await one.signUp(null, master));
}
await Parse.User.logIn(nameOf(0), passwordOf(0));
const anonymous = await fetch(`${serverURL}/users`, {
  method: 'POST',
  headers: { 'X-Parse-Application-Id': 'filled', 'Content-Type': 'application/json' },
  body: JSON.stringify({ authData: { anonymous: { id: 'f6d9ab29-0000-4000-8000-1234567890ab' } } }),
});
if (!anonymous.ok) throw new Error(await anonymous.text());

const roles = {};
for (const name of ['Editors', 'Admin', 'Interns']) {
  const acl = new Parse.ACL();
  acl.setPublicReadAccess(true);
  acl.setRoleWriteAccess('Admin', true);
  roles[name] = await new Parse.Role(name, acl).save(null, master);
}
const join = async (role, relation, members) => {
  role.relation(relation).add(members);
  await role.save(null, master);
};
await join(roles.Admin, 'users', [users[0]]);
await join(roles.Editors, 'users', users.slice(1, 6));
await join(roles.Interns, 'users', users.slice(6, 9));
await join(roles.Editors, 'roles', [roles.Admin, roles.Interns]);

const file = await new Parse.File(
  'photo one.txt',
  { base64: Buffer.from('bytes of a photo').toString('base64') },
  'text/plain',
).save(master);
const acls = [
  () => undefined,
  (n) => new Parse.ACL(users[n % USERS]),
  () => new Parse.ACL({}),
  () => new Parse.ACL({ '*': { read: true }, 'role:Editors': { read: true, write: true } }),
];
let previous;
for (let from = 0; from < Number(posts); from += 100) {
  const some = [];
  for (let n = from; n < Math.min(from + 100, Number(posts)); n++) {
    const post = new Parse.Object('Post', {
      title: n % 7 === 0 ? '' : `Post ${n} \u05e9\u05dc\u05d5\u05dd \ud83d\ude00 "'\\ ${'x'.repeat(n % 50)}`,
      likes: n % 11 === 0 ? n / 7 : n,
      at: new Date(Date.UTC(1990, 0, 1) + n * 86_400_123),
      open: n % 2 === 0,
      tags: ['a', n, null, { k: [n] }, new Date(n), users[n % USERS].toPointer(), new Parse.GeoPoint(1, 2)],
      meta: { deep: { list: [1, [2, { z: null }]], '': 0 }, when: new Date(n * 1e9), who: users[n % USERS].toPointer() },
      author: users[n % USERS],
      secret: `s${n}`,
    });
    if (previous && n % 3 === 0) post.set('previous', previous);
    if (n % 50 === 0) post.set('cover', file);
    const acl = acls[n % acls.length](n);
    if (acl) post.setACL(acl);
    some.push(post);
  }
  await Parse.Object.saveAll(some, master);
  previous = some[0];
  for (const post of some.slice(0, 3)) {
    post.relation('readers').add(users.slice(0, 12));
    await post.save(null, master);
  }
}
for (let n = 0; n < 5; n++) {
  const object = new Parse.Object('Place', { name: `p${n}`, at: new Parse.GeoPoint(32.08 + n, 34.78), extra: { n } });
  object.set(
    'area',
    new Parse.Polygon([
      [0, 0],
      [0, n + 1],
      [n + 1, n + 1],
      [n + 1, 0],
    ]),
  );
  object.set('raw', { __type: 'Bytes', base64: Buffer.from(`raw${n}`).toString('base64') });
  await object.save(null, master);
}
for (let n = 0; n < 20; n++) await new Parse.Object('Letter', { to: users[n % 4], text: `t${n}` }).save(null, master);
await new Parse.Installation({ deviceType: 'web', installationId: 'i-1' }).save(null, master).catch(() => {});
await Parse.Config.save({ a: 1 }, {});

await writeFile(`${directory}/before.json`, JSON.stringify(await readAll()));
await writeFile(`${directory}/server-url`, serverURL);
console.log('listening on', serverURL);
process.once('SIGTERM', () => process.exit(0));
