/** Formats of an export. Reference: export.md#formats. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileObject, uploadFile } from '../../support/files.ts';
import { create, createEach, date, defineTable, find, onEachEngine, pointer, type Row, tableName } from '../../support/query.ts';
import type { Service } from '../../support/service.ts';
import { exported } from './exporting.ts';

/** Returns the cells of one column, as they are written. */
async function cells(service: Service, table: string, query: Row = {}): Promise<string[]> {
  const { text } = await exported(service, table, { keys: 's', ...query });
  assert.ok(text.startsWith('s\r\n') && text.endsWith('\r\n'), text);
  return text.slice(3, -2).split('\r\n');
}

onEachEngine((get) => {
  test('Export: CSV has a header row, objectId and the times first, then the fields in the order of the schema', async () => {
    const table = tableName('Export');
    await defineTable(get(), table, { s: 'String', n: 'Number', members: 'Relation:_User', a: 'String' });
    const id = await create(get(), table, { s: 'x', n: 1.5, a: 'y' });
    const { text, headers } = await exported(get(), table, { format: 'csv' });
    const [row] = await find(get(), table);
    const header = 'objectId,createdAt,updatedAt,createdBy,updatedBy,ACL,s,n,a';
    assert.equal(text, `${header}\r\n${id},${row?.createdAt},${row?.updatedAt},master,master,{},x,1.5,y\r\n`);
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8; header=present');
    assert.equal(headers.get('content-disposition'), `attachment; filename="${table}.csv"`);
    assert.equal((await exported(get(), table)).text, text, 'the default format is csv');
  });

  test('Export: each type has its form in a cell of CSV', async () => {
    const table = tableName('Export');
    const types = { s: 'String', n: 'Number', b: 'Boolean', d: 'Date', p: 'Pointer:Accounts', o: 'Object', l: 'Array' };
    await defineTable(get(), table, { ...types, f: 'File' });
    const file = fileObject(await uploadFile(get(), 'export.txt', 'some text'));
    const iso = '2024-05-06T07:08:09.010Z';
    const ACL = { '*': { read: true } };
    await createEach(get(), table, [
      { s: 'a', n: -12.5, b: true, d: date(iso), p: pointer('Accounts', 'acc1'), o: { k: 'v,w' }, l: [1, 'x'], f: file, ACL },
      { s: '', n: 0, b: false, o: {}, l: [] },
      {},
    ]);
    const { text } = await exported(get(), table, { keys: 's,n,b,d,p,o,l,f,ACL' });
    const shown = (await find(get(), table))[0]?.f;
    const quoted = (value: unknown) => `"${JSON.stringify(value).replaceAll('"', '""')}"`;
    assert.deepEqual(text.split('\r\n'), [
      's,n,b,d,p,o,l,f,ACL',
      `a,-12.5,true,${iso},acc1,${quoted({ k: 'v,w' })},"[1,""x""]",${quoted(shown)},${quoted(ACL)}`,
      '"",0,false,,,{},[],,{}',
      ',,,,,,,,{}',
      '',
    ]);
  });

  test('Export: cells are quoted as in RFC 4180, with their content unchanged', async () => {
    const table = tableName('Export');
    await defineTable(get(), table, { s: 'String' });
    const texts = ['a,b', 'say "x"', 'two\nlines', 'cr\rhere', ' spaces ', 'שלום 😀', "it's", '"'];
    await createEach(
      get(),
      table,
      texts.map((s) => ({ s })),
    );
    const quoted = ['"a,b"', '"say ""x"""', '"two\nlines"', '"cr\rhere"', ' spaces ', 'שלום 😀', "it's", '""""'];
    assert.deepEqual(await cells(get(), table), quoted);
  });

  test("Export: a cell that a spreadsheet takes for a formula gets a leading ', unless raw is requested", async () => {
    const table = tableName('Export');
    await defineTable(get(), table, { s: 'String' });
    const guarded = [
      '=1+1',
      '+A1',
      '-A1',
      '@SUM(A1)',
      '\tx',
      '\rx',
      '-',
      '+1-2',
      '=972541234567',
      "'=x",
      // Without another ' it would be imported as the one before.
      "''=x",
      "'-5",
      "'\tx",
      '--5',
      '+1;2',
    ];
    const plain = ['+972-54-123-4567', '+972 (54) 1234567', '+972541234567', '-5', '+3.5', '-1e3', "'x", 'a=1', '5-5', ''];
    const texts = [...guarded, ...plain];
    await createEach(
      get(),
      table,
      texts.map((s) => ({ s })),
    );
    const written = (text: string) => (text === '' ? '""' : /\r/.test(text) ? `"${text}"` : text);
    const expected = [...guarded.map((text) => written(`'${text}`)), ...plain.map(written)];
    assert.deepEqual(await cells(get(), table), expected);
    assert.deepEqual(await cells(get(), table, { raw: 'true' }), texts.map(written));
    const { text } = await exported(get(), table, { format: 'ndjson', keys: 's' });
    assert.deepEqual(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).s),
      texts,
      'JSON has unchanged texts',
    );
  });

  test('Export: CSV is UTF-8, with a byte order mark if requested', async () => {
    const table = tableName('Export');
    await defineTable(get(), table, { s: 'String' });
    await create(get(), table, { s: 'תל אביב' });
    assert.equal((await exported(get(), table, { keys: 's', bom: 1 })).text, '\uFEFFs\r\nתל אביב\r\n');
    assert.equal((await exported(get(), table, { keys: 's' })).text, 's\r\nתל אביב\r\n');
  });

  test('Export: keys choose the columns and their order; dotted names reach inside Objects and through Pointers', async () => {
    const [table, target] = [tableName('Export'), tableName('Target')];
    await defineTable(get(), target, { Name: 'String', n: 'Number', at: 'Date' });
    await defineTable(get(), table, { s: 'String', p: `Pointer:${target}`, o: 'Object' });
    const iso = '2024-05-06T07:08:09.010Z';
    const id = await create(get(), target, { Name: '=one', n: 7, at: date(iso) });
    await createEach(get(), table, [
      { s: 'a', p: pointer(target, id), o: { k: { deep: 'x' }, n: 1 } },
      { s: 'b', p: pointer(target, 'missing') },
    ]);
    const csv = async (query: Row) => (await exported(get(), table, query)).text.split('\r\n').slice(0, -1);
    assert.deepEqual(await csv({ keys: 'p,s,objectId' }).then(([header]) => header), 'p,s,objectId');
    assert.deepEqual(await csv({ keys: 's,p', include: 'p.Name' }), ['s,p,p.Name', `a,${id},'=one`, 'b,missing,']);
    assert.deepEqual(await csv({ keys: 'p.at,s,p.n' }), ['p.at,s,p.n', `${iso},a,7`, ',b,']);
    assert.deepEqual(await csv({ keys: 's,o.k.deep,o.n,o.k' }), ['s,o.k.deep,o.n,o.k', 'a,x,1,"{""deep"":""x""}"', 'b,,,']);
    const [header, first] = await csv({ include: 'p.Name' });
    assert.match(header ?? '', /^objectId,.*,s,p,o,p[.]Name$/);
    assert.ok(first?.endsWith(`,'=one`) && first.includes(`,a,${id},`), first);
    const [whole] = await csv({ keys: 's', include: 'p' });
    assert.equal(whole, 's,p.createdAt,p.updatedAt,p.createdBy,p.updatedBy,p.ACL,p.Name,p.n,p.at');
  });

  test('Export: NDJSON and JSON hold the records in the form that REST shows', async () => {
    const table = tableName('Export');
    await defineTable(get(), table, {
      s: 'String',
      n: 'Number',
      d: 'Date',
      p: 'Pointer:Accounts',
      o: 'Object',
      r: 'Relation:_User',
    });
    const row = {
      s: 'שלום\n"x"',
      n: 5e-324,
      d: date('0001-01-01T00:00:00.000Z'),
      p: pointer('Accounts', 'x'),
      o: { b: 1, a: [null, -1] },
    };
    await createEach(get(), table, [row, {}, { s: '' }]);
    for (const query of [{}, { keys: 's,p' }, { order: '-s' }, { include: 'p' }] as Row[]) {
      const plain = await get().call('GET', `/platform/classes/${table}`, { query });
      const records: unknown[] = plain.body.results;
      const lines = await exported(get(), table, { ...query, format: 'ndjson' });
      assert.equal(lines.text, records.map((record) => `${JSON.stringify(record)}\n`).join(''));
      assert.equal(lines.headers.get('content-type'), 'application/x-ndjson');
      assert.equal(lines.headers.get('content-disposition'), `attachment; filename="${table}.ndjson"`);
      const whole = await exported(get(), table, { ...query, format: 'json' });
      assert.match(whole.headers.get('content-type') ?? '', /^application[/]json/);
      assert.equal(JSON.stringify(JSON.parse(whole.text)), plain.text);
    }
  });

  test('Export: an empty table is a header row, no line, an empty list', async () => {
    const table = tableName('Export');
    await defineTable(get(), table, { s: 'String' });
    assert.equal((await exported(get(), table, { keys: 's' })).text, 's\r\n');
    assert.equal((await exported(get(), table, { format: 'ndjson' })).text, '');
    assert.deepEqual(JSON.parse((await exported(get(), table, { format: 'json' })).text), { results: [] });
    assert.equal((await exported(get(), table, { keys: 's', order: 's' })).text, 's\r\n');
  });

  test('Export: what was exported is imported again', async () => {
    const fields = { s: 'String', n: 'Number', b: 'Boolean', d: 'Date', p: 'Pointer:Accounts', o: 'Object', l: 'Array' };
    const [from, to] = [tableName('Export'), tableName('Export')];
    for (const table of [from, to]) await defineTable(get(), table, fields);
    await createEach(get(), from, [
      { s: '=1', n: 1, b: false, d: date('2024-05-06T07:08:09.010Z'), o: { a: 1 } },
      { s: '', l: [] },
    ]);
    const { text } = await exported(get(), from, { format: 'ndjson' });
    for (const line of text.trim().split('\n')) {
      const { createdAt, updatedAt, createdBy, updatedBy, ...row } = JSON.parse(line);
      assert.ok(createdAt && updatedAt && createdBy && updatedBy);
      await create(get(), to, row);
    }
    const again = await exported(get(), to, { keys: Object.keys(fields).join() });
    assert.equal(again.text, (await exported(get(), from, { keys: Object.keys(fields).join() })).text);
  });
});
