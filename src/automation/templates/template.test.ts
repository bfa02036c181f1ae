import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { updateRecord } from '../../records/index.ts';
import { addressesOf } from '../../storage/sql/testing/addresses.ts';
import { SqliteEngine } from '../../storage/sqlite/index.ts';
import type { Template, TriggeringRecord } from '../model/model.ts';
import { turnsDuring } from '../testing/turns.ts';
import { makeWorld, type World } from '../testing/world.ts';
import { piecesOf } from './parse.ts';
import { fillerFor } from './template.ts';

const pointer = (className: string, objectId: string): JsonObject => ({ __type: 'Pointer', className, objectId });
const date = { __type: 'Date', iso: '2024-02-29T12:00:00.000Z' };
const file = { __type: 'File', name: 'name.png', url: 'http://host/name.png', public: true };

let world: World;
let record: TriggeringRecord;
const fillOf = (of = record) => fillerFor({ record: of, reading: world.master });

before(async () => {
  world = await makeWorld((directory) => new SqliteEngine(directory, { timeLimit: 10_000, report: assert.fail, addressesOf }));
  const user = await world.create('_User', { username: 'dana', password: 'Right1Pass', name: 'Dana' });
  const account = await world.create('Accounts', { Name: 'דנה & <Co>', OwnerId: pointer('_User', user), CompanyId: '7' });
  const sale = await world.create('Sales', { Name: 'Sale', AccountId: pointer('Accounts', account) });
  const row = await world.create('SaleRows', { Name: 'Row', SaleId: pointer('Sales', sale) });
  const id = await world.create('Probes', {
    Text: 'a "quoted" <b>',
    Number: 5,
    Float: 0.1,
    No: false,
    When: date,
    Row: pointer('SaleRows', row),
    Sale: pointer('Sales', sale),
    Gone: pointer('Accounts', 'nowhere'),
    User: pointer('_User', user),
    Stored: pointer('_StoredFile', 'any'),
    Tags: ['a', 5, pointer('Accounts', account), date, null, [1, 2]],
    Data: { key: 'inner', 'a key': 1, file, owner: pointer('_User', user), list: [{ n: 1 }], '{{': 1 },
    Braces: '{{Number}} {{{Text}}}',
    Photo: file,
    Empty: '',
    Members: { __op: 'AddRelation', objects: [pointer('Accounts', account)] },
  });
  record = await world.read('Probes', id);
});
after(() => world.close());

test('a template alone takes over the value, typed', async () => {
  for (const name of ['Text', 'Number', 'Float', 'No', 'When', 'Sale', 'Tags', 'Braces', 'Photo', 'Empty', 'objectId'])
    for (const template of [`{{${name}}}`, `{{ ${name} }}`, `{{{${name}}}}`])
      assert.deepEqual(await fillOf().value(template), record.fields[name], template);
});

test('createdAt and updatedAt alone are Dates; in a text, and in a Date, they are the text', async () => {
  const at = await world.read('Sales', (record.fields.Sale as { objectId: string }).objectId);
  for (const name of ['createdAt', 'updatedAt']) {
    const wrapped = { __type: 'Date', iso: record.fields[name] };
    assert.deepEqual(await fillOf().value(`{{ ${name} }}`), wrapped);
    assert.deepEqual(await fillOf().value([{ at: `{{${name}}}` }]), [{ at: wrapped }]);
    assert.deepEqual(await fillOf().value({ __type: 'Date', iso: `{{${name}}}` }), wrapped);
    assert.equal(await fillOf().text(`{{${name}}}`), record.fields[name]);
    assert.equal(await fillOf().value(`at {{${name}}}`), `at ${record.fields[name]}`);
    assert.deepEqual(await fillOf().value(`{{Sale.${name}}}`), { __type: 'Date', iso: at.fields[name] });
  }
  assert.deepEqual(await fillOf().value({ __type: 'Date', iso: '{{When}}' }), date);
  assert.deepEqual(await fillOf().value({ iso: '{{When}}' }), { iso: date });
});

test('places inside Objects and Arrays, and the parts of wrappers', async () => {
  for (const [template, value] of [
    ['{{Data.key}}', 'inner'],
    ['{{ Data.a key }}', 1],
    ['{{Data.list.0.n}}', 1],
    ['{{Data.list}}', [{ n: 1 }]],
    ['{{Tags.1}}', 5],
    ['{{Tags.2.className}}', 'Accounts'],
    ['{{When.iso}}', date.iso],
    ['{{Photo.name}}', file.name],
  ] as const)
    assert.deepEqual(await fillOf().value(template), value, template);
});

test('what is not there is absent', async () => {
  const absent = ['Nothing', 'Data.nothing', 'Data.key.more', 'Tags.9', 'Tags.01', 'Tags.length', 'Gone.Name', 'Number.toFixed'];
  const inherited = [
    'constructor',
    '__proto__',
    'toString',
    'Data.constructor',
    'Data.__proto__',
    'Data.toString',
    'Text.length',
    'Tags.map',
  ];
  for (const path of [...absent, ...inherited.filter((name) => !name.startsWith('_'))]) {
    assert.equal(await fillOf().value(`{{${path}}}`), undefined, path);
    assert.equal(await fillOf().text(`<{{${path}}}>`), '<>', path);
  }
  assert.equal(await fillOf().text('{{__proto__}}'), '{{__proto__}}');
});

test('Pointers are read, up to three deep, each record once', async () => {
  assert.equal(await fillOf().value('{{Sale.Name}}'), 'Sale');
  assert.equal(await fillOf().value('{{Row.SaleId.AccountId.CompanyId}}'), '7');
  assert.equal(await fillOf().value('{{Row.SaleId.AccountId.OwnerId.name}}'), undefined);
  assert.deepEqual(await fillOf().value('{{Row.SaleId.AccountId.OwnerId}}'), record.fields.User);
  assert.equal(await fillOf().value('{{Gone.objectId}}'), 'nowhere');
  const { reader } = world.store;
  const get = reader.get.bind(reader);
  let reads = 0;
  reader.get = (...asked) => {
    reads++;
    return get(...asked);
  };
  try {
    const filler = fillOf();
    await filler.text('{{Sale.Name}} {{Sale.AccountId.Name}} {{Sale.AccountId.CompanyId}}');
    await filler.value(['{{Sale.createdAt}}', '{{Gone.Name}}', '{{Gone.City}}']);
  } finally {
    reader.get = get;
  }
  assert.equal(reads, 3);
});

test('Pointers are read as they are when the action is done', async () => {
  const account = await world.create('Accounts', { Name: 'before' });
  const id = await world.create('Sales', { AccountId: pointer('Accounts', account) });
  const sale = await world.read('Sales', id);
  await updateRecord(world.master, 'Accounts', account, { Name: 'after' });
  assert.equal(await fillOf(sale).value('{{AccountId.Name}}'), 'after');
});

test('secrets and hidden tables are nobody’s, also where the record would have them', async () => {
  for (const path of [
    'User.password',
    'User._username_key',
    'User.sessionToken',
    'Stored.name',
    'Sale.AccountId._phone_key',
    'Data.owner.name',
  ])
    assert.equal(await fillOf().value(`{{${path}}}`), undefined, path);
  const user = { className: '_User', objectId: 'u', fields: { objectId: 'u', password: 'hash', name: 'Dana' } };
  assert.deepEqual(await fillOf(user).value({ a: '{{password}}', b: '{{name}}' }), { b: 'Dana' });
  assert.equal(await fillOf(user).html('{{{password}}}{{password}}'), '');
});

test('in a text values are text', async () => {
  for (const [template, text] of [
    ['{{Number}} and {{Float}}, {{No}}', '5 and 0.1, false'],
    ['on {{When}}', `on ${date.iso}`],
    ['of {{Sale}}', `of ${(record.fields.Sale as JsonObject).objectId}`],
    ['see {{Photo}}', `see ${(record.fields.Photo as JsonObject).url}`],
    ['{{Members}}-', '-'],
    ['{{Data.list}}!', '{"n":1}!'],
    ['{{Data.owner}}', (record.fields.User as JsonObject).objectId],
    ['{{Text}}', record.fields.Text],
    ['{{{Text}}}', record.fields.Text],
    ['{{Braces}}{{Braces}}', '{{Number}} {{{Text}}}{{Number}} {{{Text}}}'],
    ['שלום {{Sale.AccountId.Name}} 😀', 'שלום דנה & <Co> 😀'],
    ['', ''],
  ] as const)
    assert.equal(await fillOf().text(template), text, template);
  const id = (await fillOf().value('{{Sale.AccountId.objectId}}')) as string;
  assert.equal(await fillOf().text('{{Tags}}'), `a, 5, ${id}, ${date.iso}, , 1, 2`);
});

test('braces that name nothing are text', async () => {
  for (const text of [
    '{{',
    '}}',
    '{{}}',
    '{{ }}',
    '{{ 5 + 5 }}',
    '{Number}',
    '{{Number}',
    '{{#each}}',
    '{{a..b}}',
    '{{.a}}',
    '{{a.}}',
    '{{{',
    '{"a":{"b":{}}}',
  ])
    assert.deepEqual([await fillOf().text(text), await fillOf().value(text), await fillOf().html(text)], [text, text, text]);
  assert.equal(await fillOf().text('{{{{Number}}}}'), '{5}');
  assert.equal(await fillOf().text('{{ {{Number}} }}'), '{{ 5 }}');
});

test('HTML: values are escaped unless three braces ask for them as they are; the template never is', async () => {
  assert.equal(
    await fillOf().html('<p title="{{Text}}">{{Sale.AccountId.Name}} &amp; {{{Text}}}</p>'),
    '<p title="a &quot;quoted&quot; &lt;b&gt;">דנה &amp; &lt;Co&gt; &amp; a "quoted" <b></p>',
  );
  assert.equal(await fillOf().html('{{Braces}}'), '{{Number}} {{{Text}}}');
});

test('templates inside Arrays and Objects; absent ones are left out, keys are none, wrappers can be built', async () => {
  const template: Template = {
    plain: 5,
    none: null,
    '{{Number}}': '{{Number}}',
    gone: '{{Nothing}}',
    list: ['{{Number}}', '{{Nothing}}', { deep: ['no {{Nothing}}', '{{No}}'] }],
    link: { __type: 'Pointer', className: 'Sales', objectId: '{{Sale.objectId}}' },
  };
  assert.deepEqual(await fillOf().value(template), {
    plain: 5,
    none: null,
    '{{Number}}': 5,
    list: [5, { deep: ['no ', false] }],
    link: record.fields.Sale as JsonValue,
  });
  const hostile = JSON.parse('{"__proto__": "{{Number}}"}') as Template;
  assert.equal(JSON.stringify(await fillOf().value(hostile)), '{"__proto__":5}');
});

test('an operator is the definition’s, with values of the record as its data; data are none', async () => {
  assert.deepEqual(await fillOf().value({ __op: 'Increment', amount: '{{Number}}' }), { __op: 'Increment', amount: 5 });
  assert.deepEqual(await fillOf().value({ __op: '{{Text}}', __type: '{{Text}}' }), { __op: '{{Text}}', __type: '{{Text}}' });
  const operator = { __op: 'Delete' };
  const fields = { objectId: 'a', Data: { inner: operator, deep: { inner: operator }, list: [operator] }, Whole: operator };
  const hostile = { className: 'Probes', objectId: 'a', fields };
  const refused = { key: 'badOperator', message: 'a value of the record looks like an operator' };
  for (const template of ['{{Whole}}', '{{Data.inner}}', '{{Data.list}}', ['{{Whole}}'], { __op: 'Batch', ops: '{{Data.list}}' }])
    await assert.rejects(fillOf(hostile).value(template), refused, JSON.stringify(template));
  assert.deepEqual(await fillOf(hostile).value('{{Data}}'), fields.Data);
  assert.equal(await fillOf(hostile).text('<{{Whole}}>'), '<{"__op":"Delete"}>');
});

test('a File is handed on where a field holds it, not where a client’s data only looks like one', async () => {
  assert.deepEqual(await fillOf().value('{{Photo}}'), record.fields.Photo);
  await assert.rejects(fillOf().value('{{Data.file}}'), { key: 'notAType' });
  const crafted = { className: 'Probes', objectId: 'a', fields: { objectId: 'a', Data: file } };
  await assert.rejects(fillOf(crafted).value('{{Data}}'), { key: 'notAType' });
  assert.equal(await fillOf().text('{{Data.file}}'), file.url);
});

test('what becomes too long is refused before it fills the memory', async () => {
  const long = {
    className: 'Probes',
    objectId: 'a',
    fields: { objectId: 'a', Text: 'x'.repeat(1_000_000), Tags: ['y'.repeat(1_000_000)] },
  };
  const refused = { name: 'ActionFailed', message: /^The templates come to more than \d+ characters\.$/ };
  await assert.rejects(fillOf(long).html('{{Text}}'.repeat(100_000)), refused);
  await assert.rejects(fillOf(long).value(Array.from({ length: 100_000 }, () => '{{Tags}}')), refused);
});

test('very many templates or values leave the event loop to others', async () => {
  const many = 20_000;
  for (const fill of [
    () => fillOf().html('{{None}}'.repeat(many)),
    () => fillOf().pieces('{{Number}}'.repeat(many)),
    () => fillOf().value(Array<string>(many).fill('{{Number}}')),
    () => fillOf().value({ list: Array<number>(many).fill(0) }),
  ])
    assert.ok((await turnsDuring(fill)) >= 10);
});

test('a value that is named again and again becomes a text once, and one of too many parts never', async () => {
  const nested = (depth: number): JsonValue => (depth === 0 ? [] : [nested(depth - 1)]);
  const list = Array.from({ length: 500 }, () => nested(95));
  const of: TriggeringRecord = {
    ...record,
    fields: { objectId: record.objectId, List: list, Long: Array<number>(60_000).fill(1) },
  };
  const commas = ', '.repeat(499);
  assert.equal(await fillOf(of).html('{{List}}'.repeat(2_000)), commas.repeat(2_000));
  for (const fill of [() => fillOf(of).text('{{Long}}x'), () => fillOf(of).html('{{Long}}'), () => fillOf(of).html('{{{Long}}}')])
    await assert.rejects(fill, /more than 50000 parts/);
  assert.deepEqual(await fillOf(of).value('{{Long}}'), of.fields.Long);
});

test('ten times as long a text of braces takes ten times as long, not a hundred', () => {
  const timed = (text: string) => {
    const start = performance.now();
    piecesOf(text);
    return performance.now() - start;
  };
  const texts: readonly ((length: number) => string)[] = [
    (length) => '{{'.repeat(length),
    (length) => '{{a'.repeat(length),
    (length) => `{{a${' '.repeat(2 * length)}`,
    (length) => `{{a.${' .'.repeat(length)}}`,
    (length) => '{{{a}}'.repeat(length / 2),
  ];
  for (const textOf of texts) {
    const ratios: number[] = [];
    // A busy machine distorts some of the ratios, but not all.
    while (ratios.length < 20 && !ratios.some((ratio) => ratio < 40)) ratios.push(timed(textOf(300_000)) / timed(textOf(30_000)));
    assert.ok(Math.min(...ratios) < 40, `${textOf(2)}: ${ratios.map(Math.round)}`);
  }
});

test('a fault of the store is no absent value', async () => {
  const { reader } = world.store;
  const get = reader.get.bind(reader);
  reader.get = () => Promise.reject(new Error('broken'));
  try {
    await assert.rejects(fillOf().value('{{Sale.Name}}'), { message: 'broken' });
  } finally {
    reader.get = get;
  }
});
