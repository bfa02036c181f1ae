import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Grant, RowGuard } from '../../../access/index.ts';
import { authorize, master } from '../../../access/index.ts';
import type { JsonObject } from '../../../kernel/json.ts';
import { parseAggregation } from '../../../query/aggregate/index.ts';
import { guardedFilter } from '../../../query/index.ts';
import { parseWhere } from '../../../query/where/index.ts';
import { compileAggregation } from '../../sql/aggregate/compile.ts';
import { TestTables } from '../testing/tables.ts';
import { sqliteAggregate } from './aggregate.ts';
import { sqliteDialect } from './dialect.ts';

const tables = new TestTables();
/** The texts that a pattern was held against. */
const seen: unknown[] = [];
tables.connection.db.function('rds_regex', (_pattern, text) => {
  seen.push(text);
  return 1;
});
tables.define('T', { title: 'String', city: 'String', tags: 'Array', n: 'Number' });
tables.insert('T', { objectId: 'a', title: 'open', city: 'x', tags: ['open'], n: 1 });
tables.insert('T', { objectId: 'b', title: 'closed', city: 'x', tags: ['closed'], n: 1, ACL: { u2: { read: true } } });
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

for (const indexed of [false, true])
  for (const [name, rows] of guards)
    test(`a pattern meets no text of hidden records: ${name}${indexed ? ', with an index' : ''}`, () => {
      if (indexed && !tables.table('T').indexes.has('byTitle'))
        tables.change({ kind: 'setIndex', className: 'T', index: byTitle });
      const table = tables.table('T');
      const grant: Grant = { ...authorize(master, 'find', table), rows };
      const scope = { schema: { version: 1, tables: new Map([['T', table]]), referencesTo: new Map() }, principal: master };
      for (const where of wheres) {
        seen.length = 0;
        tables.find('T', guardedFilter(grant, parseWhere(where, grant, scope)));
        assert.deepEqual(new Set(seen), new Set(['open']), JSON.stringify(where));
      }
      for (const pipeline of pipelines) {
        seen.length = 0;
        const aggregation = parseAggregation(new Map([['pipeline', pipeline]]), grant, scope);
        tables.run(compileAggregation(aggregation, sqliteDialect, sqliteAggregate));
        assert.deepEqual(new Set(seen), new Set(['open']), JSON.stringify(pipeline));
      }
    });
