/** Search-Records over a table too large to be scanned: adr/0024. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { type Json, path } from '../../../support/records.ts';
import { byUser, type Person } from '../callers.ts';
import { onEachEngine } from '../engines.ts';
import { permit } from '../tables.ts';

/** More records than are scanned besides the index; they come after the records that are searched for. */
const RECORDS = 5_300;
const everybody = { 'role:Sales': true };
const open = { find: everybody, get: everybody, create: everybody, update: everybody };

onEachEngine('search in a large table', (tools) => {
  const { create, call, table } = tools;
  let name: string;
  const ids: Record<string, string> = {};
  const found = async (query: string, by: Pick<Person, 'use'> = tools): Promise<string[]> =>
    (await by.use('Search-Records', { query, tables: [name] })).results.map((row: Json) => row.objectId);
  const fill = async (many: number, body: (at: number) => Json) => {
    for (let at = 0; at < many; at += 500) {
      const requests = Array.from({ length: Math.min(500, many - at) }, (_, n) => ({
        method: 'POST',
        path: path(name),
        body: body(at + n),
      }));
      const answer = await call('POST', '/platform/batch', { body: { requests } });
      assert.equal(answer.status, 200, answer.text);
    }
  };
  /** Returns whether the index is in use: until then, old records match a part of a word. */
  const isIndexed = async () => {
    for (let left = 300; (await found('iddleou')).length > 0; left--) {
      assert.ok(left > 0, 'no index came to be');
      await wait(100);
    }
  };

  before(async () => {
    name = await table({
      Name: 'String',
      Email: 'String',
      Mobile: 'String',
      CompanyId: 'String',
      Secret: 'String',
      DocNumber: 'Number',
    });
    await permit(tools, name, open);
    const add = async (key: string, body: Json) => {
      ids[key] = await create(name, body);
    };
    await add('whole', { Name: 'אביגדור', Email: 'avi@rarehost.example' });
    await add('longer', { Name: 'משה אביגדורי', Mobile: '+972-50-7654321' });
    await add('number', { Name: 'Acme', CompanyId: '513377991', DocNumber: 77123 });
    await add('middle', { Name: 'amiddleous' });
    await add('hidden', { Name: 'אביגדור', ACL: { '*': {} } });
    await fill(RECORDS, (at) => ({ Name: `דנה כהן ${at}`, Mobile: `052-${1_000_000 + at}` }));
    await isIndexed();
  });

  test('words, and their beginnings, the whole ones first', async () => {
    assert.deepEqual((await found('אביגדור')).slice(0, 2).sort(), [ids.hidden, ids.whole].sort());
    assert.deepEqual((await found('אביגד')).sort(), [ids.hidden, ids.longer, ids.whole].sort());
    assert.deepEqual(await found('משה אבי'), [ids.longer]);
    assert.deepEqual(await found('acm'), [ids.number]);
    assert.deepEqual(await found('nothinglikeit'), []);
    assert.equal((await found('כהן')).length, 20);
  });

  test('phones in any form, and while they are typed; addresses, numbers, ids', async () => {
    for (const query of [
      '0507654321',
      '050-765-4321',
      '+972507654321',
      '00972 50 765 4321',
      '507654321',
      '05076543',
      '+97250765',
    ])
      assert.deepEqual(await found(query), [ids.longer], query);
    for (const query of ['avi@rarehost.example', 'rarehost', 'AVI@RARE'])
      assert.deepEqual(await found(query), [ids.whole], query);
    for (const query of ['513377991', '51337', '77123', '#77123', ids.number as string])
      assert.deepEqual(await found(query), [ids.number], query);
  });

  test('a part of a word is found in the records that were made last', async () => {
    const id = await create(name, { Name: 'xiddleoux' });
    assert.deepEqual(await found('iddleou'), [id]);
  });

  test('what changes is found as it is', async () => {
    const id = await create(name, { Name: 'ברזילי' });
    assert.deepEqual(await found('ברזיל'), [id]);
    await call('PUT', `${path(name)}/${id}`, { body: { Name: 'גולדברג' } });
    assert.deepEqual([await found('ברזיל'), await found('גולדב')], [[], [id]]);
    await call('DELETE', `${path(name)}/${id}`);
    assert.deepEqual(await found('גולדב'), []);
  });

  test('a user finds what the user may see', async () => {
    const user = await byUser(tools, ['Sales'], ['mcp:view']);
    assert.deepEqual(await found('אביגדור', user), [ids.whole, ids.longer]);
    const protectedFields = { 'role:Sales': ['Mobile', 'CompanyId'] };
    await permit(tools, name, { ...open, protectedFields });
    assert.deepEqual(await found('0507654321', user), []);
    assert.deepEqual(await found('513377991', user), []);
    assert.deepEqual(await found('אביגדורי', user), [ids.longer]);
    await permit(tools, name, open);
    assert.deepEqual(await found('513377991', user), [ids.number]);
  });

  test('records that the user may not see do not take the places of others', async () => {
    await fill(2_500, () => ({ Name: 'זלמנוביץ', ACL: { '*': {} } }));
    const user = await byUser(tools, ['Sales'], ['mcp:view']);
    assert.deepEqual(await found('זלמנ', user), []);
    const id = await create(name, { Name: 'זלמן' });
    await fill(2_500, () => ({ Name: 'זלמנוביץ', ACL: { '*': {} } }));
    await fill(RECORDS, (at) => ({ Name: `אחר ${at}` }));
    assert.deepEqual(await found('זלמ', user), [id]);
  });

  test('the index is not shown, nor can it be taken away', async () => {
    const { body } = await call('GET', `/platform/schemas/${name}`);
    assert.equal(body.indexes, undefined);
    const answer = await call('PUT', `/platform/schemas/${name}`, { body: { indexes: { '~search': { __op: 'Delete' } } } });
    assert.equal(answer.status, 400);
  });

  test('with other fields it is created again', async () => {
    const answer = await call('PUT', `/platform/schemas/${name}`, {
      body: { fields: { Email: { __op: 'Delete' }, LastName: { type: 'String' } } },
    });
    assert.equal(answer.status, 200, answer.text);
    const id = await create(name, { LastName: 'ויינשטוק' });
    assert.deepEqual(await found('ויינש'), [id]);
    await isIndexed();
    assert.deepEqual([await found('ויינש'), await found('rarehost'), await found('אביגדורי')], [[id], [], [ids.longer]]);
  });
});
