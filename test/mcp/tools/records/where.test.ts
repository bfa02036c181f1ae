/**
 * `where` has one meaning in all tools, and conditions without effect are reported; `keys` alone. Reference: agents.md#arguments, queries.md#where.
 */
import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import { date, type Json, pointer } from '../../../support/records.ts';
import { bytesOf, MAX_BYTES } from '../answers.ts';
import { byUser } from '../callers.ts';
import { onEachEngine } from '../engines.ts';
import { setFlag } from '../restored.ts';

onEachEngine('where of tools', (tools) => {
  const { use, refused, table, create, call } = tools;
  let name: string;
  let account: string;
  before(async () => {
    name = await table({
      Name: 'String',
      n: 'Number',
      when: 'Date',
      extra: 'Object',
      AccountId: { type: 'Pointer', targetClass: 'Accounts' },
      array_tags_Pointer_Tags: 'Array',
    });
    account = await create('Accounts', { Name: 'Dana' });
    for (let n = 0; n < 4; n++)
      await create(name, {
        Name: `r${n}`,
        n,
        when: date(`2026-01-0${n + 1}T00:00:00.000Z`),
        AccountId: pointer('Accounts', account),
      });
  });

  test('Count-Data and Aggregate-Data agree for one where', async () => {
    const { results } = await use('Get-Data', { table: name, order: 'n', limit: 1 });
    const wheres: object[] = [
      {},
      { n: { $gte: 2 } },
      { when: { $gte: '2026-01-02T00:00:00.000Z' } },
      { when: '2026-01-02T00:00:00.000Z' },
      { when: { $gte: date('2026-01-02T00:00:00.000Z') } },
      { AccountId: `Accounts$${account}` },
      { AccountId: account },
      { AccountId: pointer('Accounts', account) },
      { _id: results[0].objectId },
      { objectId: results[0].objectId },
      { _created_at: { $exists: true } },
      { $or: [{ when: { $in: ['2026-01-02T00:00:00.000Z'] } }, { n: 3 }] },
      { AccountId: { $inQuery: { className: 'Accounts', where: { Name: 'Dana' } } } },
      { createdAt: { $lt: { $relativeTime: 'in 1 day' } } },
    ];
    for (const where of wheres) {
      const answer = (tool: string) =>
        tools.use(tool, { table: name, where }).catch(({ message }) => String(message).split(': ').at(-1));
      const [counted, aggregated] = [await answer('Count-Data'), await answer('Aggregate-Data')];
      if (typeof counted === 'string') assert.equal(aggregated, counted, JSON.stringify(where));
      else assert.equal(aggregated.results[0].count, counted.count, JSON.stringify(where));
    }
  });

  test('the clocks of buckets are looked for by the same where', async (t) => {
    await setFlag(t, tools, 'TimeZone', 'Asia/Jerusalem');
    const where = { when: { $gte: date('2026-01-03T00:00:00.000Z') } };
    const { results } = await use('Aggregate-Data', { table: name, groupBy: ['when'], dateBucket: 'day', where });
    assert.deepEqual(
      results.map((row: Json) => row.when),
      ['2026-01-03', '2026-01-04'],
    );
  });

  test('a report that is grouped counts by the meaning of where', async () => {
    const where = { when: { $gte: '2026-01-02T00:00:00.000Z' } };
    const { reportId } = await use('Save-Report', { name: 'by name', table: name, groupBy: ['Name'], where });
    const answer = await use('Run-Report', { reportId });
    assert.deepEqual(answer.results, []);
    assert.match(answer.hint, /when is a Date: compare with \{"__type":"Date","iso":"/);
  });

  test('what silently matches nothing is reported: unknown fields, and bare values of Dates and Pointers', async () => {
    const reported: [object, RegExp][] = [
      [{ Nmae: 'x' }, /has no field Nmae; is Name meant\?/],
      [{ $or: [{ nothingLikeIt: 1 }] }, /has no field nothingLikeIt\.( |$)/],
      [{ when: '2026-01-01' }, /when is a Date: compare with \{"__type":"Date","iso":/],
      [{ createdAt: { $gte: '2026-01-01' } }, /createdAt is a Date/],
      [{ when: { $in: ['2026-01-01'] } }, /when is a Date/],
      [{ when: { $not: { $gt: 5 } } }, /when is a Date/],
      [{ AccountId: account }, /AccountId is a Pointer: compare with \{"__type":"Pointer","className":"Accounts","objectId":/],
      [{ AccountId: { $ne: account } }, /AccountId is a Pointer/],
      [{ AccountId: pointer('Tags', account) }, /AccountId is a Pointer: compare with .*"className":"Accounts"/],
      [{ array_tags_Pointer_Tags: account }, /array_tags_Pointer_Tags holds Pointers: compare with .*"className":"Tags"/],
      [{ 'AccountId.Nmae': 'Dana' }, /Accounts has no field Nmae; is Name meant\?/],
      [{ 'AccountId.createdAt': '2026-01-01' }, /createdAt is a Date/],
      [{ AccountId: { $inQuery: { className: 'Accounts', where: { Nmae: 1 } } } }, /Accounts has no field Nmae/],
    ];
    for (const [where, words] of reported)
      for (const tool of ['Get-Data', 'Count-Data', 'Aggregate-Data'])
        assert.match(String((await use(tool, { table: name, where })).hint), words, `${tool} ${JSON.stringify(where)}`);
  });

  test('order and keys name what there is not; what is right has no hint', async () => {
    assert.match((await use('Get-Data', { table: name, order: '-nn' })).hint, /order: \S+ has no field nn/);
    assert.match((await use('Get-Data', { table: name, order: 'AccountId.Nmae' })).hint, /order: Accounts has no field Nmae/);
    assert.match(
      (await use('Get-Data', { table: name, keys: ['Name', 'nmae'] })).hint,
      /keys: \S+ has no field nmae; is Name meant\?/,
    );
    const where = { when: { $exists: true }, 'extra.a': null, AccountId: { $ne: null }, 'AccountId.Name': { $ne: '' } };
    const good = { where, order: '-createdAt,extra.a,AccountId.Name' };
    assert.equal((await use('Get-Data', { table: name, ...good, keys: ['Name', 'extra.a', 'AccountId.Name'] })).hint, undefined);
    assert.equal((await use('Count-Data', { table: name, where: good.where })).hint, undefined);
  });

  test('a hint names no field that is hidden from the caller', async () => {
    const hiding = await table({ Secret: 'String', Name: 'String' });
    const permissions = { find: { '*': true }, get: { '*': true }, count: { '*': true }, protectedFields: { '*': ['Secret'] } };
    await call('PUT', `/platform/schemas/${hiding}`, { body: { classLevelPermissions: permissions } });
    const user = await byUser(tools, ['Sales']);
    const { hint } = await user.use('Get-Data', { table: hiding, where: { Secre: 1 } });
    assert.match(hint, /has no field Secre\./);
    assert.doesNotMatch(hint, /Secret/);
    await user.refused('Get-Data', { table: hiding, where: { Secret: 1 } }, 119);
    assert.match((await use('Get-Data', { table: hiding, where: { Secre: 1 } })).hint, /is Secret meant\?/);
  });

  test('keys: the fields that every record has are left out unless they are named; objectId stays', async () => {
    const keysOf = async (keys: string[]) =>
      Object.keys((await use('Get-Data', { table: name, keys, limit: 1 })).results[0]).sort();
    assert.deepEqual(await keysOf(['n']), ['n', 'objectId']);
    assert.deepEqual(await keysOf(['n', 'createdAt']), ['createdAt', 'n', 'objectId']);
    assert.deepEqual(await keysOf(['updatedAt,n']), ['n', 'objectId', 'updatedAt']);
    const { results } = await use('Get-Data', { table: name, limit: 1 });
    assert.ok(results[0].createdAt && results[0].updatedAt);
    const row = await use('Get-Record', { table: name, objectId: results[0].objectId, keys: ['n'] });
    assert.deepEqual(Object.keys(row).sort(), ['n', 'objectId']);
    const many = await table({ n: 'Number' });
    await use('Create-Many', { table: many, data: Array.from({ length: 1_000 }, (_, n) => ({ n })) });
    const page = await use('Get-Data', { table: many, keys: ['n'], limit: 2_000 });
    assert.deepEqual([page.results.length, page.truncated], [1_000, undefined]);
    assert.ok(bytesOf(page) <= MAX_BYTES);
  });

  test('operators that there are not, patterns and $text are reported with what there is', async () => {
    const operator = await refused(
      'Get-Data',
      { table: name, where: { n: { $foo: 1 } } },
      102,
      /^bad constraint: \$foo \(code 102\)/,
    );
    assert.match(operator.expected, /\$eq.*\$in.*\$regex/);
    const pattern = await refused(
      'Get-Data',
      { table: name, where: { Name: { $regex: '(' } } },
      102,
      /^Invalid regular expression/,
    );
    assert.deepEqual([/\\/.test(pattern.expected), pattern.next], [true, 'Search-Records']);
    const text = await refused(
      'Get-Data',
      { table: name, where: { $text: { $search: { $term: 'x' } } } },
      1,
      /needs a text index/,
    );
    assert.deepEqual([/\$regex/.test(text.expected), text.next], [true, 'Search-Records']);
  });
});
