/** `record-service import` of CSV. Reading a file does not depend on the engine. Reference: import.md#forms-of-a-file. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { create, date, defineTable, find, pointer, type Row, tableName } from '../../support/query.ts';
import type { Service } from '../../support/service.ts';
import { onSampledEngine } from '../sampled.ts';
import { fileOf, freshPath, importCsv, line } from './importing.ts';

const fields = {
  Name: 'String',
  City: 'String',
  Num: 'Number',
  Flag: 'Boolean',
  At: 'Date',
  List: 'Array',
  More: 'Object',
  Owner: 'Pointer:_User',
};

async function label(service: Service, table: string, field: string, value: string): Promise<void> {
  const body = { tblName: table, field, value };
  assert.equal((await service.call('POST', '/platform/classes/_Dictionary', { body })).status, 201);
}

const valuesOf = (rows: readonly Row[], ...names: string[]) => rows.map((row) => names.map((name) => row[name]));

onSampledEngine((get) => {
  async function table(): Promise<string> {
    const name = tableName('Csv');
    await defineTable(get(), name, fields);
    return name;
  }

  test('Import CSV: values of every type, an empty text and no value, quotes, line ends in cells', async () => {
    const name = await table();
    const text = [
      '\uFEFFName,City,Num,Flag,At,List,More,Owner,ACL',
      '"a ""b"", c","",1.5,true,2024-05-06T07:08:09.010Z,"[1,""x""]","{""a"":1}",u1,"{""*"":{""read"":true}}"',
      '"two\r\nlines",,"1,234",כן,2024-05-06,,,,',
      "'=1+1,'+x,-5,no,2024-05-06 10:00,,,,",
    ].join('\r\n');
    const { code, stdout, stderr } = await importCsv(get(), name, text);
    assert.deepEqual([code, stdout, stderr], [0, line(3), '']);
    const found = await find(get(), name);
    assert.deepEqual(valuesOf(found, 'Name', 'City', 'Num', 'Flag', 'At', 'List', 'More', 'Owner', 'ACL'), [
      [
        ...['a "b", c', '', 1.5, true, date('2024-05-06T07:08:09.010Z'), [1, 'x'], { a: 1 }, pointer('_User', 'u1')],
        { '*': { read: true } },
      ],
      ['two\r\nlines', undefined, 1234, true, date('2024-05-06T00:00:00.000Z'), ...Array(3).fill(undefined), {}],
      ['=1+1', '+x', -5, false, date('2024-05-06T10:00:00.000Z'), ...Array(3).fill(undefined), {}],
    ]);
  });

  test('Import CSV: the header has labels or names; an unknown column refuses the file, with the nearest', async () => {
    const name = await table();
    await label(get(), name, 'City', 'עיר מגורים');
    const done = await importCsv(get(), name, 'Name,עיר מגורים\nDana,חיפה\n');
    assert.deepEqual([done.code, done.stdout], [0, line(1)], done.stderr);
    assert.deepEqual(valuesOf(await find(get(), name), 'Name', 'City'), [['Dana', 'חיפה']]);
    for (const [header, says] of [
      ['Nmae,Num', /has no field "Nmae" \(perhaps Name\); --new-fields makes them\. Nothing was imported/],
      ['Name,עיר מגורם', /has no field "עיר מגורם" \(perhaps עיר מגורים\)/],
    ] as const) {
      const refused = await importCsv(get(), name, `${header}\nx,1\n`);
      assert.deepEqual([refused.code, refused.stdout], [1, '']);
      assert.match(refused.stderr, says);
    }
    assert.equal((await find(get(), name)).length, 1);
  });

  for (const [what, text, says] of [
    ['two columns of one name', 'Name,Name\nx,y\n', /two columns are named "Name"/],
    ['a column and its label', 'City,town\nx,y\n', /"City" and "town" are both the field City/],
    [
      'an ambiguous date',
      'Name,At\nx,2026-01-01\ny,03/04/26\n',
      /row 3: "03\/04\/26" in "At" can be read as several dates; --date-order/,
    ],
    ['a quote that is never closed', 'Name,City\nx,y\nz,"open\n"",1\n', /row 3: a quote is opened and never closed/],
    ['an empty file', '', /the file is empty/],
    ['a value without a column', 'Name,\nx,\ny,z\n', /column 2 has no name, and a value in row 3/],
    ['a bad header', 'Name,Ci"ty\nx,y\n', /row 1: a quote stands in a cell/],
  ] as const)
    test(`Import CSV: ${what} refuses the file before its first row`, async () => {
      const name = await table();
      await label(get(), name, 'City', 'town');
      const { code, stdout, stderr } = await importCsv(get(), name, text);
      assert.deepEqual([code, stdout], [1, '']);
      assert.match(stderr, says);
      assert.equal(stderr.trim().split('\n').length, 1, stderr);
      assert.deepEqual(await find(get(), name), []);
    });

  test('Import CSV: a file with other separators, and a workbook, are refused with what to do', async () => {
    const name = await table();
    const cases: [string | Buffer, RegExp][] = [
      ['Name;City\na;b\n', /separated by ";": save the file with commas\. /],
      ['Name\tCity\na\tb\n', /separated by "\\t": save/],
      ['sep=;\r\nName;City\r\na;b\r\n', /separated by ";": save .* without the row sep=/],
      ['sep=,\r\nName,City\r\na,b\r\n', /without the row sep=/],
      [Buffer.from('504b03041400060008000000', 'hex'), /no text, perhaps a workbook: save it as CSV/],
    ];
    for (const [content, message] of cases)
      for (const options of [[], ['--new-fields']]) {
        const { code, stderr } = await importCsv(get(), name, content, ...options);
        assert.equal(code, 1);
        assert.match(stderr, message);
      }
    assert.equal((await find(get(), name)).length, 0);
  });

  test('Import CSV: rows that are wrong are rejected with number and reason, kept as objects', async () => {
    const name = await table();
    const rejected = freshPath('rejected');
    const rows = [
      'Name,Num,At',
      'good,1,',
      'a,one,',
      'b,2',
      'c,3,,more',
      'd"e,4,',
      '"f"g,5,',
      '',
      'h,6,31/02/2026',
      'NUL\0,7,',
      'last,8,',
    ];
    const { code, stdout, stderr } = await importCsv(get(), name, rows.join('\n'), '--rejected', rejected);
    assert.deepEqual([code, stdout], [2, line(2, 0, 7)], stderr);
    const kept = (await readFile(rejected, 'utf8'))
      .trim()
      .split('\n')
      .map((one) => JSON.parse(one));
    assert.deepEqual(
      kept.map(({ line: at, code: number }) => [at, number]),
      [
        [3, 111],
        [4, 107],
        [5, 107],
        [6, 107],
        [7, 107],
        [9, 111],
        [10, 107],
      ],
    );
    assert.deepEqual(kept[0], {
      ...{ line: 3, code: 111, error: `schema mismatch for ${name}.Num; expected Number but got "one"` },
      row: { Name: 'a', Num: 'one', At: null },
    });
    assert.match(kept[1].error, /it has 2 cells, the header 3/);
    assert.match(stderr, /^row 3: 111: schema mismatch/m);
  });

  test('Import CSV: a row longer than 20 MB is rejected alone', async () => {
    const name = await table();
    const long = 'x'.repeat(20 * 1024 * 1024 + 1);
    const { code, stdout, stderr } = await importCsv(get(), name, `Name,City\na,1\n"${long}",2\nb,3\n`);
    assert.deepEqual([code, stdout], [2, line(2, 0, 1)]);
    assert.match(stderr, /^row 3: 116: /m);
  });

  test('Import CSV: --date-order reads dates that are not ISO', async () => {
    const name = await table();
    const text = 'Name,At\na,03/04/26\nb,2026-04-03\nc,3.4.2026 10:30\n';
    assert.equal((await importCsv(get(), name, text, '--date-order', 'dmy')).stdout, line(3));
    assert.equal((await importCsv(get(), name, 'Name,At\nd,03/04/26\n', '--date-order', 'mdy')).stdout, line(1));
    assert.deepEqual(
      (await find(get(), name)).map(({ At }) => (At as { iso: string }).iso),
      ['2026-04-03T00:00:00.000Z', '2026-04-03T00:00:00.000Z', '2026-04-03T10:30:00.000Z', '2026-03-04T00:00:00.000Z'],
    );
    assert.match((await importCsv(get(), name, text, '--date-order', 'ddmm')).stderr, /dmy, mdy, ymd/);
  });

  test('Import CSV: windows-1255 is recognised and reported, or requested by --encoding; damaged UTF-8 is refused', async () => {
    const name = await table();
    // "שלום" in windows-1255.
    const bytes = Buffer.concat([Buffer.from('Name,Num\n'), Buffer.from([0xf9, 0xec, 0xe5, 0xed]), Buffer.from(',1\n')]);
    const { code, stderr } = await importCsv(get(), name, bytes);
    assert.equal(code, 0, stderr);
    assert.match(stderr, /windows-1255/);
    const explicit = await importCsv(get(), name, bytes, '--encoding', 'windows-1255');
    assert.deepEqual([explicit.code, explicit.stderr], [0, '']);
    assert.deepEqual(valuesOf(await find(get(), name), 'Name'), [['שלום'], ['שלום']]);
    const damaged = await importCsv(get(), name, Buffer.concat([Buffer.from('Name\nשלום'), bytes]));
    assert.deepEqual([damaged.code, damaged.stdout], [1, '']);
    assert.match(damaged.stderr, /neither in UTF-8 as a whole nor in windows-1255/);
    assert.match((await importCsv(get(), name, bytes, '--encoding', 'utf-8')).stderr, /the file is not in utf-8/);
    assert.match((await importCsv(get(), name, bytes, '--encoding', 'nothing')).stderr, /there is no encoding "nothing"/);
    const utf16 = await importCsv(get(), name, Buffer.from('\uFEFFName\nדנה\n', 'utf16le'));
    assert.deepEqual([utf16.code, utf16.stdout], [0, line(1)], utf16.stderr);
  });

  test('Import CSV: --new-fields makes the table and fields of the types that all cells have', async () => {
    const name = tableName('Csv');
    const text = [
      'Text,Phone,Num,Flag,Day,List,Obj,Ref,Mixed',
      'a,0501234567,1,true,2026-04-03,[1],"{""a"":1}","{""__type"":""Pointer"",""className"":""_User"",""objectId"":""u1""}",1',
      ',+972501234567,-2.5,FALSE,2026-04-03T10:00:00Z,[],{},,x',
    ];
    const { code, stdout, stderr } = await importCsv(get(), name, text.join('\n'), '--new-fields');
    assert.deepEqual([code, stdout], [0, line(2)], stderr);
    const schema = (await get().call('GET', `/platform/schemas/${name}`)).body.fields;
    const types = ['Text', 'Phone', 'Num', 'Flag', 'Day', 'List', 'Obj', 'Ref', 'Mixed'].map((one) => schema[one].type);
    assert.deepEqual(types, ['String', 'String', 'Number', 'Boolean', 'Date', 'Array', 'Object', 'Pointer', 'String']);
    const refused = await importCsv(get(), tableName('Csv'), 'Day\n03/04/26\n', '--new-fields');
    assert.match(refused.stderr, /row 2: .*--date-order/);
    assert.match((await importCsv(get(), name, 'שם\nx\n', '--new-fields')).stderr, /can be the name of no field/);
  });

  test('Import CSV: --map renames columns, leaves some out, finds Pointers by a field of their table', async () => {
    const companies = tableName('Companies');
    await defineTable(get(), companies, { Code: 'String', Size: 'Number' });
    const [first] = [
      await create(get(), companies, { Code: 'c1', Size: 1 }),
      await create(get(), companies, { Code: 'c2', Size: 2 }),
    ];
    await create(get(), companies, { Code: 'c2', Size: 3 });
    const name = tableName('Csv');
    await defineTable(get(), name, { Name: 'String', Company: `Pointer:${companies}` });
    const map = await fileOf(JSON.stringify({ 'Full name': 'Name', note: null, code: 'Company.Code' }), 'json');
    const text = 'Full name,note,code\na,1,c1\nb,2,c2\nc,3,none\nd,4,\n';
    const { code, stdout, stderr } = await importCsv(get(), name, text, '--map', map);
    assert.deepEqual([code, stdout], [2, line(2, 0, 2)], stderr);
    assert.match(stderr, /^row 3: 107: .*several records with the Code "c2"/m);
    assert.match(stderr, /^row 4: 107: .*no record with the Code "none"/m);
    assert.deepEqual(valuesOf(await find(get(), name), 'Name', 'Company'), [
      ['a', pointer(companies, String(first))],
      ['d', undefined],
    ]);
    for (const [content, says] of [
      ['{"Full name":"Nmae"}', /no field "Nmae" \(perhaps Name\)/],
      ['{"Full name":"Company.Cdoe"}', /has no field Cdoe to find records by \(perhaps Code\)/],
      ['{"Ful name":"Name"}', /the map names "Ful name", which is no column of the file \(perhaps Full name\)/],
      ['{"Full name":"Name","note":"Name","code":null}', /"Full name" and "note" are both the field Name/],
      ['[1]', /--map: .*one JSON object/],
      ['{', /--map: /],
    ] as const) {
      const refused = await importCsv(get(), name, text, '--map', await fileOf(content, 'json'));
      assert.deepEqual([refused.code, refused.stdout], [1, ''], content);
      assert.match(refused.stderr, says);
    }
  });
});
