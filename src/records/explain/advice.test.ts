import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { FindOptions } from '../../query/index.ts';
import type { Query } from '../../query/model/selection.ts';
import { applyChanges, emptySchema } from '../../schema/change.ts';
import { isSealed } from '../../schema/system-tables.ts';
import type { Store } from '../../storage/port.ts';
import type { QueryPlan } from '../../storage/query-plan.ts';
import { masterContext } from '../testing/context.ts';
import { conjuncts } from './candidates.ts';
import { explainRecords } from './explain.ts';

const RECORDS = 5_000;

type Steps = QueryPlan['steps'];

const scan = (table: string): Steps => [{ kind: 'scan', table, isMain: true }];
const sorted = (table: string): Steps => [...scan(table), { kind: 'sort' }];

/** Explains a query of a table of which all records are read. @param matching number of records that meet conditions */
function explained(
  className: string,
  { options = { where: { subject: 'x' } } as FindOptions, steps = scan(className), matching = 1 } = {},
) {
  const names = ['subject', 'state'];
  const schema = applyChanges(emptySchema, [
    { kind: 'createTable', className },
    ...names.map((name) => ({ kind: 'addField', className, name, type: 'String' }) as const),
  ]);
  const reader = {
    explain: async () => ({ steps }),
    countUpTo: async ({ filter }: Query) => (filter.kind === 'always' || conjuncts(filter).length === 0 ? RECORDS : matching),
  };
  const store = { schema: () => schema, tableVersion: () => 0, reader } as unknown as Store;
  return explainRecords(masterContext(store), className, options);
}

test('what nobody may send is not advised: tables whose schema the service alone changes', async () => {
  const { advice, rowsRead } = await explained('Accounts');
  assert.deepEqual([advice, rowsRead], [{ indexes: { bySubject: { subject: 1 } } }, RECORDS]);
  assert.ok(isSealed('_AdminLog'));
  assert.equal((await explained('_AdminLog')).advice, undefined);
});

test('an index in the order of a page is advised if the page ends before many records are read', async () => {
  const className = 'Accounts';
  const options = { where: { state: { $ne: 'x' } }, order: ['subject'], limit: 100 };
  const steps = sorted(className);
  const { advice } = await explained(className, { options, steps, matching: RECORDS - 1 });
  assert.deepEqual(advice, { indexes: { bySubject: { subject: 1 } } });
  // So few match that all records would be read in the order of the index.
  assert.equal((await explained(className, { options, steps, matching: 20 })).advice, undefined);
});

test('nothing is advised for a query that the database answers without reading', async () => {
  const options = { where: { $and: [{ subject: 'x' }, { subject: 'y' }] } };
  assert.equal((await explained('Accounts', { options, steps: [{ kind: 'sort' }] })).advice, undefined);
});
