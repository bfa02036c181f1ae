/** Items of one record, role, user or table take effect in the order of the request. Reference: batch.md#order-of-items. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onEachEngine, type Row, tableName } from '../support/query.ts';

onEachEngine((get) => {
  const send = async (...requests: Row[]): Promise<readonly (number | 'ok')[]> => {
    const all = requests.map(({ path, ...rest }) => ({ ...rest, path: `/platform/${path}` }));
    const { body } = await get().call('POST', '/platform/batch', { body: { requests: all } });
    return body.map(({ success, error }: Row) => (success ? 'ok' : (error as Row).code));
  };
  const post = (path: string, body: Row) => ({ method: 'POST', path, body });
  const put = (path: string, body: Row) => ({ method: 'PUT', path, body });
  const remove = (path: string) => ({ method: 'DELETE', path });
  const made = async (path: string, body: Row): Promise<string> => {
    const answer = await get().call('POST', `/platform/${path}`, { body });
    assert.equal(answer.status, 201, answer.text);
    return answer.body.objectId;
  };
  const newUser = () => ({ username: tableName('u'), password: 'Passw0rd-1' });

  test('a role that is deleted can be made again, and cannot be changed', async () => {
    const name = tableName('R');
    assert.deepEqual(await send(remove(`roles/${await made('roles', { name })}`), post('roles', { name })), ['ok', 'ok']);
    const other = await made('roles', { name: tableName('R') });
    assert.deepEqual(await send(remove(`roles/${other}`), put(`roles/${other}`, { Mark: 1 })), ['ok', 101]);
  });
  test('a role, and a user, that is changed is deleted after that', async () => {
    const role = await made('roles', { name: tableName('R') });
    assert.deepEqual(await send(put(`roles/${role}`, { Mark: 1 }), remove(`roles/${role}`)), ['ok', 'ok']);
    const user = await made('users', newUser());
    assert.deepEqual(await send(put(`users/${user}`, { Mark: 1 }), remove(`users/${user}`)), ['ok', 'ok']);
  });
  test('a user who is deleted cannot be changed', async () => {
    const user = await made('users', newUser());
    assert.deepEqual(await send(remove(`users/${user}`), put(`users/${user}`, { Mark: 1 })), ['ok', 101]);
  });
  test('a table that is made, or grows, takes records of that, and goes', async () => {
    const table = tableName('T');
    const field = (name: string) => ({ fields: { [name]: { type: 'Number' } } });
    assert.deepEqual(await send(post(`schemas/${table}`, field('a')), post(`classes/${table}`, { a: 1 })), ['ok', 'ok']);
    assert.deepEqual(await send(put(`schemas/${table}`, field('b')), post(`classes/${table}`, { b: 1 })), ['ok', 'ok']);
    const empty = tableName('T');
    assert.deepEqual(await send(post(`schemas/${empty}`, field('a'))), ['ok']);
    assert.deepEqual(await send(put(`schemas/${empty}`, field('b')), remove(`schemas/${empty}`)), ['ok', 'ok']);
  });
});
