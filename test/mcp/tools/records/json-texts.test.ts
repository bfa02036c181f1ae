/** Arguments sent as JSON text have the same limits and rules as a request body. Reference: agents.md#arguments, requests.md#bodies. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { path } from '../../../support/records.ts';
import { onEachEngine } from '../engines.ts';

const nested = (levels: number, open = '[', close = ']') => `${open.repeat(levels)}${close.repeat(levels)}`;

onEachEngine('JSON sent as text', ({ use, refused, table, all, call, create }) => {
  test('what a body may not hold, a text may not hold either; nothing is written', async () => {
    const name = await table({ Name: 'String', n: 'Number', o: 'Object', a: 'Array' });
    const id = await create(name, { n: 1 });
    const place = await create('Accounts', { Name: 'x' });
    const numbers = /Invalid JSON: a number is too large/;
    const deep = /Invalid JSON: nested too deep/;
    const cases: [string, object, RegExp][] = [
      ['Create-Record', { table: name, data: '{"n":1e999}' }, numbers],
      ['Create-Record', { table: name, data: '{"n":-1e999}' }, numbers],
      ['Create-Record', { table: name, data: '{"o":{"x":[1e999]}}' }, numbers],
      ['Create-Record', { table: name, data: '{"Name":"a\\u0000b"}' }, /data: Invalid JSON: a string holds NUL/],
      ['Create-Record', { table: name, data: '{"Name":"\\ud800x"}' }, /Invalid JSON: a string holds half of a surrogate pair/],
      ['Create-Record', { table: name, data: `{"o":{"a":${nested(5_000)}}}` }, deep],
      ['Create-Record', { table: name, data: `{"o":{"a":${nested(500)}}}` }, deep],
      ['Create-Record', { table: name, data: '{"n":' }, /data: Invalid JSON: the text is not JSON/],
      ['Create-Many', { table: name, data: '[{"n":1},{"n":1e999}]' }, numbers],
      ['Update-Record', { table: name, objectId: id, data: '{"n":1e999}' }, numbers],
      ['Update-Many', { table: name, updates: `[{"objectId":"${id}","data":{"n":1e999}}]` }, numbers],
      ['Upsert-Record', { table: name, matchOn: ['Name'], data: '{"Name":"x","a":[1e999]}' }, numbers],
      ['Validate-Records', { table: name, data: `[{"o":{"a":${nested(5_000)}}}]` }, deep],
      ['Import-Records', { table: name, rows: '[{"n":1e999}]' }, numbers],
      ['Get-Data', { table: name, where: '{"n":{"$gt":-1e999}}' }, /where: Invalid JSON: a number is too large/],
      ['Get-Data', { table: name, where: '{"Name":"\\u0000"}' }, /where: Invalid JSON: a string holds NUL/],
      ['Get-Data', { table: name, where: `{"$and":${nested(5_000)}}` }, deep],
      ['Aggregate-Data', { table: name, having: '{"count":{"$gt":-1e999}}' }, numbers],
      ['Set-Config-Flag', { name: 'Inf', value: '{"Inf":1e999}' }, numbers],
      ['Save-Report', { name: 'x', table: name, where: '{"n":1e999}' }, numbers],
      ['Create-Price-Quote', { accountId: place, rows: '[{"description":"x","price":1e999,"quantity":1}]' }, numbers],
    ];
    const before = await all(name);
    for (const [tool, args, words] of cases) await refused(tool, args, 107, words);
    assert.deepEqual(await all(name), before);
    assert.equal((await call('GET', path(name))).body.results.length, 1, 'the table is still read');
  });

  test('texts that are good are read as they were', async () => {
    const name = await table({ n: 'Number', o: 'Object' });
    await use('Create-Record', { table: name, data: ' {"n":1e308,"o":{"x":"\\ud83d\\ude42"}}' });
    assert.equal((await use('Get-Data', { table: name, where: '{"n":1e308}' })).results[0].o.x, '🙂');
  });

  test('Import-Records: texts of Object columns', async () => {
    const name = await table({ Name: 'String', o: 'Object' });
    const texts = ['{"a":1e999}', '{"a":"\\u0000"}', '{"a":"\\ud800"}', `{"a":${nested(5_000)}}`, '{"a"', '[1]', '{"a":1}'];
    const { results } = await use('Import-Records', { table: name, rows: texts.map((o, at) => ({ Name: `r${at}`, o })) });
    const faults: string[] = results.map((one: { error?: { error: string } }) => one.error?.error ?? '');
    const words = [/too large/, /NUL/, /surrogate/, /nested too deep/, /is not a JSON object/, /is not a JSON object/, /^$/];
    for (const [at, pattern] of words.entries()) assert.match(faults[at] ?? 'none', pattern);
    assert.deepEqual(
      (await all(name)).map(({ o }) => o),
      [{ a: 1 }],
    );
  });

  test('numbers that a tool computes are refused where they leave the range of numbers', async () => {
    const accountId = await create('Accounts', { Name: 'x' });
    const rows = [{ description: 'x', price: 1e308, quantity: 1e10 }];
    await refused('Create-Price-Quote', { accountId, rows }, 107);
    const name = await table({ n: 'Number' });
    const { results } = await use('Import-Records', { table: name, rows: [{ n: '9'.repeat(400) }] });
    assert.match(results[0].error.error, /is not a number/);
    assert.deepEqual(await all(name), []);
  });
});
