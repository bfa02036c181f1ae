import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Include, Selection } from '../../../query/model/selection.ts';
import { newTable } from '../../../schema/defaults.ts';
import type { Field } from '../../../schema/model.ts';
import { sqliteDialect } from '../../sqlite/sql/dialect.ts';
import { byIdsPlan, compiledAhead, readPlan } from './read-plan.ts';

const context = { addresses: () => ({ public: 'http://127.0.0.1/p', uploads: 'http://127.0.0.1/u' }) };
const byIds = (target: Selection) => byIdsPlan(target, sqliteDialect, context);

/** Returns a selection of this many fields, with includes. */
function selectionOf(columns: number, targets: readonly Selection[] = []): Selection {
  const pointers = targets.map((_, at): Field => ({ name: `p${at}`, column: `p${at}`, type: 'Pointer', targetClass: 'Wide' }));
  const others = Array.from({ length: columns }, (_, at): Field => ({ name: `s${at}`, column: `s${at}`, type: 'String' }));
  const includes = pointers.map((field, at): Include => ({ field, target: targets[at] ?? null }));
  return { table: newTable('Wide', 'Wide'), fields: [...pointers, ...others], filter: { kind: 'always' }, includes };
}

function plansOf(selection: Selection): readonly boolean[] {
  const plan = readPlan(selection, { text: '', params: [] }, context);
  return compiledAhead(plan, selection, byIds).includes.map((include) => include.plan !== undefined);
}

test('reads of Pointers are compiled ahead, as long as they are few statements', () => {
  const small = (count: number) => Array.from({ length: count }, () => selectionOf(3));
  assert.deepEqual(plansOf(selectionOf(0, small(3))), [true, true, true]);
  assert.equal(plansOf(selectionOf(0, small(60))).filter(Boolean).length, 50);
});

test('and of few columns, whatever the level', () => {
  const wide = () => selectionOf(900);
  assert.deepEqual(plansOf(selectionOf(0, [wide(), wide(), wide(), selectionOf(3)])), [true, true, false, true]);
  assert.deepEqual(plansOf(selectionOf(0, [selectionOf(1_500, [wide()]), wide()])), [true, false]);
  const shared = wide();
  assert.deepEqual(plansOf(selectionOf(0, Array(5).fill(shared))), Array(5).fill(true));
});
