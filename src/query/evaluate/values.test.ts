/** Corner cases of the evaluator, each compared with the embedded engine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { authorize, master } from '../../access/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import { addFilterRecords } from '../../storage/sql/testing/filter-data.ts';
import { evaluatorOf } from '../../storage/sql/testing/filter-evaluated.ts';
import { TestTables } from '../../storage/sqlite/testing/tables.ts';
import { parseWhere } from '../where/index.ts';
import { compareTexts } from './values.ts';

const date = (iso: string) => ({ __type: 'Date', iso });
const pointer = (objectId: string, className = 'Team') => ({ __type: 'Pointer', className, objectId });
const file = (name: string) => ({ __type: 'File', name });

const tables = new TestTables();
await addFilterRecords(tables);
const more: readonly JsonObject[] = [
  {
    objectId: 'e',
    num: -0,
    text: '\uffee',
    obj: { n: -0, big: 1e21, s: '', on: date('2024-02-29'), at: { 0: 'key', k: [[1]] } },
  },
  { objectId: 'f', num: 2 ** 53 + 2, text: '😀', obj: { n: 2 ** 53 + 2, s: '😀', on: date('2024-02-29T02:00:00+02:00') } },
  { objectId: 'g', num: 5e-324, text: '', obj: { n: 5e-324, s: '\uffee', on: date('2024-03-01'), list: [null, []] } },
  {
    objectId: 'h',
    num: 1e308,
    text: 'Straße É',
    obj: { many: [...Array(12).keys()] },
    arr: [-0, '😀', null, {}],
    file: file('f1_a'),
  },
];
for (const record of more) await tables.add('T', record);

const find = await evaluatorOf(tables, 'T');
const grant = authorize(master, 'find', tables.table('T'));
const scope = { schema: tables.schema, principal: master, now: Date.parse('2024-03-01T00:00:00Z') };

const cases: ReadonlyArray<readonly [name: string, where: JsonObject, found: string]> = [
  ['-0 is 0', { num: 0 }, 'e'],
  ['0 is -0 inside', { 'obj.n': -0 }, 'e'],
  ['-0 is not below 0', { num: { $lt: 0 } }, 'b'],
  ['-0 as an element', { arr: 0 }, 'h'],
  ['a number above 2^53', { num: 2 ** 53 + 2 }, 'f'],
  ['its neighbour', { 'obj.n': 2 ** 53 }, ''],
  ['large numbers in order', { num: { $gt: 2 ** 53 } }, 'f h'],
  ['1e21 inside', { 'obj.big': { $in: [1e21] } }, 'e'],
  ['the least number', { num: { $gt: 0, $lt: 1e-300 } }, 'g'],
  ['the least number inside', { 'obj.n': 5e-324 }, 'g'],

  ['an emoji sorts after all of one unit', { text: { $gt: '\uffee' } }, 'f'],
  ['inside too', { 'obj.s': { $gte: '\uffee' } }, 'f g'],
  ['an empty text is there', { text: '' }, 'g'],
  ['it comes before all others', { text: { $lt: 'A' } }, 'g'],
  ['one character of two units', { text: { $regex: '^.$' } }, 'e f'],
  ['the end of such a text', { 'obj.s': { $regex: '\\Q😀\\E$' } }, 'f'],
  ['case does not count', { text: { $regex: 'STRASSE|straße é', $options: 'i' } }, 'h'],
  ['it counts', { text: { $regex: 'straße' } }, ''],
  ['a text of an Array', { arr: { $regex: '^\\Q😀\\E$' } }, 'h'],

  ['null is absence', { num: null }, 'c d'],
  ['$ne null', { num: { $ne: null } }, 'a b e f g h'],
  ['null inside', { 'obj.nil': null }, 'a b c d e f g h'],
  ['$exists inside', { 'obj.nil': { $exists: true } }, ''],
  ['null among others', { num: { $in: [5, null] } }, 'a c d'],
  ['$nin with null', { num: { $nin: [5, null] } }, 'b e f g h'],
  ['$exists on an Object', { obj: { $exists: true } }, 'a b c e f g h'],
  ['equal content, whatever the order of keys', { 'obj.at': { k: [[1]], 0: 'key' } }, 'e'],
  ['$ne takes absent values in', { flag: { $ne: true } }, 'b c d e f g h'],
  ['$nin of another type', { num: { $nin: ['5'] } }, 'a b c d e f g h'],
  ['a null element', { arr: { $in: [null] } }, 'd e f g'],
  ['null is no element', { arr: { $all: [null] } }, 'h'],
  ['null elements inside', { 'obj.list': { $containedBy: [null, []] } }, 'g'],
  ['an unknown field', { nope: { $ne: 1 } }, 'a b c d e f g h'],

  ['containedIn', { text: { containedIn: ['', 'ABC', 5] } }, 'c g'],
  ['notContainedIn', { num: { notContainedIn: [5, 0] } }, 'b c d f g h'],
  ['containedIn on an Array', { arr: { containedIn: ['x', '1'] } }, 'a b'],
  ['containedIn, wholes and elements', { arr: { containedIn: [[], { k: [1, 2], j: 'x' }] } }, 'b c'],
  ['containedIn Pointers', { team: { containedIn: [pointer('red'), pointer('blue', 'Other')] } }, 'a'],
  ['containedIn at a place', { 'obj.list': { containedIn: ['q', [{ z: 7 }]] } }, 'a b'],

  ['a Date inside by its instant', { 'obj.on': date('2024-02-29T00:00:00.000Z') }, 'e f'],
  ['Dates inside in order', { 'obj.on': { $gte: date('2024-02-29T00:00:00.001Z') } }, 'g'],
  ['a Date inside is no text', { 'obj.on': '2024-02-29' }, ''],
  ['a key of a Date', { 'obj.on.iso': '2024-02-29' }, 'e'],
  ['a Date of a column', { day: { $lt: { $relativeTime: 'now' } } }, 'a'],
  ['Dates as elements', { arr: { $gt: date('2023-12-31') } }, 'a'],

  ['a position or a key', { 'obj.at.0': 'key' }, 'e'],
  ['arrays in arrays', { 'obj.at.k.0': 1 }, 'e'],
  ['an element that is an array', { 'obj.at.k': { $all: [[1]] } }, 'e'],
  ['a File by its name', { file: file('f1_a') }, 'h'],
  ['a place of a File', { 'file.name': { $regex: '^f1' } }, 'h'],
  ['a Pointer inside', { 'obj.to': pointer('red') }, 'b'],
  ['no position of an Object', { 'obj.0': { $exists: true } }, 'b'],
  ['$nor', { $nor: [{ num: { $exists: true } }, { 'obj.odd': { $exists: true } }] }, 'd'],
  ['$not of two', { num: { $not: { $gt: -2, $lt: 6 } } }, 'c d f h'],
  ['objectId', { objectId: { $in: ['b', 'h', 'none'] } }, 'b h'],
  ['a position of two digits', { 'obj.many.11': 11 }, 'h'],
  ['no such position', { 'obj.many.12': { $exists: true } }, ''],
  ['what stands in the middle is not the end', { text: { $regex: '\\QB\\E$' } }, ''],
  ['nor the start', { text: { $regex: '^\\QB\\E' } }, ''],
  ['nor the whole', { text: { $regex: '^\\QB\\E$' } }, ''],
];
for (const [name, where, expected] of cases)
  test(`evaluate: ${name}`, async () => {
    const filter = parseWhere(where, grant, scope);
    assert.equal(await tables.ids('T', filter), expected, 'the engine');
    const { found, asked } = await find(filter);
    assert.equal(found, expected);
    assert.equal(asked.size, 0);
  });

test('texts compare as their bytes do', () => {
  const texts = ['', 'a', 'ab', 'b', '\ud7ff', '\ue000', '\uffee', '\uffff', '\u{10000}', '😀', '😁', '\u{10ffff}'];
  for (const [at, one] of texts.entries())
    for (const [other, text] of texts.entries()) {
      assert.equal(Math.sign(compareTexts(one, text)), Math.sign(at - other), `${at} ${other}`);
      const bytes = Buffer.compare(Buffer.from(`x${one}y`), Buffer.from(`x${text}y`));
      assert.equal(Math.sign(compareTexts(`x${one}y`, `x${text}y`)), bytes);
    }
});
