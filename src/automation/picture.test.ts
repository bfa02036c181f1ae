import assert from 'node:assert/strict';
import { test } from 'node:test';
import { master } from '../access/index.ts';
import type { WriteEvent } from '../records/index.ts';
import { applyChange, emptySchema } from '../schema/change.ts';
import { fieldOf, tableOf } from '../schema/model.ts';
import { tableChanges } from '../storage/sql/testing/tables.ts';
import { createdValues } from './picture.ts';

test('what a create makes is bounded as in any picture', () => {
  const schema = tableChanges('T', { s: 'String', a: 'Array', n: 'Number' }).reduce(applyChange, emptySchema);
  const table = tableOf(schema, 'T');
  const created = (values: Record<string, string | number>) => {
    const assignments = new Map(
      Object.entries(values).map(([name, value]) => [name, { kind: 'set', field: fieldOf(table, name), value }]),
    );
    const event = { event: 'create', table, objectId: 'one', at: 1, principal: master, assignments };
    return Object.fromEntries(createdValues(event as unknown as WriteEvent));
  };
  const { s, ...rest } = created({ s: `${'x'.repeat(499_999)}😀`, a: `["${'x'.repeat(499_997)}"]`, n: 5 });
  assert.equal(s, 'x'.repeat(499_999));
  assert.deepEqual([rest.objectId, rest.n, rest.a], ['one', 5, undefined]);
  assert.deepEqual(created({ s: 'short', a: '[]' }).a, '[]');
});
