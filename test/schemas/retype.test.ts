/** Changes of the type of a field: conversions, refusals, what depends on the type. Reference: schemas.md#change-the-type-of-a-field. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  assertError,
  create,
  createMany,
  date,
  defineTable,
  find,
  onEachEngine,
  pointer,
  type Row,
  tableName,
} from '../support/query.ts';

const NOON = '2026-01-31T12:00:00.000Z';
const noon = Date.parse(NOON);

/** A conversion: types, values with what they become; `undefined`: cannot be converted, `null`: absent afterwards. */
type Case = [from: string, to: string, values: [value: unknown, becomes: unknown][]];

const cases = (table: string, other: string, id: string): Case[] => [
  [
    'String',
    'Number',
    [
      ['12', 12],
      [' -1.5e3 ', -1500],
      ['.5', 0.5],
      ['', null],
      ['  ', null],
      ['1,000', undefined],
      ['12 ₪', undefined],
      ['0x10', undefined],
      ['NaN', undefined],
      ['1e999', undefined],
      ['x', undefined],
    ],
  ],
  [
    'String',
    'Boolean',
    [
      ['true', true],
      [' FALSE ', false],
      ['1', true],
      ['0', false],
      ['', null],
      ['yes', undefined],
      ['2', undefined],
    ],
  ],
  [
    'String',
    'Date',
    [
      [NOON, date(NOON)],
      ['2026-01-31', date('2026-01-31T00:00:00.000Z')],
      ['', null],
      ['31/01/2026', undefined],
      ['x', undefined],
    ],
  ],
  [
    'String',
    `Pointer:${other}`,
    [
      [id, pointer(other, id)],
      ['', null],
      ['nothing', undefined],
    ],
  ],
  [
    'String',
    'HTML/XML',
    [
      ['<p>', '<p>'],
      ['', ''],
    ],
  ],
  [
    'String',
    'Array',
    [
      ['x', ['x']],
      ['', ['']],
      ['[1]', ['[1]']],
    ],
  ],
  [
    'String',
    'Object',
    [
      ['{"a": {"b": [1]}}', { a: { b: [1] } }],
      ['', null],
      ['[1]', undefined],
      ['{"$a":1}', undefined],
      ['{"__type":"Date","iso":"x"}', undefined],
      ['{', undefined],
    ],
  ],
  ['HTML/XML', 'String', [['<p>', '<p>']]],
  [
    'Number',
    'String',
    [
      [12, '12'],
      [-0.1, '-0.1'],
      [1e21, '1e+21'],
      [1e-7, '1e-7'],
      [0, '0'],
    ],
  ],
  [
    'Number',
    'Boolean',
    [
      [1, true],
      [0, false],
      [2, undefined],
    ],
  ],
  [
    'Number',
    'Date',
    [
      [noon, date(NOON)],
      [0.5, undefined],
      [1e17, undefined],
    ],
  ],
  ['Number', 'Array', [[1.5, [1.5]]]],
  [
    'Boolean',
    'String',
    [
      [true, 'true'],
      [false, 'false'],
    ],
  ],
  [
    'Boolean',
    'Number',
    [
      [true, 1],
      [false, 0],
    ],
  ],
  ['Boolean', 'Array', [[false, [false]]]],
  ['Date', 'String', [[date(NOON), NOON]]],
  ['Date', 'Number', [[date(NOON), noon]]],
  ['Date', 'Array', [[date(NOON), [date(NOON)]]]],
  [`Pointer:${other}`, 'String', [[pointer(other, id), id]]],
  [`Pointer:${other}`, `Pointer:${table}`, [[pointer(other, id), undefined]]],
  [`Pointer:${other}`, 'Array', [[pointer(other, id), [pointer(other, id)]]]],
  [
    'Array',
    'String',
    [
      [[1, 'ü', { a: null }], '[1,"ü",{"a":null}]'],
      [[], '[]'],
    ],
  ],
  ['Object', 'String', [[{ b: 1, a: 'x' }, '{"b":1,"a":"x"}']]],
  ['Object', 'Array', [[{ b: 1 }, [{ b: 1 }]]]],
];

onEachEngine((get) => {
  const put = (table: string, body: unknown) => get().call('PUT', `/platform/schemas/${table}`, { body });
  const schemaOf = async (table: string) => (await get().call('GET', `/platform/schemas/${table}`)).body;
  const typed = (type: string) => {
    const [kind, targetClass] = type.split(':');
    return { type: kind, ...(targetClass !== undefined && { targetClass }) };
  };
  const retype = (table: string, type: string, onError?: string) =>
    put(table, { fields: { F: { __op: 'Retype', ...typed(type), ...(onError && { onError }) } } });
  const values = async (table: string): Promise<Row[]> => find(get(), table, { order: 'n', limit: 1000 });

  test('Schemas PUT Retype: each conversion, value by value, the same on both engines', async () => {
    const other = tableName('Other');
    await defineTable(get(), other, { k: 'String' });
    const id = await create(get(), other, { k: 'x' });
    for (const [from, to, pairs] of cases(tableName('T'), other, id)) {
      const table = tableName('T');
      await defineTable(get(), table, { n: 'Number', F: from, after: 'String' });
      for (const [n, [value]] of pairs.entries()) await create(get(), table, { n, F: value, after: 'a' });
      await create(get(), table, { n: 1000 });
      const before = await values(table);
      const failing = pairs.filter(([, becomes]) => becomes === undefined);
      const target = to.includes('T_') ? `Pointer:${table}` : to;
      const what = `${from} → ${to}`;
      if (failing.length > 0) {
        const refused = await retype(table, target);
        assertError(refused, 400, 111);
        assert.deepEqual(
          [refused.body.cannotConvert, refused.body.examples.length],
          [failing.length, Math.min(5, failing.length)],
          what,
        );
        const bad = before.filter((_, n) => n < pairs.length && pairs[n]?.[1] === undefined);
        assert.deepEqual(
          refused.body.examples.map(({ objectId }: Row) => objectId),
          bad.slice(0, 5).map(({ objectId }) => objectId),
          what,
        );
        assert.deepEqual(await values(table), before, what);
        assert.deepEqual((await schemaOf(table)).fields.F, typed(from));
      }
      const answer = await retype(table, target, failing.length > 0 ? 'null' : undefined);
      assert.equal(answer.status, 200, `${what}: ${answer.text}`);
      assert.deepEqual([answer.body.fields.F, answer.body.notFollowed], [typed(target), undefined], what);
      assert.deepEqual(Object.keys(answer.body.fields).slice(-3), ['n', 'F', 'after']);
      const rows = await values(table);
      assert.deepEqual(
        rows.map(({ F }) => F),
        [...pairs.map(([, becomes]) => becomes ?? undefined), undefined],
        what,
      );
      // Nothing else of the records changed.
      const others = (all: Row[]) => all.map(({ F: _, ...rest }) => rest);
      assert.deepEqual(others(rows), others(before), what);
      assert.deepEqual(
        (await find(get(), table)).map(({ objectId }) => objectId),
        before.map(({ objectId }) => objectId),
        'order of creation',
      );
    }
  });

  test('Schemas PUT Retype: writes, queries and the next type after it; and back', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { F: 'String', n: 'Number', r: `Relation:${table}` }, { indexes: { byF: { F: 1 } } });
    const first = await create(get(), table, { F: '5', n: 1 });
    await create(get(), table, { n: 2, r: { __op: 'AddRelation', objects: [pointer(table, first)] } });
    for (const [type, value, wrong] of [
      ['Number', 5, 'x'],
      ['String', '5', true],
      ['Number', 5, 'x'],
      ['Boolean', undefined, 5],
    ] as const) {
      const answer = await retype(table, type, 'null');
      assert.equal(answer.status, 200, answer.text);
      const [row] = await find(get(), table, { where: value === undefined ? { n: 1 } : { F: value }, order: 'F' });
      assert.deepEqual([row?.objectId, row?.F], [first, value]);
      assertError(await get().call('PUT', `/platform/classes/${table}/${first}`, { body: { F: wrong } }), 400, 111);
      if (type === 'Boolean') continue;
      const id = await create(get(), table, { F: value, n: 9 });
      assert.equal((await get().call('DELETE', `/platform/classes/${table}/${id}`)).status, 200);
      assert.deepEqual((await schemaOf(table)).indexes, { byF: { F: 1 } });
    }
    const related = await find(get(), table, { where: { r: pointer(table, first) } });
    assert.equal(related.length, 1);
    const made = await create(get(), table, { n: 3 });
    assert.equal((await find(get(), table)).at(-1)?.objectId, made);
  });

  test('Schemas PUT Retype: the text index, labels and permissions of other fields stay', async () => {
    const table = tableName('T');
    await defineTable(
      get(),
      table,
      { F: 'String', text: 'String', s: 'String' },
      { textIndex: ['text'], classLevelPermissions: { find: { '*': true }, protectedFields: { '*': ['F'] } } },
    );
    const id = await create(get(), table, { F: '1', text: 'red apple', s: 'x' });
    assert.equal((await retype(table, 'Number')).status, 200);
    const found = async (term: string) =>
      (await find(get(), table, { where: { $text: { $search: { $term: term } } } })).map(({ objectId }) => objectId);
    assert.deepEqual(await found('apple'), [id]);
    const next = await create(get(), table, { F: 2, text: 'green apple' });
    await get().call('PUT', `/platform/classes/${table}/${id}`, { body: { text: 'pear' } });
    assert.deepEqual([await found('apple'), await found('pear')], [[next], [id]]);
    assert.deepEqual((await schemaOf(table)).classLevelPermissions.protectedFields, { '*': ['F'] });
  });

  test('Schemas PUT Retype: the same type is no change; what is refused changes nothing', async () => {
    const table = tableName('T');
    await defineTable(
      get(),
      table,
      {
        F: 'String',
        A: 'Array',
        file: 'File',
        secret: 'PrivateFile',
        r: `Relation:${table}`,
        who: 'Pointer:_User',
        o: 'Object',
        text: 'String',
      },
      {
        indexes: { byF: { F: 1 } },
        textIndex: ['text'],
        classLevelPermissions: { find: { '*': true }, readUserFields: ['who'] },
      },
    );
    await create(get(), table, { F: 'x' });
    assert.equal((await put('_User', { fields: { job: { type: 'String' } } })).status, 200);
    const before = await schemaOf(table);
    const same = await retype(table, 'String');
    assert.deepEqual([same.status, same.body.fields], [200, before.fields]);
    const op = (type: string, more: Row = {}) => ({ __op: 'Retype', ...typed(type), ...more });
    const refusals: [string, string | null, Row, number, string | RegExp][] = [
      ['an Array to a Number', null, { A: op('Number') }, 111, 'Field A of type Array cannot become Number.'],
      ['a File', null, { file: op('PrivateFile') }, 111, 'Field file of type File cannot become PrivateFile.'],
      ['a PrivateFile', null, { secret: op('File') }, 111, 'Field secret of type PrivateFile cannot become File.'],
      ['a File as text', null, { file: op('String') }, 111, 'Field file of type File cannot become String.'],
      ['a Relation', null, { r: op('Array') }, 111, `Field r of type Relation<${table}> cannot become Array.`],
      ['to a Relation', null, { A: op(`Relation:${table}`) }, 111, `Field A of type Array cannot become Relation<${table}>.`],
      ['to a File', null, { text: op('File') }, 111, 'Field text of type String cannot become File.'],
      ['an unknown type', null, { F: op('Text') }, 111, 'invalid field type: Text'],
      ['ACL', null, { F: op('ACL') }, 111, 'invalid field type: ACL'],
      ['no type', null, { F: { __op: 'Retype' } }, 107, 'Invalid schema: the type of field F must be a string'],
      ['a Pointer without a target', null, { F: { __op: 'Retype', type: 'Pointer' } }, 135, 'A class name is needed.'],
      [
        'another onError',
        null,
        { F: op('Number', { onError: 'skip' }) },
        107,
        'Invalid schema: field F: onError is refuse or null',
      ],
      [
        'another key',
        null,
        { F: op('Number', { to: 'x' }) },
        107,
        'Invalid schema: field F: to is not a key of a change of type',
      ],
      ['a field that is not there', null, { X: op('Number') }, 255, 'Field X does not exist, cannot change its type.'],
      ['a field in an index', null, { F: op('Array') }, 255, 'Field F is of type Array, cannot add index.'],
      ['a field in the text index', null, { text: op('Number') }, 255, 'Field text is of type Number, cannot add text index.'],
      ['a user field', null, { who: op('String') }, 107, /^Invalid class level permissions: who gives users rights/],
      ['a default field', null, { createdAt: op('String') }, 136, 'field createdAt cannot be changed'],
      ['a system field', '_User', { username: op('Number') }, 136, 'field username cannot be changed'],
      ['a field with a fixed type', '_User', { job: op('Number') }, 255, 'Field job of _User can only be a String.'],
      ['the phone of contacts', 'Accounts', { PhoneNumber: op('Number') }, 136, 'field PhoneNumber cannot be changed'],
    ];
    for (const [sentence, other, fields, code, text] of refusals) {
      const answer = await put(other ?? table, { fields });
      assertError(answer, 400, code, text);
      assert.ok(!('cannotConvert' in answer.body), sentence);
    }
    assert.deepEqual(await schemaOf(table), before);
  });

  test('Schemas PUT Retype: with a rename and other changes of the same body', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { Old: 'String', gone: 'String' });
    const id = await create(get(), table, { Old: '7' });
    const answer = await put(table, {
      fields: {
        Old: { __op: 'Rename', to: 'F' },
        F: { __op: 'Retype', type: 'Number' },
        gone: { __op: 'Delete' },
        more: { type: 'Date' },
      },
      indexes: { byF: { F: 1 } },
    });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(
      (await find(get(), table, { where: { F: 7 } })).map(({ objectId }) => objectId),
      [id],
    );
    assert.deepEqual([answer.body.indexes, Object.keys(answer.body.fields).slice(-2)], [{ byF: { F: 1 } }, ['F', 'more']]);
  });

  test('Schemas PUT Retype: triggers and reports that name the field are listed and stay', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { F: 'String', other: 'String' });
    const trigger = { table, events: ['create'], actions: [] };
    const ids = [
      await create(get(), '_Trigger', { ...trigger, Name: `by F ${table}`, criteria: { F: 'x' } }),
      await create(get(), '_Trigger', { ...trigger, Name: `by other ${table}`, criteria: { other: 'F' } }),
    ];
    await create(get(), '_DynamicQueries', { Name: `report ${table}`, table, where: { F: 'x' } });
    const answer = await retype(table, 'Number');
    assert.deepEqual(
      [answer.status, answer.body.notFollowed],
      [200, { triggers: [`by F ${table}`], reports: [`report ${table}`] }],
    );
    const row = (await get().call('GET', `/platform/classes/_Trigger/${ids[0]}`)).body;
    assert.deepEqual(row.criteria, { F: 'x' });
    for (const id of ids) await get().call('DELETE', `/platform/classes/_Trigger/${id}`);
  });

  test('Schemas PUT Retype: unique indexes refuse values that become the same, and hold afterwards', async () => {
    const table = tableName('T');
    await defineTable(
      get(),
      table,
      { F: 'String', n: 'Number' },
      { uniqueIndexes: { one: { fields: ['F'] }, other: { fields: ['n'] } } },
    );
    const ids = [await create(get(), table, { F: '1', n: 1 }), await create(get(), table, { F: '1.0', n: 2 })];
    await create(get(), table, { n: 3 });
    const refused = await retype(table, 'Number');
    assertError(refused, 400, 137);
    assert.deepEqual([refused.body.count, refused.body.duplicates.map(({ objectIds }: Row) => objectIds)], [1, [ids]]);
    assert.deepEqual(
      (await values(table)).map(({ F }) => F),
      ['1', '1.0', undefined],
    );
    assert.equal((await get().call('PUT', `/platform/classes/${table}/${ids[1]}`, { body: { F: '2' } })).status, 200);
    for (const type of ['Number', 'String', 'Number']) {
      const answer = await retype(table, type);
      assert.equal(answer.status, 200, answer.text);
      const value = type === 'Number' ? 2 : '2';
      for (const body of [{ F: value }, { n: 1 }])
        assertError(await get().call('POST', `/platform/classes/${table}`, { body }), 400, 137);
    }
    const renamed = await put(table, { fields: { F: { __op: 'Rename', to: 'G' } } });
    assert.deepEqual([renamed.body.changed, renamed.body.uniqueIndexes.one], [{ uniqueIndexes: ['one'] }, { fields: ['G'] }]);
    const twice = await get().call('POST', `/platform/classes/${table}`, { body: { G: 2 } });
    assertError(twice, 400, 137);
    assert.deepEqual(twice.body.fields, ['G']);
  });

  test('Schemas PUT Retype: a default value is converted; a required field refuses what cannot be', async () => {
    const table = tableName('T');
    const fields = { F: { type: 'String', required: true, defaultValue: '7' }, n: { type: 'Number' } };
    assert.equal((await get().call('POST', `/platform/schemas/${table}`, { body: { fields } })).status, 200);
    const id = await create(get(), table, { F: 'x', n: 1 });
    const refused = await retype(table, 'Number', 'null');
    assertError(refused, 400, 111);
    assert.equal(refused.body.cannotConvert, 1);
    assert.equal((await get().call('PUT', `/platform/classes/${table}/${id}`, { body: { F: '1' } })).status, 200);
    assertError(await put(table, { fields: { F: { __op: 'Retype', type: 'Boolean' } } }), 400, 111, /^schema mismatch for .*\.F/);
    const answer = await retype(table, 'Number');
    assert.deepEqual(
      [answer.status, answer.body.fields.F],
      [200, { type: 'Number', required: true, defaultValue: 7 }],
      answer.text,
    );
    await create(get(), table, { n: 2 });
    assert.deepEqual(
      (await values(table)).map(({ F }) => F),
      [1, 7],
    );
    assertError(await get().call('PUT', `/platform/classes/${table}/${id}`, { body: { F: null } }), 400, 142);
    const { fields: after } = (await put(table, { fields: { F: { __op: 'Rename', to: 'G' } } })).body;
    assert.deepEqual(after.G, { type: 'Number', required: true, defaultValue: 7 });
  });

  test('Schemas PUT Retype of many records: reads go on, writes are in the result, others are answered', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { F: 'String', n: 'Number' }, { indexes: { byN: { n: 1 } } });
    const COUNT = 20_000;
    await createMany(
      get(),
      table,
      Array.from({ length: COUNT }, (_, n) => ({ F: String(n), n })),
    );
    let isDone = false;
    let reads = 0;
    const written: number[] = [];
    const reader = async () => {
      while (!isDone) {
        const [row] = await find(get(), table, { where: { n: 17 } });
        assert.ok(row?.F === '17' || row?.F === 17, JSON.stringify(row));
        reads++;
      }
    };
    const writer = async () => {
      for (let n = COUNT; !isDone; n++) {
        const answer = await get().call('POST', `/platform/classes/${table}`, { body: { F: String(n), n } });
        if (answer.status === 201) written.push(n);
        else assertError(answer, 400, 111);
      }
    };
    const work = [reader(), writer()];
    const [answer, second] = await Promise.all([retype(table, 'Number'), retype(table, 'Number')]);
    isDone = true;
    await Promise.all(work);
    assert.deepEqual([answer.status, second.status], [200, 200], `${answer.text} ${second.text}`);
    assert.ok(reads > 0);
    const rows = await find(get(), table, { where: { n: { $gte: COUNT } }, order: 'n', limit: 10_000 });
    assert.deepEqual(
      rows.map(({ F, n }) => [F, n]),
      written.map((n) => [n, n]),
    );
    const { body } = await get().call('GET', `/platform/classes/${table}`, {
      query: { where: { F: { $lt: COUNT } }, count: 1, limit: 0 },
    });
    assert.equal(body.count, COUNT);
  });
});
