import assert from 'node:assert/strict';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { ServiceError, serviceError } from '../../../errors/fail.ts';
import { prefixUpperBound } from '../../sql/prefix-upper-bound.ts';
import { registerFunctions } from './functions.ts';

const open = (tick?: () => void) => {
  const db = new DatabaseSync(':memory:');
  registerFunctions(db, tick ? { tick } : {});
  return (sql: string, ...params: (string | number | null)[]) =>
    Object.values(db.prepare(`SELECT ${sql}`).get(...params) ?? {})[0];
};
const select = open();

const cases: [sql: string, params: (string | number | null)[], result: unknown][] = [
  ['rds_regex(?, ?)', ['/^a/', 'a/'], 1],
  ['rds_regex(?, ?)', ['i/B$', 'ab'], 1],
  ['rds_regex(?, ?)', ['/b$', 'B'], 0],
  ['rds_regex(?, ?)', ['/b$', null], 0],
  ['rds_regex(?, ?)', ['/5', 5], 0],
  ['rds_canonical(?)', ['{"b":1.0,"a":[{"d":1,"c":2}]}'], '{"a":[{"c":2,"d":1}],"b":1}'],
  ['rds_canonical(?)', ['no json'], null],
  ['rds_place(?, ?)', ['{"a":[{"0":"x"}]}', '["a","0","0"]'], '"x"'],
  ['rds_place(?, ?)', ['{"a":null}', '["a"]'], 'null'],
  ['rds_place(?, ?)', ['{"a":[1]}', '["a","length"]'], null],
  ['rds_place(?, ?)', ['{}', '["__proto__"]'], null],
  ['rds_instant(?)', ['1970-01-01T00:00:01Z'], 1000],
  ['rds_instant(?)', ['never'], null],
  ['rds_wire(?, ?, ?)', ['pointer', 'x', 'A'], '{"__type":"Pointer","className":"A","objectId":"x"}'],
  ['rds_wire(?, ?, ?)', ['number', 5, ''], '5'],
  ['rds_wire(?, ?, ?)', ['text', '5', ''], '"5"'],
  ['rds_wire(?, ?, ?)', ['boolean', 1, ''], 'true'],
  ['rds_wire(?, ?, ?)', ['date', 0, ''], '{"__type":"Date","iso":"1970-01-01T00:00:00.000Z"}'],
  ["rds_edit(?, ?, 'Array', 'T.A')", ['[1]', '[{"path":[],"op":"add","objects":[2]}]'], '[1,2]'],
  ["rds_edit(?, ?, 'Array', 'T.A')", [null, '[{"path":[],"op":"addUnique","objects":[2,2]}]'], '[2]'],
  ['rds_tick()', [], 1],
];

for (const [sql, params, result] of cases)
  test(`${sql} of ${JSON.stringify(params)}`, () => assert.equal(select(sql, ...params), result));

test('an error thrown inside a statement comes out as it is', () => {
  const late = serviceError('timeout');
  const stopped = open(() => {
    throw late;
  });
  assert.throws(
    () => stopped('rds_tick()'),
    (error) => error === late,
  );
  assert.throws(() => select('rds_regex(?, ?)', '/(', 'x'), ServiceError);
  assert.equal(select('rds_regex(?, ?)', '/x', 'x'), 1, 'the connection is of use afterwards');
});

test('the end of a prefix range is the next text bytewise', () => {
  const ends: [string, string | undefined][] = [
    ['ab', 'ac'],
    ['a\u{d7ff}', 'a\u{e000}'],
    ['a\u{ffff}', 'a\u{10000}'],
    ['a\u{10ffff}', 'b'],
    ['\u{10ffff}', undefined],
    ['😀', '😁'],
  ];
  for (const [prefix, end] of ends) assert.equal(prefixUpperBound(prefix), end);
});
