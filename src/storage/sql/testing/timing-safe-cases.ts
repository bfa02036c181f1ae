import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Grant, RowGuard } from '../../../access/index.ts';
import { authorize, master } from '../../../access/index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { buildAggregation } from '../../../query/aggregate/index.ts';
import { guardedFilter } from '../../../query/index.ts';
import { parseWhere } from '../../../query/where/index.ts';
import { compileAggregation } from '../aggregate/compile.ts';
import type { AggregateDialect } from '../aggregate/dialect.ts';
import { rowContext } from './addresses.ts';
import type { EngineTables } from './tables.ts';

const byTitle = { name: 'byTitle', keys: [['title', 1]] } as const;

const acl: RowGuard = { kind: 'acl', right: 'read', identities: ['*', 'u1'] };
const guards: [string, RowGuard][] = [
  ['ACL', acl],
  ['a record', { kind: 'record', objectId: 'a' }],
  ['both', { kind: 'all', guards: [acl, { kind: 'record', objectId: 'a' }] }],
];
const pattern = { $regex: '^(?=o)o.*' };
const wheres: JsonObject[] = [
  { title: pattern },
  { title: pattern, n: 1, city: 'x' },
  { city: 'x', $or: [{ title: pattern }, { n: 5 }] },
  { $nor: [{ title: pattern, n: 5 }] },
  { title: { $not: pattern } },
  { tags: pattern },
  { tags: { $all: [pattern] } },
];
const pipelines: JsonObject[][] = [
  [{ $match: { title: pattern } }],
  [{ $addFields: { copy: '$title' } }, { $match: { copy: pattern } }],
  [{ $project: { title: 1, n: 1 } }, { $match: { $or: [{ n: 7 }, { title: pattern }] } }],
  [{ $unwind: '$tags' }, { $match: { tags: pattern } }],
];

/**
 * Defines the tests, passed by both engines, that patterns are matched only against texts of records that the caller may see.
 * @param seen returns the texts that patterns were matched against since its last call
 */
export async function testGuards(
  tables: EngineTables,
  aggregate: AggregateDialect,
  seen: () => readonly unknown[],
): Promise<void> {
  await tables.make('T', { title: 'String', city: 'String', tags: 'Array', n: 'Number' });
  await tables.add('T', { objectId: 'a', title: 'open', city: 'x', tags: ['open'], n: 1 });
  await tables.add('T', { objectId: 'b', title: 'closed', city: 'x', tags: ['closed'], n: 1, ACL: { u2: { read: true } } });

  for (const indexed of [false, true])
    for (const [name, rows] of guards)
      test(`a pattern meets no text of hidden records: ${name}${indexed ? ', with an index' : ''}`, async () => {
        if (indexed && !tables.table('T').indexes.has('byTitle'))
          await tables.change({ kind: 'setIndex', className: 'T', index: byTitle });
        const table = tables.table('T');
        const grant: Grant = { ...authorize(master, 'find', table), rows };
        const scope = { schema: { version: 1, tables: new Map([['T', table]]), referencesTo: new Map() }, principal: master };
        for (const where of wheres) {
          await tables.ids('T', guardedFilter(grant, parseWhere(where, grant, scope)));
          assert.deepEqual(new Set(seen()), new Set(['open']), JSON.stringify(where));
        }
        for (const pipeline of pipelines) {
          const aggregation = buildAggregation({ pipeline }, grant, scope);
          await tables.run(compileAggregation(aggregation, tables.dialect, aggregate, rowContext));
          assert.deepEqual(new Set(seen()), new Set(['open']), JSON.stringify(pipeline));
        }
      });
}
