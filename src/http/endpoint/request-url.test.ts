import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseQueryString } from './parse-request.ts';

for (const [text, parameters] of [
  ['', []],
  [
    'a=1&b=2',
    [
      ['a', '1'],
      ['b', '2'],
    ],
  ],
  ['a=x+y%2Bz', [['a', 'x y+z']]],
  ['a', [['a', '']]],
  ['&&a=1&', [['a', '1']]],
  ['a=1&a=2', [['a', '2']]],
  ['a=b=c', [['a', 'b=c']]],
  ['a=%zz', [['a', '%zz']]],
  ['a=%ED%A0%80', [['a', '%ED%A0%80']]],
  [
    '__proto__=1&constructor=2',
    [
      ['__proto__', '1'],
      ['constructor', '2'],
    ],
  ],
  ['where=%7B%22a%22%3A%22%D7%A9%22%7D', [['where', '{"a":"ש"}']]],
] as const)
  test(`parameters of ?${text}`, () => assert.deepEqual([...parseQueryString(text)], parameters));
