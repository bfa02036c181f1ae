/**
 * Property: evaluating a filter over stored values (src/query/evaluate) agrees with the SQLite engine, for random tables of every type and wheres of
 * every operator.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { authorize, master } from '../../src/access/index.ts';
import { ServiceError } from '../../src/errors/fail.ts';
import type { JsonObject, JsonValue } from '../../src/kernel/json.ts';
import type { Filter } from '../../src/query/model/filter.ts';
import { parseWhere } from '../../src/query/where/index.ts';
import { evaluatorOf } from '../../src/storage/sql/testing/filter-evaluated.ts';
import { TestTables } from '../../src/storage/sqlite/testing/tables.ts';
import { MAIN, OTHER } from './engines/request.ts';
import { fields } from './engines/values.ts';
import { where } from './engines/where.ts';
import { rows, targets } from './engines/writes.ts';
import { settings } from './settings.ts';

const wheresPerTable = 40;
const now = Date.parse('2024-03-01T00:00:00Z');
const parameters = { seed: Math.trunc(Math.random() * 2 ** 31), ...settings<[JsonValue[], JsonValue[], JsonValue[]]>(30) };

test('Events: criteria match the records that a query finds', { timeout: 300_000 }, async (context) => {
  context.diagnostic(`PROPERTY_SEED=${parameters.seed}`);
  const wheres = fc.array(where, { minLength: 1, maxLength: wheresPerTable, size: 'max' });
  let compared = 0;
  let conclusive = 0;
  const property = fc.asyncProperty(rows, targets, wheres, async (all, others, asked) => {
    const tables = await filled(all as JsonObject[], others as JsonObject[]);
    const find = await evaluatorOf(tables, MAIN);
    for (const one of asked as JsonValue[]) {
      const filter = parsed(one, tables);
      const expected = filter && (await foundBy(tables, filter));
      if (!filter || expected === undefined) continue;
      const evaluated = await find(filter);
      assert.equal(evaluated.found, expected, `${JSON.stringify(one)}\nover ${JSON.stringify(all)}`);
      compared++;
      if (evaluated.asked.size === 0) conclusive++;
    }
    tables.connection.db.close();
  });
  await fc.assert(property, parameters);
  context.diagnostic(`${compared} wheres, ${conclusive} of them without asking`);
  assert.ok(conclusive > compared / 2, 'most are decided from the record alone');
});

async function filled(all: readonly JsonObject[], others: readonly JsonObject[]): Promise<TestTables> {
  const tables = new TestTables();
  await tables.make(OTHER, { name: 'String', rank: 'Number', up: `Pointer:${OTHER}`, list: 'Array' });
  const described = [...fields].map(([name, { type, targetClass }]) => [name, targetClass ? `${type}:${targetClass}` : type]);
  await tables.make(MAIN, Object.fromEntries(described));
  await tables.change({ kind: 'setTextIndex', className: MAIN, fields: ['s', 'h'] });
  for (const record of others) await addTo(tables, OTHER, record);
  for (const record of all) await addTo(tables, MAIN, record);
  return tables;
}

async function addTo(tables: TestTables, className: string, { r: members, ...record }: JsonObject): Promise<void> {
  if (!accepts(() => tables.insert(className, record))) return;
  const ids = JSON.stringify(members ?? null).matchAll(/"objectId":"([^"\\]*)"/g);
  const { objectId } = record;
  await tables.link(className, 'r', objectId as string, [...new Set([...ids].map(([, id]) => id as string))]);
}

/** Returns a filter, unless the where is refused. */
function parsed(one: JsonValue, tables: TestTables): Filter | undefined {
  const scope = { schema: tables.schema, principal: master, now };
  return accepts(() => parseWhere(one, authorize(master, 'find', tables.table(MAIN)), scope));
}

/** Returns what the engine finds, unless it refuses. */
function foundBy(tables: TestTables, filter: Filter): string | undefined {
  return accepts(() => tables.find(MAIN, filter));
}

function accepts<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    if (error instanceof ServiceError) return undefined;
    throw error;
  }
}
