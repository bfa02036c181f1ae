import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Query } from '../../query/model/selection.ts';
import { applyChanges, emptySchema } from '../../schema/change.ts';
import { isSealed } from '../../schema/system-tables.ts';
import type { Store } from '../../storage/port.ts';
import { masterContext } from '../testing/context.ts';
import { explainRecords } from './explain.ts';

const RECORDS = 5_000;

/** Explains an equality that one record meets, in a table of which all records would be read. */
function explained(className: string) {
  const schema = applyChanges(emptySchema, [
    { kind: 'createTable', className },
    { kind: 'addField', className, name: 'subject', type: 'String' },
  ]);
  const reader = {
    explain: async () => ({ steps: [{ kind: 'scan', table: className, isMain: true }] }),
    countUpTo: async ({ filter }: Query) => (filter.kind === 'compare' ? 1 : RECORDS),
  };
  const store = { schema: () => schema, tableVersion: () => 0, reader } as unknown as Store;
  return explainRecords(masterContext(store), className, { where: { subject: 'x' } });
}

test('what nobody may send is not advised: tables whose schema the service alone changes', async () => {
  const { advice, rowsRead } = await explained('Accounts');
  assert.deepEqual([advice, rowsRead], [{ indexes: { bySubject: { subject: 1 } } }, RECORDS]);
  assert.ok(isSealed('_AdminLog'));
  assert.equal((await explained('_AdminLog')).advice, undefined);
});
