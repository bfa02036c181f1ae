/** Search-Records while the index of a large table is being filled: adr/0024. */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { type Json, path } from '../../../support/records.ts';
import { onEachEngine } from '../engines.ts';
import { permit } from '../tables.ts';

/** More records than are scanned without an index. */
const RECORDS = 7_000;
const everybody = { 'role:Sales': true };
const open = { find: everybody, get: everybody, create: everybody, update: everybody };

/** Queries that find the same with and without the index. */
const queries = ['אביגדור', 'משה אבי', 'acm', '0507654321', '+972507654321', 'rarehost', '513377991', '77123', 'nothinglikeit'];

onEachEngine('search while the index is filled', (tools) => {
  const { create, call, table, use } = tools;
  let name: string;
  const found = async (query: string): Promise<string[]> =>
    (await use('Search-Records', { query, tables: [name] })).results.map((row: Json) => row.objectId);
  const answers = async () => Promise.all(queries.map(async (query) => [query, (await found(query)).sort()]));
  const fill = async (many: number) => {
    for (let at = 0; at < many; at += 500) {
      const requests = Array.from({ length: 500 }, (_, n) => ({
        method: 'POST',
        path: path(name),
        body: { Name: `דנה כהן ${at + n}`, Mobile: `052-${1_000_000 + at + n}` },
      }));
      const answer = await call('POST', '/platform/batch', { body: { requests } });
      assert.equal(answer.status, 200, answer.text);
    }
  };
  /** Returns whether the index is in use: until then, old records match a part of a word. */
  const isIndexed = async () => (await found('iddleou')).length === 0;

  before(async () => {
    name = await table({ Name: 'String', Email: 'String', Mobile: 'String', CompanyId: 'String', DocNumber: 'Number' });
    await permit(tools, name, open);
    await create(name, { Name: 'אביגדור', Email: 'avi@rarehost.example' });
    await create(name, { Name: 'משה אביגדורי', Mobile: '+972-50-7654321' });
    await create(name, { Name: 'Acme', CompanyId: '513377991', DocNumber: 77123 });
    await create(name, { Name: 'amiddleous' });
    await fill(RECORDS);
  });

  test('the answers are the same before, meanwhile and after, whatever is written', async () => {
    const expected = await answers();
    const changed = await create(name, { Name: 'before' });
    const gone = await create(name, { Name: 'ephemeral' });
    let isFilled = false;
    for (let round = 0; !isFilled; round++) {
      assert.ok(round < 500, 'no index came to be');
      isFilled = await isIndexed();
      assert.deepEqual(await answers(), expected, `round ${round}`);
      const word = `בלהה${round}`;
      const made = await create(name, { Name: word });
      assert.deepEqual(await found(word), [made]);
      await call('PUT', `${path(name)}/${changed}`, { body: { Name: `as${round}` } });
      assert.deepEqual(await found(`as${round}`), [changed]);
      if (round > 0) assert.deepEqual(await found(`as${round - 1}`), []);
      if (round === 1) await call('DELETE', `${path(name)}/${gone}`);
      assert.deepEqual(await found('ephemeral'), round < 1 ? [gone] : []);
    }
    assert.deepEqual(await answers(), expected);
  });
});
