/** The client's calls for users, files and functions against a running service (client.md). */
import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import { client } from '../../client/src/index.ts';
import { unique, useStore } from '../support/records.ts';
import { sampledEngines } from '../support/service.ts';
import { join, newName, password, signUp, tokenForm, wrong } from '../support/users.ts';
import { clientOf, refused } from './world.ts';

for (const engine of sampledEngines())
  describe(`users, files and functions through the client, ${engine}`, () => {
    const store = useStore(engine);
    let crm: ReturnType<typeof clientOf>;
    let anonymous: ReturnType<typeof clientOf>;
    before(() => {
      const { url, appId } = store.service();
      crm = clientOf(store.service());
      anonymous = client({ url, appId });
    });

    test('a user signs up, logs in, is the current one, and logs out; the client stays who it was', async () => {
      const username = newName();
      const made = await crm.users.signUp({ username, password, name: 'דנה' });
      assert.match(made.sessionToken ?? '', tokenForm);
      await refused(anonymous.users.logIn({ username, password: wrong }), {
        status: 404,
        code: 101,
        message: 'Invalid username/password.',
      });
      const { sessionToken, objectId, name } = await anonymous.users.logIn({ username, password });
      assert.deepEqual([objectId, name], [made.objectId, 'דנה']);
      await refused(anonymous.users.current(), { status: 400, code: 209 });
      const dana = anonymous.as({ sessionToken });
      assert.equal((await dana.users.current()).username, username);
      assert.equal((await dana.sessions.current()).sessionToken, undefined);
      const other = await dana.sessions.open();
      const ofKey = await crm.sessions.open(objectId);
      await dana.users.logOut();
      await refused(dana.users.current(), { status: 400, code: 209, message: 'invalid session token' });
      for (const token of [other.sessionToken, ofKey.sessionToken])
        assert.equal((await crm.as({ sessionToken: token }).users.current()).objectId, objectId);
    });

    test('a session user has the rights of the user; keys change passwords', async () => {
      const user = await signUp(store);
      await join(store, 'Sales', [user]);
      const sales = crm.as({ sessionToken: user.token });
      const { objectId } = await sales.table('Accounts').create({ Name: 'lead' });
      assert.equal((await sales.table('Accounts').get(objectId)).createdBy.objectId, user.id);
      await refused(sales.table('Products').delete(objectId), { status: 404, code: 101 });
      await refused(sales.table('_User').update(user.id, { name: 'x' }), { status: 400, code: 206 });
      await crm.table('_User').update(user.id, { password: 'Other2Pass' });
      await refused(sales.table('Accounts').get(objectId), { status: 400, code: 209 });
      await anonymous.users.logIn({ username: user.username, password: 'Other2Pass' });
      const { message } = await anonymous.users.requestPasswordReset('nobody@example.com');
      assert.match(message, /\w/);
    });

    test('what has only the application id may not write', async () => {
      await refused(anonymous.table('Accounts').create({}), { status: 400, code: 119, message: /CAPTCHA/ });
    });

    test('a file is uploaded, attached as it was returned, read, and deleted', async () => {
      const table = await store.table({ Photo: 'File' });
      const file = await crm.files.upload('תמונה 1+2.txt', 'hello');
      const { objectId } = await crm.table(table).create({ Photo: file });
      const stored = (await crm.table(table).get(objectId)).Photo;
      assert.deepEqual([stored.name, stored.public], [file.name, true]);
      assert.equal(await (await fetch(stored.url)).text(), 'hello');
      await crm.files.delete(file);
      await crm.files.delete('nothing.txt');
      assert.equal((await fetch(stored.url)).status, 404);
      const blob = new Blob(['{"a":1}'], { type: 'application/json' });
      const bytes = new TextEncoder().encode('bytes');
      for (const data of [blob, bytes, bytes.buffer]) assert.match((await anonymous.files.upload('a.txt', data)).url, /^http/);
      await refused(crm.files.upload('a.png', 'MZ\u0000'), { status: 403, message: 'Invalid file type' });
    });

    test('functions answer their result; a form without one answers all of it', async () => {
      const PhoneNumber = `050${String(Math.random()).slice(2, 9)}`;
      const { leadId } = await anonymous.functions.call<{ leadId: string }>('getlead', { Name: 'Lead', PhoneNumber });
      assert.equal((await crm.table('Accounts').get(leadId)).PhoneNumber, PhoneNumber);
      await refused(anonymous.functions.call('getlead', { Name: 'Lead' }), { status: 400, message: /^missing / });
      await refused(anonymous.functions.call('nothing'), { status: 400, message: 'User function not found' });
      await crm.table('Config').create({ Name: 'AcceptWebToTable', Value: { AcceptWebToTable: true } });
      const made = await anonymous.functions.call<{ Id: string }>('web2table', {
        table: 'Tasks',
        phone: PhoneNumber,
        table_Name: 'form',
      });
      assert.equal((await crm.table('Tasks').get(made.Id)).Name, 'form');
    });

    test('names: tables by any name, members of the client first, and what programs look for is no table', async () => {
      const made = await crm.table('batch').create({ Name: unique('name') });
      const tables = crm as unknown as Record<string, ReturnType<typeof crm.table>>;
      assert.equal((await crm.table('batch').get(made.objectId)).objectId, made.objectId);
      assert.equal(typeof crm.batch, 'function');
      assert.equal(await tables.Accounts?.count({ Name: unique('none') }), 0);
      assert.equal(tables.Accounts, crm.table('Accounts'), 'one object for each table');
      for (const name of ['then', 'toJSON', 'Not a name', '__proto__x-']) assert.equal(Reflect.get(crm, name), undefined, name);
      assert.equal(Reflect.get(crm, Symbol.iterator), undefined);
      assert.equal(await crm, crm, 'a client can be returned by an async function');
      assert.throws(() => Object.assign(crm, { Accounts: 1 }), TypeError);
      for (const bad of ['', '.', '..', undefined as unknown as string]) {
        assert.throws(() => crm.table(bad), TypeError);
        await assert.rejects(crm.table('Accounts').delete(bad), TypeError);
      }
      await refused(crm.table('Accounts').get('../_User/x?#'), { status: 404, code: 101 });
      assert.deepEqual((await crm.table('No-table').find()).results, []);
    });
  });
