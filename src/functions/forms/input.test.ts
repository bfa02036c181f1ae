import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPresent, isValidEmail, isValidPhone } from './input.ts';

test('an input is there unless it is null or blank', () => {
  for (const value of [undefined, null, '', ' ', '\t\n\u00a0']) assert.equal(isPresent(value), false);
  for (const value of ['a', 0, false, [], {}]) assert.equal(isPresent(value), true);
});

test('a telephone number has 7 to 14 digits, as they were sent', () => {
  for (const value of [
    '123456',
    '12-34-56',
    '123456789012345',
    'abcdefg',
    '',
    null,
    undefined,
    true,
    [1234567],
    { a: '1234567' },
  ])
    assert.equal(isValidPhone(value), false, JSON.stringify(value));
  for (const value of ['1234567', '(12) 34-567', '12345678901234', '+972-50-123-4567', 501234567, '1a2b3c4d5e6f7'])
    assert.equal(isValidPhone(value), true, JSON.stringify(value));
});

test('an e-mail address has 6 to 80 characters with @ and .', () => {
  const long = (length: number) => `${'a'.repeat(length - 4)}@b.c`;
  for (const value of ['a@b.c', 'abc.de', 'abc@de', long(81), '', null, undefined, 5, {}])
    assert.equal(isValidEmail(value), false, JSON.stringify(value));
  for (const value of ['aa@b.c', '.@aaaa', long(80)]) assert.equal(isValidEmail(value), true, JSON.stringify(value));
});
