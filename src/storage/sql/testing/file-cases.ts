// Files as they are stored and read, for the unit tests of both engines. Reference: types.md#file.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize, master } from '../../../access/index.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { buildAggregation } from '../../../query/aggregate/index.ts';
import { buildQuery, buildSelection, FindParameters, ReadParameters } from '../../../query/index.ts';
import { type Field, fieldOf, tableOf } from '../../../schema/model.ts';
import { valueTypeOf } from '../../../values/index.ts';
import type { StoredValue } from '../../../values/types/type.ts';
import { type Mutation, type Store, wholeText } from '../../port.ts';
import { addressesOf } from './addresses.ts';
import { tableChanges } from './tables.ts';

const files = addressesOf();
const file = (name: string) => ({ __type: 'File', name });
const pointer = (className: string, objectId: string) => ({ __type: 'Pointer', className, objectId });

/** Their wire form, with members in order. */
const shown = (name: string) => ({ ...file(name), url: `${files.public}/${name}`, public: true });
const shownPrivate = (name: string, className: string, objectId: string, field: string) => ({
  ...file(name),
  url: `${files.uploads}/${name}/${className}/${encodeURIComponent(objectId)}/${field}`,
  private: true,
});

const oddId = 'a/b ü';
const docs: readonly JsonObject[] = [
  { objectId: 'd1', n: 1, f: file('f1_a.png'), p: file('p1_%D7%A9.pdf') },
  { objectId: oddId, n: 2, f: file('f1_a.png'), p: file('p2'), next: pointer('Docs', 'd1') },
  { objectId: 'd3', n: 3 },
];
const deals: readonly JsonObject[] = [
  { objectId: 'x1', doc: pointer('Docs', oddId), docs: [pointer('Docs', 'd1'), file('inside')], p: file('p3') },
  { objectId: 'x2', doc: pointer('Docs', 'gone') },
];
/** Stored by earlier versions, or with quotes in the name. */
const asSent = ['{"__type":"File","name":"old","url":"http://h/old"}', '{"__type":"File","name":"a\\"b","public":true}'];

/** Defines the tests. @param store an empty one, whose files are at the addresses of `addressesOf` */
export async function testFiles(store: Store): Promise<void> {
  const table = (className: string) => tableOf(store.schema(), className);
  const write = (...mutations: Mutation[]) => store.write({ plan: () => ({ changes: [], mutations }) });
  const changes = [
    ...tableChanges('Docs', { n: 'Number', f: 'File', p: 'PrivateFile', next: 'Pointer:Docs' }),
    ...tableChanges('Deals', { doc: 'Pointer:Docs', docs: 'Array', p: 'PrivateFile' }),
    ...tableChanges('Old', { f: 'File', p: 'PrivateFile' }),
  ];
  await store.write({ plan: () => ({ changes, mutations: [] }) });

  async function insert(className: string, objectId: string, given: ReadonlyMap<string, StoredValue>): Promise<void> {
    const values = [...new Map<string, StoredValue>([['createdAt', 1], ['updatedAt', 1], ['objectId', objectId], ...given])];
    const inTable = table(className);
    const stored = values.map(([name, value]) => [fieldOf(inTable, name), value] as const);
    await write({ kind: 'insert', table: inTable, values: stored });
  }
  async function add(className: string, { objectId, ...record }: JsonObject): Promise<void> {
    const decoded = Object.entries(record).map(([name, value]): [string, StoredValue] => {
      const field = fieldOf(table(className), name);
      return [name, valueTypeOf(field).decode(value as JsonValue, field, className)];
    });
    await insert(className, objectId as string, new Map(decoded));
  }
  for (const doc of docs) await add('Docs', doc);
  for (const deal of deals) await add('Deals', deal);
  for (const [at, text] of asSent.entries()) {
    const values = [
      ['f', text],
      ['p', text.replace('public', 'private')],
    ] as const;
    await insert('Old', `o${at}`, new Map(values));
  }

  const scope = () => ({ schema: store.schema(), principal: master });
  async function find(className: string, parameters: Record<string, string> = {}): Promise<JsonObject[]> {
    const grant = authorize(master, 'find', table(className));
    const { results } = await store.reader.find(
      buildQuery(new FindParameters(new Map(Object.entries(parameters))), grant, scope()),
    );
    return JSON.parse(await wholeText(results)) as JsonObject[];
  }
  async function get(className: string, objectId: string, parameters: Record<string, string> = {}): Promise<JsonObject> {
    const grant = authorize(master, 'get', table(className));
    const selection = buildSelection(new ReadParameters(new Map(Object.entries(parameters))), grant, scope());
    return JSON.parse(await wholeText((await store.reader.get(selection, objectId)) ?? 'null')) as JsonObject;
  }
  async function aggregate(...stages: JsonObject[]): Promise<JsonObject[]> {
    const grant = authorize(master, 'find', table('Docs'));
    const aggregation = buildAggregation({ pipeline: stages }, grant, scope());
    return JSON.parse(await wholeText(await store.reader.aggregate(aggregation))) as JsonObject[];
  }
  /** Compares texts, since the order of members matters. */
  const same = (actual: unknown, expected: unknown) => assert.equal(JSON.stringify(actual), JSON.stringify(expected));

  const first = { f: shown('f1_a.png'), p: shownPrivate('p1_%D7%A9.pdf', 'Docs', 'd1', 'p') };
  const second = { f: shown('f1_a.png'), p: shownPrivate('p2', 'Docs', oddId, 'p') };
  const filesOf = ({ f, p }: JsonObject) => ({ f, p });

  for (const [title, limit] of [
    ['short', '10'],
    ['long', '5000'],
  ] as const)
    test(`files: a ${title} list, and one record, have their addresses`, async () => {
      const found = await find('Docs', { limit });
      same(found.map(filesOf), [first, second, {}]);
      same(filesOf(await get('Docs', oddId)), second);
      assert.equal('f' in (found[2] as JsonObject), false);
    });

  test('files: some fields, and places of a File', async () => {
    for (const keys of ['f', 'f.url', 'f.name']) same((await get('Docs', 'd1', { keys })).f, first.f);
    same((await find('Docs', { keys: 'p', limit: '2' })).map(filesOf), [{ p: first.p }, { p: second.p }]);
    same((await find('Docs', { excludeKeys: 'f,n' }))[1]?.p, second.p);
  });

  for (const [title, limit] of [
    ['short', '10'],
    ['long', '5000'],
  ] as const)
    test(`files: records that a ${title} list includes know their own objectId`, async () => {
      const [deal] = await find('Deals', { include: 'doc.next,docs', limit });
      const included = deal as { doc: JsonObject & { next: JsonObject }; docs: JsonObject[] } & JsonObject;
      same(filesOf(included.doc), second);
      same(filesOf(included.doc.next), first);
      same(filesOf(included.docs[0] as JsonObject), first);
      same(included.docs[1], file('inside'));
      same(included.p, shownPrivate('p3', 'Deals', 'x1', 'p'));
      const one = await get('Deals', 'x1', { include: 'doc.next,docs', keys: 'doc.p,docs' });
      same((one.doc as JsonObject).p, second.p);
      same(filesOf((one.docs as JsonObject[])[0] as JsonObject), first);
    });

  test('files: what an update returns', async () => {
    const docsTable = table('Docs');
    const fields = ['n', 'f', 'p'].map((name): Field => fieldOf(docsTable, name));
    const update: Mutation = {
      kind: 'update',
      table: docsTable,
      objectId: oddId,
      guard: null,
      assignments: [{ kind: 'set', field: fields[0] as Field, value: 5 }],
      returning: fields,
    };
    const members = `,${JSON.stringify({ n: 5, ...second }).slice(1, -1)}`;
    assert.equal((await write(update)).returned, members);
    // A write of several steps.
    assert.equal((await write(update, { ...update, returning: [] })).returned, members);
  });

  test('files: what is not in the stored form stays as it is', async () => {
    const expected = asSent.map((text) => ({ f: JSON.parse(text), p: JSON.parse(text.replace('public', 'private')) }));
    same((await find('Old')).map(filesOf), expected);
    same((await find('Old', { limit: '5000' })).map(filesOf), expected);
  });

  test('files: where', async () => {
    const ids = async (where: JsonObject) =>
      (await find('Docs', { where: JSON.stringify(where) })).map(({ objectId }) => objectId).join();
    assert.equal(await ids({ f: file('f1_a.png') }), `d1,${oddId}`);
    assert.equal(await ids({ f: { ...shown('f1_a.png'), url: 'any' } }), `d1,${oddId}`);
    assert.equal(await ids({ 'f.name': 'f1_a.png', n: 1 }), 'd1');
    assert.equal(await ids({ p: { $in: [file('p2'), file('none')] } }), oddId);
    assert.equal(await ids({ p: { $ne: file('p2') }, f: { $exists: true } }), 'd1');
    assert.equal(await ids({ 'p.name': { $regex: '^p1_%D7' } }), 'd1');
    assert.equal(await ids({ f: { $exists: false } }), 'd3');
    assert.equal(await ids({ 'f.url': first.f.url }), '');
  });

  test('files: aggregations show public ones wherever they come, private ones in the rows of their records', async () => {
    same((await aggregate({ $match: { f: file('f1_a.png') } })).map(filesOf), [first, second]);
    same((await aggregate({ $project: { f: 1, p: 1 } }, { $sort: { f: 1 } }, { $limit: 3 })).at(-1)?.f, first.f);
    same(await aggregate({ $project: { _id: 0, again: '$f', url: '$f.url' } }, { $limit: 1 }), [
      { again: first.f, url: first.f.url },
    ]);
    same(await aggregate({ $project: { mine: '$p' } }, { $limit: 1 }), [{ objectId: 'd1', mine: first.p }]);
    const [group] = await aggregate(
      {
        $group: { _id: '$f.name', one: { $first: '$f' }, all: { $push: '$f' }, set: { $addToSet: '$f' }, p: { $first: '$p' } },
      },
      { $match: { objectId: 'f1_a.png' } },
    );
    assert.deepEqual(group, {
      objectId: 'f1_a.png',
      one: first.f,
      all: [first.f, first.f],
      set: [first.f],
      p: { ...file('p1_%D7%A9.pdf'), private: true },
    });
    const groups = await aggregate({ $group: { _id: '$f', n: { $sum: 1 } } }, { $sort: { n: -1 } });
    assert.deepEqual(groups[0], { objectId: first.f, n: 2 });
  });

  test('files: aggregations leave what is not in the stored form as it is', async () => {
    const grant = authorize(master, 'find', table('Old'));
    const aggregation = buildAggregation({ pipeline: [{ $sort: { objectId: 1 } }] }, grant, scope());
    const rows = JSON.parse(await wholeText(await store.reader.aggregate(aggregation))) as JsonObject[];
    same(rows.map(({ f }) => f), asSent.map((text) => JSON.parse(text))); // biome-ignore format: one comparison
  });
}
