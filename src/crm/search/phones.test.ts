import assert from 'node:assert/strict';
import { test } from 'node:test';
import { begunPattern, isBegun, numberOf, phonePattern, phoneQueryOf } from './phones.ts';

const forms: [number: string, texts: string[]][] = [
  [
    '0521234567',
    ['0521234567', '052-123-4567', '+972-52-1234567', '00972521234567', '972 052 1234567', '00972-052-1234567', '521234567'],
  ],
  ['031234567', ['03-1234567', '+972 3 123 4567', '0097231234567', '972031234567', '31234567']],
  ['442071234567', ['+44 20 7123 4567', '0044 20 7123 4567']],
  ['1700500600', ['1-700-500-600']],
];

test('every form of a phone that people write is one number, and the pattern of each matches all', () => {
  for (const [number, texts] of forms)
    for (const text of texts) {
      assert.equal(numberOf(text), number, text);
      const phone = phoneQueryOf(text);
      assert.ok(phone);
      for (const stored of texts) assert.match(stored, new RegExp(phonePattern(phone)), `${text}: ${stored}`);
    }
});

test('other numbers are other ones', () => {
  for (const [text, other] of [
    ['0521234567', '0521234568'],
    ['0521234567', '1521234567'],
    ['0521234567', '+44521234567'],
    ['031234567', '0031234567890'],
    ['442071234567', '0442071234567'],
    ['1700500600', '01700500600'],
  ] as const) {
    assert.notEqual(numberOf(text), numberOf(other), other);
    assert.doesNotMatch(other, new RegExp(phonePattern({ key: numberOf(text) ?? '', isWhole: true })), other);
  }
  for (const [text, number] of [
    ['000', '0'],
    ['none', null],
    ['', null],
  ] as const)
    assert.equal(numberOf(text), number);
});

test('a number that is being typed matches those that begin so', () => {
  for (const [text, isPart] of [
    ['05212345', true],
    ['052-123456', true],
    ['+972 52 12345', true],
    ['0521234567', false],
    ['031234567', false],
    ['442071234567', false],
  ] as const) {
    const phone = phoneQueryOf(text) ?? assert.fail();
    assert.equal(isBegun(phone), isPart, text);
    if (isPart)
      for (const stored of forms[0]?.[1].slice(0, 6) ?? []) assert.match(stored, new RegExp(begunPattern(phone)), stored);
    if (isPart) assert.doesNotMatch('0531234567', new RegExp(begunPattern(phone)));
  }
});
