import assert from 'node:assert/strict';
import { test } from 'node:test';
import { applyChanges, emptySchema, type SchemaChange } from '../../schema/change.ts';
import { tableOf } from '../../schema/model.ts';
import { clientIndexes, fillsSearchIndex, hasSearchIndex, SEARCH_INDEX } from '../../schema/search-index.ts';
import type { PreparedWrite, Store } from '../../storage/port.ts';
import { ensureSearchIndex, ensureSearchIndexes } from './search-index.ts';

const tables: SchemaChange[] = ['A', 'B'].map((className) => ({
  kind: 'createTable',
  className,
  fields: [{ name: 'Name', type: 'String' }],
}));

/** A store of large tables; the test decides how indexes are filled. */
function storeWhere(fill: (className: string) => Promise<void>, isLarge = true) {
  let schema = applyChanges(emptySchema, tables);
  const filled: string[] = [];
  const store = {
    schema: () => schema,
    reader: { find: async () => ({ results: '', rows: isLarge ? [{ objectId: 'x' }] : [] }) },
    write: async ({ plan }: PreparedWrite) => {
      schema = applyChanges(schema, plan(schema).changes);
    },
    fillSearchIndex: async (className: string) => {
      filled.push(className);
      await fill(className);
      schema = applyChanges(schema, [{ kind: 'completeSearchIndex', className }]);
    },
  } as unknown as Store;
  return { store, filled, table: (className = 'A') => tableOf(schema, className) };
}

test('a search index is marked until it is filled, and no client sees it', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { store, filled, table } = storeWhere(() => promise);
  const made = ensureSearchIndex(store, 'A');
  while (filled.length === 0) await new Promise(setImmediate);
  assert.deepEqual([hasSearchIndex(table()), fillsSearchIndex(table()), clientIndexes(table())], [false, true, []]);
  // A concurrent call does not start another fill.
  await ensureSearchIndex(store, 'A');
  resolve();
  await made;
  assert.deepEqual([hasSearchIndex(table()), fillsSearchIndex(table()), filled], [true, false, ['A']]);
});

test('one that cannot be filled is left alone for a while, and another one is not', async () => {
  const { store, filled, table } = storeWhere((className) =>
    className === 'A' ? Promise.reject(new Error('no')) : Promise.resolve(),
  );
  await assert.rejects(ensureSearchIndex(store, 'A'), /no/);
  await ensureSearchIndexes(store, () => false);
  assert.deepEqual(filled, ['A', 'B']);
  assert.deepEqual([fillsSearchIndex(table()), hasSearchIndex(table('B'))], [true, true]);
});

test('one of other fields than the table has by now is created again', async () => {
  const { store, filled, table } = storeWhere(async () => {});
  const of = (name: string): SchemaChange[] => [{ kind: 'addField', className: 'A', name, type: 'String' }];
  await ensureSearchIndex(store, 'A');
  await store.write({ plan: () => ({ changes: of('Mobile'), mutations: [] }) });
  assert.equal(hasSearchIndex(table()), false);
  await ensureSearchIndex(store, 'A');
  assert.deepEqual(table().indexes.get(SEARCH_INDEX), {
    name: SEARCH_INDEX,
    keys: [
      ['Name', 1],
      ['Mobile', 1],
    ],
  });
  assert.deepEqual(filled, ['A', 'A']);
});

test('small tables have none, and nothing begins where the service ends', async () => {
  const small = storeWhere(async () => {}, false);
  await ensureSearchIndex(small.store, 'A');
  const ending = storeWhere(async () => {});
  await ensureSearchIndexes(ending.store, () => true);
  assert.deepEqual([small.table().indexes.size, ending.table().indexes.size], [0, 0]);
});
