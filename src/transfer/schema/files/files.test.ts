import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { faultOfDirectory } from './fault.ts';
import { formatJson } from './format.ts';
import { faultIn, lineOf } from './position.ts';

describe('formatJson', () => {
  test('spreads the outer levels and what is longer than a line', () => {
    const long = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`role:Some long name ${n}`, true]));
    const text = formatJson({
      fields: { Name: { type: 'String', dictionary: 'שם' } },
      empty: {},
      list: [1, [2, 3]],
      long: { a: long },
    });
    assert.deepEqual(text.split('\n').slice(0, 11), [
      '{',
      '  "fields": {',
      '    "Name": { "type": "String", "dictionary": "שם" }',
      '  },',
      '  "empty": {},',
      '  "list": [',
      '    1,',
      '    [2, 3]',
      '  ],',
      '  "long": {',
      '    "a": {',
    ]);
    assert.ok(text.endsWith('}\n'));
  });
  test('writes what JSON.parse reads back', () => {
    const value = { a: [{ '"': 'x\n' }, []], b: null, c: -0.5, __proto__x: 'שלום' };
    assert.deepEqual(JSON.parse(formatJson(value)), value);
  });
});

describe('lineOf', () => {
  const text =
    '{\n  "fields": {\n    "a": { "type": "x" },\n    "b": {\n      "type": "}",\n      "tpye": 1\n    }\n  },\n  "list": [\n    { "a": 1 },\n    { "a": 2 }\n  ]\n}';
  const cases: [path: string[], line: number][] = [
    [[], 1],
    [['fields'], 2],
    [['fields', 'a', 'type'], 3],
    [['fields', 'b'], 4],
    [['fields', 'b', 'tpye'], 6],
    [['fields', 'b', 'missing'], 4],
    [['list', '1', 'a'], 11],
    [['nowhere'], 1],
  ];
  for (const [path, line] of cases)
    test(`${path.join('.') || 'the whole'} is on line ${line}`, () => assert.equal(lineOf(text, path), line));
});

describe('faultIn', () => {
  const cases: [text: string, line: number, column: number][] = [
    ['', 1, 1],
    ['{"a": x}', 1, 7],
    ['{"a": 1,}', 1, 9],
    ['[1, 2,]', 1, 7],
    ['{"a" 1}', 1, 6],
    ['{\n  "a": 1\n  "b": 2\n}', 3, 3],
    ['{"a": "open}', 1, 7],
    ['[1] 2', 1, 5],
    ['{a: 1}', 1, 2],
    ['["\\x"]', 1, 2],
    ['{"a": [1, 2}', 1, 12],
    ['[01]', 1, 2],
  ];
  for (const [text, line, column] of cases)
    test(JSON.stringify(text), () => {
      assert.throws(() => JSON.parse(text));
      assert.deepEqual(faultIn(text), { line, column });
    });
});

test('a fault names the file of its part, and no control characters', () => {
  const message = (path: string[]) => faultOfDirectory({ path, message: 'is wrong' }).message;
  assert.equal(message(['tables', 'T', 'fields', 'a\u0007b']), 'tables/T.json: fields.a?b is wrong');
  assert.equal(message(['roles', 'Sales']), 'roles.json: Sales is wrong');
  assert.equal(message(['format']), 'schema.json: format is wrong');
  assert.equal(message([]), 'is wrong');
});
