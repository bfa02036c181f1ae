/** `record-service import`: rows that match existing records, dry runs, other forms of files. Reference: import.md#matching. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { create, date, defineTable, find, onEachEngine, pointer, type Row, tableName } from '../../support/query.ts';
import { command } from '../../systems/cli.ts';
import { fileOf, freshPath, importCsv, line } from './importing.ts';

const valuesOf = (rows: readonly Row[], ...names: string[]) => rows.map((row) => names.map((name) => row[name]));

onEachEngine((get) => {
  const fields = { Code: 'String', City: 'String', Num: 'Number' };

  test('Import --match-on: one match is updated, none created, two rejected by both ids; an earlier row counts', async () => {
    const table = tableName('Match');
    await defineTable(get(), table, fields, { indexes: { byCode: { Code: 1 } } });
    const id = await create(get(), table, { Code: 'a', City: 'stays', Num: 1 });
    const twins = [await create(get(), table, { Code: 'b' }), await create(get(), table, { Code: 'b' })];
    const text = 'Code,Num,City\na,2,\nb,3,\nc,4,x\nc,5,\n,6,\nc,7,y\n';
    const { code, stdout, stderr } = await importCsv(get(), table, text, '--match-on', 'Code');
    assert.deepEqual([code, stdout], [2, line(2, 3, 1)], stderr);
    const rejected = /^row 3: 107: .*several records match it: (\w+) and (\w+)$/m.exec(stderr) ?? [];
    assert.deepEqual(rejected.slice(1).sort(), twins.sort());
    const found = await find(get(), table, { order: 'Code,Num' });
    assert.deepEqual(
      valuesOf(found, 'Code', 'Num', 'City').filter(([one]) => one !== 'b'),
      [
        [undefined, 6, undefined],
        ['a', 2, 'stays'],
        ['c', 7, 'y'],
      ],
    );
    assert.equal(found.find((row) => row.Code === 'a')?.objectId, id);
  });

  test('Import --match-on: several fields, Numbers and objectId; an unknown field is refused; a missing index is reported', async () => {
    const table = tableName('Match');
    await defineTable(get(), table, fields);
    const id = await create(get(), table, { Code: 'a', Num: 1, City: 'x' });
    const both = await importCsv(get(), table, 'Code,Num,City\na,1,y\na,2,z\n', '--match-on', 'Code,Num');
    assert.deepEqual([both.code, both.stdout], [0, line(1, 1)], both.stderr);
    assert.match(both.stderr, /has no index that begins with Code or Num/);
    const byId = await importCsv(get(), table, `objectId,City\n${id},byId\nfresh00001,new\n`, '--match-on', 'objectId');
    assert.deepEqual([byId.code, byId.stdout, byId.stderr], [0, line(1, 1), '']);
    assert.deepEqual(valuesOf(await find(get(), table, { order: 'City' }), 'City', 'Num'), [
      ['byId', 1],
      ['new', undefined],
      ['z', 2],
    ]);
    assert.equal((await find(get(), table, { where: { City: 'new' } }))[0]?.objectId, 'fresh00001');
    const unknown = await importCsv(get(), table, 'Code\na\n', '--match-on', 'Cod');
    assert.deepEqual([unknown.code, unknown.stdout], [1, '']);
    assert.match(unknown.stderr, /rows are matched on "Cod", which is no field of .* \(perhaps Code\)/);
  });

  test('Import --match-on: many rows of few keys, over many groups', async () => {
    const table = tableName('Match');
    const rows = Array.from({ length: 3_000 }, (_, n) => `k${n % 1_100},${n}`);
    const { stdout, stderr } = await importCsv(
      get(),
      table,
      `Code,Num\n${rows.join('\n')}`,
      '--new-fields',
      '--match-on',
      'Code',
    );
    assert.equal(stdout, line(1_100, 1_900), stderr);
    const [last] = await find(get(), table, { order: '-Num', limit: 1 });
    assert.deepEqual([last?.Code, last?.Num], ['k799', 2_999]);
  });

  test('Import --dry-run: the same counts and rejected rows as the import, and nothing is written', async () => {
    const table = tableName('Dry');
    const keys = Array.from({ length: 1_400 }, (_, n) => `k${n % 900}`);
    const rows = keys.map((key, n) => `{"Code":"${key}","Num":${n === 1_300 ? '"text"' : n}${n > 1_000 ? ',"Late":true' : ''}}`);
    const text = `${rows.join('\n')}\n{"Code":"x","Late":"text"}\n`;
    const args = ['--table', table, '--file', await fileOf(text, 'ndjson'), '--new-fields', '--match-on', 'Code'];
    const kept: string[] = [];
    const outcomes: [number | null, string][] = [];
    for (const dry of [['--dry-run'], ['--dry-run'], []]) {
      const rejected = freshPath('rejected');
      const run = await command(get(), 'import', '--system', get().appId, ...args, '--rejected', rejected, ...dry);
      outcomes.push([run.code, run.stdout]);
      kept.push(await readFile(rejected, 'utf8'));
      const { status } = await get().call('GET', `/platform/schemas/${table}`);
      assert.equal(status, dry.length > 0 ? 400 : 200);
    }
    assert.deepEqual(outcomes, Array(3).fill([2, line(900, 499, 2)]));
    assert.deepEqual(kept, Array(3).fill(kept[0]));
    assert.equal((await find(get(), table, { limit: 2_000 })).length, 900);
  });

  test('Import --dry-run: objectIds that the file has twice, and Pointers to its own rows', async () => {
    const table = tableName('Dry');
    await defineTable(get(), table, { Code: 'String', Parent: `Pointer:${table}` });
    const map = await fileOf('{"parent":"Parent.Code"}', 'json');
    const rows = Array.from(
      { length: 1_200 },
      (_, n) => `id${n % 1_150},c${n},${n === 0 ? '' : `c${n === 1_199 ? 1_160 : n - 1}`}`,
    );
    const text = `objectId,Code,parent\n${rows.join('\n')}`;
    for (const dry of [['--dry-run'], []]) {
      const { stdout, stderr } = await importCsv(get(), table, text, '--keep-times', '--map', map, ...dry);
      // id0 comes again as row 1,151 and is refused as a duplicate, so the row that points at it finds nothing, and so on.
      assert.equal(stdout, line(1_150, 0, 50), stderr);
    }
    const [last] = await find(get(), table, { where: { Code: 'c1149' } });
    assert.deepEqual(last?.Parent, pointer(table, 'id1148'));
  });

  test('Import: a list of JSON objects, and mongoexport of both versions', async () => {
    const table = tableName('Forms');
    const list = await fileOf('[{"Code":"a","Num":1},\n {"Code":"b"}, 3]', 'json');
    const of = (file: string, ...more: string[]) =>
      command(get(), 'import', '--system', get().appId, '--table', table, '--file', file, '--new-fields', ...more);
    const json = await of(list);
    assert.deepEqual([json.code, json.stdout], [2, line(2, 0, 1)], json.stderr);
    assert.match(json.stderr, /^record 3: 107: /m);
    const documents = [
      {
        _id: 'parse00001',
        _created_at: { $date: '2020-01-02T03:04:05.678Z' },
        _updated_at: { $date: { $numberLong: '1600000000000' } },
        _p_Owner: '_User$u1',
        Big: { $numberLong: '12' },
        Price: { $numberDecimal: '1.25' },
        When: { $date: 1_600_000_000_000 },
        Inner: { at: { $date: '2020-01-02T03:04:05.678Z' }, n: { $numberInt: '3' } },
        _rperm: ['*', 'u1'],
        _wperm: ['u1'],
        _hashed_password: '$2b$10$x',
      },
      { _id: { $oid: '507f1f77bcf86cd799439011' }, Code: 'mongo', _rperm: [], _wperm: [] },
      { _id: { $bad: 1 }, Code: 'x' },
    ];
    const text = documents.map((one) => JSON.stringify(one)).join('\n');
    const left = await of(await fileOf(text, 'json'), '--dry-run');
    assert.deepEqual([left.code, left.stdout], [2, line(2, 0, 1)], left.stderr);
    assert.match(left.stderr, /^objectId of 2 records was not taken over; --keep-times takes it over$/m);
    assert.match(left.stderr, /^_hashed_password of 1 record was not taken over$/m);
    const kept = await of(await fileOf(text, 'json'), '--keep-times');
    assert.deepEqual([kept.code, kept.stdout], [2, line(2, 0, 1)], kept.stderr);
    const [first, second] = await find(get(), table, {
      where: { objectId: { $in: ['parse00001', '507f1f77bcf86cd799439011'] } },
      order: 'Code',
    }).then((rows) => rows.sort((a, b) => String(b.objectId).localeCompare(String(a.objectId))));
    assert.deepEqual(first, {
      ...{ objectId: 'parse00001', createdAt: '2020-01-02T03:04:05.678Z', updatedAt: '2020-09-13T12:26:40.000Z' },
      ...{ createdBy: pointer('_User', 'master'), updatedBy: pointer('_User', 'master') },
      ...{ Owner: pointer('_User', 'u1'), Big: 12, Price: 1.25, When: date('2020-09-13T12:26:40.000Z') },
      Inner: { at: date('2020-01-02T03:04:05.678Z'), n: 3 },
      ACL: { '*': { read: true }, u1: { read: true, write: true } },
    });
    assert.deepEqual([second?.Code, second?.ACL], ['mongo', { '*': {} }]);
    const pretty = await of(await fileOf(JSON.stringify(documents.slice(0, 2), null, 2), 'json'), '--dry-run');
    assert.deepEqual([pretty.code, pretty.stdout], [0, line(2)], pretty.stderr);
  });

  test('Import: what an export wrote gives the same records, byte for byte, with --keep-times', async () => {
    const [from, to] = [tableName('From'), tableName('To')];
    const types = { S: 'String', N: 'Number', B: 'Boolean', D: 'Date', P: 'Pointer:_User', A: 'Array', O: 'Object' };
    for (const name of [from, to]) await defineTable(get(), name, types);
    const texts = ['=1+1', "'=x", '+972501234567', '-5', '@a', '\ttab', "it's", '', 'a,"b"\r\nc', ' space ', 'עברית'];
    for (const S of texts)
      await create(get(), from, {
        ...{ S, N: -1.5e-7, B: false, D: date('2024-05-06T07:08:09.010Z'), P: pointer('_User', 'u1') },
        ...{ A: [1, { a: '"' }, null], O: { k: [] }, ACL: { u1: { read: true } } },
      });
    await create(get(), from, {});
    for (const format of ['csv', 'ndjson', 'json']) {
      const file = freshPath(format);
      const of = ['--system', get().appId, '--format', format];
      const out = await command(get(), 'export', ...of, '--table', from, '--to', file);
      assert.equal(out.code, 0, out.stderr);
      const result = await command(get(), 'import', ...of, '--table', to, '--file', file, '--keep-times');
      assert.deepEqual([result.code, result.stdout], [0, line(texts.length + 1)], result.stderr);
      const read = async (name: string) =>
        (await get().call('GET', `/platform/classes/${name}`, { query: { order: 'objectId' } })).text;
      assert.equal(await read(to), await read(from), format);
      const { body } = await get().call('GET', `/platform/classes/${to}`, { query: { keys: 'objectId' } });
      for (const { objectId } of body.results) await get().call('DELETE', `/platform/classes/${to}/${objectId}`);
    }
  });
});
