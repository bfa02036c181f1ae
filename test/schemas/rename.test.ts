/** Renames of fields: records, indexes, and the former name. Reference: schemas.md#rename-a-field. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError, create, date, defineTable, find, onEachEngine, pointer, type Row, tableName } from '../support/query.ts';

const rename = (to: string) => ({ __op: 'Rename', to });

/** A read or write that names the field by its former name. */
type Former = [sentence: string, method: string, path: (table: string, id: string) => string, more: (table: string) => Row];

onEachEngine((get) => {
  const put = (table: string, body: unknown) => get().call('PUT', `/platform/schemas/${table}`, { body });
  const schemaOf = async (table: string) => (await get().call('GET', `/platform/schemas/${table}`)).body;
  const rename1 = async (table: string, from: string, to: string): Promise<Row> => {
    const answer = await put(table, { fields: { [from]: rename(to) } });
    assert.equal(answer.status, 200, answer.text);
    return answer.body;
  };

  test('Schemas PUT Rename: answers the schema record and changed; records keep their values, in the order of fields', async () => {
    const [table, target] = [tableName('T'), tableName('Target')];
    await defineTable(get(), target, { k: 'String' });
    const fields = {
      ...{ text: 'String', n: 'Number', is: 'Boolean', at: 'Date', html: 'HTML/XML', list: 'Array', o: 'Object' },
      ...{ p: `Pointer:${target}`, r: `Relation:${target}` },
    };
    await defineTable(get(), table, fields);
    const to = await create(get(), target, { k: 'x' });
    const values: Row = {
      ...{ text: 'a', n: 1.5, is: true, at: date('2026-01-31T09:00:00.000Z'), html: '<p>', list: [1], o: { a: { b: 1 } } },
      ...{ p: pointer(target, to), r: { __op: 'AddRelation', objects: [pointer(target, to)] } },
    };
    const id = await create(get(), table, values);
    const before = await schemaOf(table);
    const answer = await put(table, {
      fields: Object.fromEntries(Object.keys(fields).map((name) => [name, rename(`${name}New`)])),
    });
    assert.equal(answer.status, 200, answer.text);
    assert.deepEqual(answer.body.changed, {});
    const { changed: _, ...record } = answer.body;
    const { triggers: __, ...after } = await schemaOf(table);
    assert.deepEqual(record, after);
    const names = (body: Row) => Object.keys(body.fields as Row);
    assert.deepEqual(
      names(after),
      names(before).map((name) => (name in fields ? `${name}New` : name)),
    );
    const [row] = await find(get(), table, {
      where: { pNew: pointer(target, to), 'oNew.a.b': 1, listNew: 1, textNew: { $regex: '^a' } },
    });
    assert.equal(row?.objectId, id);
    for (const [name, value] of Object.entries(values)) {
      assert.ok(!(name in (row as Row)), name);
      if (name !== 'r') assert.deepEqual(row?.[`${name}New`], value);
    }
    const related = { $relatedTo: { object: pointer(table, id), key: 'rNew' } };
    assert.deepEqual(
      (await find(get(), target, { where: related })).map(({ objectId }) => objectId),
      [to],
    );
    const made = await create(get(), table, { textNew: 'b', nNew: 2 });
    assert.equal((await find(get(), table, { where: { nNew: 2 } }))[0]?.objectId, made);
  });

  test('Schemas PUT Rename: indexes, the text index, permissions and timeline settings follow, and are listed', async () => {
    const table = tableName('T');
    await defineTable(
      get(),
      table,
      { Old: 'String', Owner: 'Pointer:_User', Other: 'String' },
      {
        indexes: { byOld: { Old: 1, Other: -1 }, byOther: { Other: 1 } },
        textIndex: ['Old', 'Other'],
        timeline: { displayFields: { Old: true, 'Old.x': 1, Other: true }, index: { Owner: true } },
        classLevelPermissions: {
          find: { '*': true, pointerFields: ['Owner'] },
          readUserFields: ['Owner'],
          writeUserFields: ['Owner'],
          protectedFields: { '*': ['Old', 'Other'], 'userField:Owner': ['Old'] },
        },
      },
    );
    const id = await create(get(), table, { Old: 'red apple', Other: 'pear' });
    const record = await rename1(table, 'Old', 'New');
    assert.deepEqual(record.changed, { indexes: ['byOld'], textIndex: true, permissions: ['protectedFields'], timeline: true });
    assert.deepEqual(record.indexes, { byOld: { New: 1, Other: -1 }, byOther: { Other: 1 } });
    const owner = await rename1(table, 'Owner', 'Boss');
    assert.deepEqual(owner.changed, {
      permissions: ['find', 'protectedFields', 'readUserFields', 'writeUserFields'],
      timeline: true,
    });
    const { classLevelPermissions: permissions, timeline } = await schemaOf(table);
    assert.deepEqual(
      [permissions.find, permissions.readUserFields, permissions.writeUserFields, permissions.protectedFields],
      [{ '*': true, pointerFields: ['Boss'] }, ...[['Boss'], ['Boss']], { '*': ['New', 'Other'], 'userField:Boss': ['New'] }],
    );
    assert.deepEqual(timeline, { displayFields: { New: true, 'New.x': 1, Other: true }, index: { Boss: true } });
    const found = await find(get(), table, { where: { $text: { $search: { $term: 'apple' } } } });
    assert.deepEqual(
      found.map(({ objectId, New }) => [objectId, New]),
      [[id, 'red apple']],
    );
  });

  const former: readonly Former[] = [
    ['a create', 'POST', (table) => `/platform/classes/${table}`, () => ({ body: { Old: 1 } })],
    ['a place in a create', 'POST', (table) => `/platform/classes/${table}`, () => ({ body: { 'Old.x': 1 } })],
    ['an update', 'PUT', (table, id) => `/platform/classes/${table}/${id}`, () => ({ body: { Old: 'x' } })],
    ['an operator', 'PUT', (table, id) => `/platform/classes/${table}/${id}`, () => ({ body: { Old: { __op: 'Delete' } } })],
    ['where', 'GET', (table) => `/platform/classes/${table}`, () => ({ query: { where: { Old: 'x' } } })],
    ['where in $or', 'GET', (table) => `/platform/classes/${table}`, () => ({ query: { where: { $or: [{ Old: 'x' }] } } })],
    ['order', 'GET', (table) => `/platform/classes/${table}`, () => ({ query: { order: '-Old' } })],
    ['keys', 'GET', (table) => `/platform/classes/${table}`, () => ({ query: { keys: 'Old' } })],
    ['keys of one record', 'GET', (table, id) => `/platform/classes/${table}/${id}`, () => ({ query: { keys: 'Old' } })],
    ['excludeKeys', 'GET', (table) => `/platform/classes/${table}`, () => ({ query: { excludeKeys: 'Old' } })],
    ['include', 'GET', (table) => `/platform/classes/${table}`, () => ({ query: { include: 'Old' } })],
    ['include below a Pointer', 'GET', (table) => `/platform/classes/${table}`, () => ({ query: { include: 'self.Old' } })],
    [
      'keys below a Pointer',
      'GET',
      (table) => `/platform/classes/${table}`,
      () => ({ query: { keys: 'self.Old', include: 'self' } }),
    ],
    [
      'a sub-query',
      'GET',
      (table) => `/platform/classes/${table}`,
      (table) => ({ query: { where: { self: { $inQuery: { className: table, where: { Old: 'x' } } } } } }),
    ],
    [
      'group',
      'GET',
      (table) => `/platform/classes-aggregate/${table}`,
      () => ({ query: { pipeline: [{ $group: { _id: '$Old' } }] } }),
    ],
    [
      '$match',
      'GET',
      (table) => `/platform/classes-aggregate/${table}`,
      () => ({ query: { pipeline: [{ $match: { Old: 'x' } }] } }),
    ],
    ['export', 'GET', (table) => `/platform/export/${table}`, () => ({ query: { format: 'ndjson', keys: 'Old' } })],
  ];

  test('the former name: 105 with the present one, in writes and queries; and nothing is written', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { Old: 'String', self: `Pointer:${table}` });
    const id = await create(get(), table, { Old: 'x' });
    await create(get(), table, { self: pointer(table, id) });
    await rename1(table, 'Old', 'New');
    for (const [sentence, method, path, more] of former) {
      const answer = await get().call(method, path(table, id), more(table));
      assert.deepEqual(
        [answer.status, answer.body?.code, answer.body?.error?.replace('Old.x', 'Old')],
        [400, 105, 'Invalid field name: Old (renamed to New)'],
        `${sentence}: ${answer.text}`,
      );
    }
    const batch = await get().call('POST', '/platform/batch', {
      body: { requests: [{ method: 'POST', path: `/platform/classes/${table}`, body: { Old: 'x' } }] },
    });
    assert.deepEqual(batch.body, [{ error: { code: 105, error: 'Invalid field name: Old (renamed to New)' } }]);
    assert.equal((await find(get(), table)).length, 2);
    assert.ok(!('Old' in (await schemaOf(table)).fields));
  });

  test('former names: of A → B → C both name C; a definition, or a rename back, frees the name', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { A: 'String' });
    const id = await create(get(), table, { A: 'x' });
    await rename1(table, 'A', 'B');
    await rename1(table, 'B', 'C');
    const refused = async (name: string, to: string) =>
      assertError(
        await get().call('PUT', `/platform/classes/${table}/${id}`, { body: { [name]: 'y' } }),
        400,
        105,
        `Invalid field name: ${name} (renamed to ${to})`,
      );
    await refused('A', 'C');
    await refused('B', 'C');
    await rename1(table, 'C', 'A');
    await refused('B', 'A');
    await refused('C', 'A');
    assert.deepEqual((await find(get(), table, { where: { A: 'x' } })).length, 1);
    assert.equal((await put(table, { fields: { B: { type: 'Number' } } })).status, 200);
    await create(get(), table, { B: 5 });
    await refused('C', 'A');
    assert.equal((await put(table, { fields: { A: { __op: 'Delete' } } })).status, 200);
    await create(get(), table, { C: true });
    assert.equal((await schemaOf(table)).fields.C.type, 'Boolean');
  });

  test('Schemas PUT Rename: with other changes of the same body, which are about the new names', async () => {
    const table = tableName('T');
    await defineTable(get(), table, { A: 'String', B: 'String', gone: 'String' });
    const answer = await put(table, {
      fields: { A: rename('A2'), B: rename('B2'), gone: { __op: 'Delete' }, more: { type: 'Number' } },
      indexes: { byA: { A2: 1 } },
      classLevelPermissions: { find: { '*': true }, protectedFields: { '*': ['B2'] } },
    });
    assert.equal(answer.status, 200, answer.text);
    const { fields, indexes, classLevelPermissions } = answer.body;
    assert.deepEqual(Object.keys(fields).slice(-3), ['A2', 'B2', 'more']);
    assert.deepEqual([indexes, classLevelPermissions.protectedFields], [{ byA: { A2: 1 } }, { '*': ['B2'] }]);
  });

  const refusals: readonly [sentence: string, table: string | null, body: Row, code: number, text: string][] = [
    ['a name in use', null, { A: rename('B') }, 105, 'Invalid field name: B (the table has this field)'],
    ['a swap', null, { A: rename('B'), B: rename('A') }, 105, 'Invalid field name: B (the table has this field)'],
    [
      'two fields of one new name',
      null,
      { A: rename('N'), B: rename('N') },
      105,
      'Invalid field name: N (the table has this field)',
    ],
    [
      'a name that the same body deletes',
      null,
      { A: rename('B'), B: { __op: 'Delete' } },
      105,
      'Invalid field name: B (the table has this field)',
    ],
    [
      'a default field as the new name',
      null,
      { A: rename('createdAt') },
      105,
      'Invalid field name: createdAt (the table has this field)',
    ],
    ['its own name', null, { A: rename('A') }, 105, 'Invalid field name: A (the table has this field)'],
    ['an ill-formed name', null, { A: rename('1x') }, 105, 'Invalid field name: 1x'],
    ['a default field', null, { createdAt: rename('x') }, 136, 'field createdAt cannot be changed'],
    ['a field that is not there', null, { X: rename('Y') }, 255, 'Field X does not exist, cannot rename.'],
    ['no new name', null, { A: { __op: 'Rename' } }, 107, 'Invalid schema: field A: to must be the new name'],
    ['another key', null, { A: { __op: 'Rename', to: 'x', y: 1 } }, 107, 'Invalid schema: field A: y is not a key of a rename'],
    ['a system field', '_User', { username: rename('x') }, 136, 'field username cannot be changed'],
    [
      'a field that the service derives others from',
      'Accounts',
      { PhoneNumber: rename('x') },
      136,
      'field PhoneNumber cannot be changed',
    ],
  ];
  test('Schemas PUT Rename: what is refused, with nothing changed', async () => {
    const own = tableName('T');
    await defineTable(get(), own, { A: 'String', B: 'String' });
    for (const [sentence, table, fields, code, text] of refusals) {
      const before = await schemaOf(table ?? own);
      const answer = await put(table ?? own, { fields });
      assert.deepEqual([answer.status, answer.body.code, answer.body.error], [400, code, text], sentence);
      assert.deepEqual(await schemaOf(table ?? own), before, sentence);
    }
  });
});
