/** Which conditions the evaluator asks the database for, and in which order. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { limits } from '../../kernel/limits.ts';
import type { Field } from '../../schema/model.ts';
import type { StoredValue } from '../../values/index.ts';
import type { Filter } from '../model/filter.ts';
import { field, grant, scope, table } from '../testing/fixture.ts';
import { parseWhere } from '../where/index.ts';
import { evaluate, evaluateKnown } from './index.ts';

const values = { Name: 'abab', Total: 5, tags: '["x","yy"]', extra: '{"s":"abab","list":["yy"]}' };
const stored =
  (record: Readonly<Record<string, StoredValue>>) =>
  ({ name }: Field): StoredValue =>
    record[name] ?? null;
const unasked = () => Promise.reject(new Error('nothing is to be asked'));
const isNamed = (name: string): Filter => ({ kind: 'compare', field: field('Sales', 'Name'), op: 'eq', value: name });
const yes = isNamed('abab');
const no = isNamed('other');
const part = (objectId: string): Filter => ({ kind: 'hasMember', relation: field('Sales', 'products'), memberIds: [objectId] });
const [p, q] = [part('p'), part('q')];
const all = (...items: Filter[]): Filter => ({ kind: 'and', items });
const any = (...items: Filter[]): Filter => ({ kind: 'or', items });
const not = (item: Filter): Filter => ({ kind: 'not', item });

async function asking(filter: Filter, truths: ReadonlyMap<Filter, boolean>): Promise<[boolean, Filter[]]> {
  const asked: Filter[] = [];
  const ask = async (one: Filter) => {
    asked.push(one);
    return truths.get(one) ?? false;
  };
  return [await evaluate(filter, stored(values), ask), asked];
}

const cases: ReadonlyArray<readonly [name: string, filter: Filter, answer: boolean, asked: readonly Filter[]]> = [
  ['what decides comes first', all(p, q, no), false, []],
  ['in an or too', any(p, yes), true, []],
  ['deep inside', all(any(p, all(q, no)), not(any(p, yes))), false, []],
  ['what is left open', all(p, yes), true, [p]],
  ['one after the other, until it is decided', any(q, p, q), true, [q, p]],
  ['all of them', all(p, p, q), false, [p, p, q]],
  ['not', not(q), true, [q]],
  ['not of both', not(all(p, q)), true, [p, q]],
  ['either side', any(all(no, p), all(yes, not(p)), all(yes, p)), true, [p, p]],
];
for (const [name, filter, answer, asked] of cases)
  test(`asked: ${name}`, async () => {
    assert.deepEqual(await asking(filter, new Map([[p, true]])), [answer, asked]);
    // Other records lead to the same questions: no state is kept between evaluations.
    assert.deepEqual(await asking(filter, new Map([[p, true]])), [answer, asked]);
  });

test('an answer that needs no asking comes at once', async () => {
  for (const [filter, answer] of [
    [all(yes, not(no)), true],
    [any(no, all()), true],
    [all(p, no), false],
  ] as const) {
    assert.equal(evaluateKnown(filter, stored(values)), answer);
    assert.equal(await evaluate(filter, stored(values), unasked), answer);
  }
  assert.equal(evaluateKnown(all(yes, p), stored(values)), null);
});

test('what asking throws is thrown', async () => {
  await assert.rejects(async () => evaluate(all(yes, p), stored(values), unasked), /nothing is to be asked/);
});

const pattern = (where: Parameters<typeof parseWhere>[0]) => parseWhere(where, grant, scope);

test('patterns that are not linear are asked for, and others are not', async () => {
  for (const name of ['Name', 'extra.s', 'tags']) {
    const backtracking = pattern({ [name]: { $regex: '(.)\\1' } });
    assert.deepEqual(await asking(backtracking, new Map([[backtracking, true]])), [true, [backtracking]]);
    assert.equal(await evaluate(pattern({ [name]: { $regex: '(y|b)$' } }), stored(values), unasked), true);
  }
  const each = pattern({ 'extra.list': { $all: [{ $regex: '(.)\\1' }] } });
  assert.deepEqual(await asking(each, new Map([[each, true]])), [true, [each]]);
  assert.equal(await evaluate(pattern({ 'extra.list': { $all: [{ $regex: 'y+' }] } }), stored(values), unasked), true);
  assert.equal(await evaluate(pattern({ Name: { $regex: '(.)\\1' } }), stored({}), unasked), false, 'nothing is there to match');
});

test('a long text is held against a large pattern where a time limit can end it', async () => {
  const large = pattern({ Name: { $regex: '[ab]{900}(?:c|d){900}$' } });
  const long = stored({ Name: 'ab'.repeat(500_000) });
  assert.equal(await evaluate(large, long, async (one) => one === large), true);
  assert.equal(await evaluate(large, stored(values), unasked), false);
  assert.equal(await evaluate(pattern({ Name: { $regex: '^\\Qabab\\E' } }), long, unasked), true, 'plain text is quick');
});

test('guards look at the record alone', async () => {
  const acl = (text: string | null) => {
    const guard = { kind: 'acl', right: 'read', identities: ['u1', '__proto__'] } as const;
    return evaluate({ kind: 'guard', guard, table: table('Sales') }, stored({ ACL: text }), unasked);
  };
  const texts = [null, '{}', '{"u1":{"read":true}}', '{"u1":{"write":true}}', '{"u1":{}}'];
  assert.deepEqual(await Promise.all(texts.map(acl)), [true, true, true, false, false]);
});

test('levels of a where and of a value', async () => {
  let where: Parameters<typeof parseWhere>[0] = {
    Total: 5,
    products: { __type: 'Pointer', className: 'Products', objectId: 'p' },
  };
  for (let level = 0; level < limits.whereDepth; level++)
    where = level % 2 === 0 ? { $nor: [where, { Name: '' }] } : { $or: [where] };
  const parsed = parseWhere(where, grant, scope);
  const isOdd = (limits.whereDepth / 2) % 2 === 1;
  assert.equal(await evaluate(parsed, stored(values), async () => true), !isOdd);
  assert.equal(await evaluate(parsed, stored(values), async () => false), isOdd);

  let deep: Filter = p;
  for (let level = 0; level < 4 * limits.whereDepth; level++) deep = all(any(not(deep), no), yes);
  assert.equal(await evaluate(deep, stored(values), async () => true), true);

  const path = Array.from({ length: limits.jsonDepth - 1 }, () => 'k');
  const text = `${'{"k":'.repeat(path.length)}7${'}'.repeat(path.length)}`;
  assert.equal(
    await evaluate(parseWhere({ [`extra.${path.join('.')}`]: 7 }, grant, scope), stored({ extra: text }), unasked),
    true,
  );
  assert.equal(await evaluate(parseWhere({ extra: JSON.parse(text) }, grant, scope), stored({ extra: text }), unasked), true);
});
