import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import pg from 'pg';
import * as records from '../../records/index.ts';
import { fieldOf, tableOf } from '../../schema/model.ts';
import { columnsOf } from '../column-values.ts';
import { DuplicateKey } from '../constraints.ts';
import { tableChanges } from '../sql/testing/tables.ts';
import { type StoreProcess, twoProcesses } from './testing/store-process.ts';

const WRITES = 128;

let process: StoreProcess<unknown>;
let close: (() => Promise<void>) | undefined;
before(async () => {
  ({ a: process, close } = await twoProcesses(records));
  const index = { name: 'code', fields: ['code'] };
  const changes = [
    ...tableChanges('Taken', { code: 'String', n: 'Number' }),
    { kind: 'setUniqueIndex', className: 'Taken', index } as const,
  ];
  await process.store.write({ plan: () => ({ changes, mutations: [] }) });
});
after(() => close?.());

const ids = Array.from({ length: WRITES }, (_, n) => `r${n}`);
const insert = (id: string, code: string) =>
  process.store.write({
    plan(schema) {
      const table = tableOf(schema, 'Taken');
      const values = columnsOf(table, { objectId: id, createdAt: 1, updatedAt: 1, code });
      return { changes: [], mutations: [{ kind: 'insert', table, values }] };
    },
  });
const update = (id: string, code: string) =>
  process.store.write({
    plan(schema) {
      const table = tableOf(schema, 'Taken');
      const assignments = [{ kind: 'set', field: fieldOf(table, 'code'), value: code }] as const;
      return { changes: [], mutations: [{ kind: 'update', table, objectId: id, guard: null, assignments, returning: [] }] };
    },
  });

/** Returns the number of statements that are sent meanwhile. */
async function statementsOf(work: () => Promise<void>): Promise<number> {
  const { prototype } = pg.Client as unknown as { prototype: { query: (...args: unknown[]) => unknown } };
  const { query } = prototype;
  let sent = 0;
  prototype.query = function (this: unknown, ...args) {
    sent += 1;
    return query.apply(this, args);
  };
  try {
    await work();
  } finally {
    prototype.query = query;
  }
  return sent;
}

test('writes of one moment of which all, or each second, are refused: each fails alone, in a bounded number of statements', async () => {
  await insert('taken', 'x');
  await Promise.all(ids.map((id) => insert(id, id)));
  for (const isRefused of [() => true, (n: number) => n % 2 === 1]) {
    let results: readonly PromiseSettledResult<unknown>[] = [];
    const sent = await statementsOf(async () => {
      results = await Promise.allSettled(ids.map((id, n) => update(id, isRefused(n) ? 'x' : `${id}!`)));
    });
    results.forEach((result, n) => {
      if (isRefused(n)) assert.ok(result.status === 'rejected' && result.reason instanceof DuplicateKey, `${n}`);
      else assert.equal(result.status, 'fulfilled', `${n}`);
    });
    // Each with all that follow would be 8,000.
    assert.ok(sent < 20 * WRITES, `${sent}`);
  }
});
