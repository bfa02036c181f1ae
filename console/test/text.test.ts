import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readText } from '../src/fields/read.ts';
import { directionOf, isLtr, linkOf, shortened } from '../src/model/text.ts';

const field = (name: string) => ({ name, type: 'String' as const });

test('ids, phones, e-mail and addresses read from left to right', () => {
  for (const text of ['+972 50-123-4567', 'dana@example.co.il', 'https://example.com/א'])
    assert.ok(isLtr(field('Name'), text), text);
  assert.ok(isLtr(field('PhoneNumber'), ''));
  assert.ok(isLtr(field('ExternalId'), 'a-7'));
  assert.ok(!isLtr(field('PhoneNumber'), 'אין טלפון'));
  assert.ok(!isLtr(field('Name'), 'Dana'));
  assert.ok(!isLtr(field('Hotel'), ''));
});

test('a control goes the way of its first letter', () => {
  assert.equal(directionOf(field('Name'), 'דנה (VIP) 3'), 'rtl');
  assert.equal(directionOf(field('Name'), '3. VIP דנה'), 'ltr');
  assert.equal(directionOf(field('Name'), '12'), undefined);
  assert.equal(directionOf(null, '050-1234567'), 'ltr');
});

test('links are made of what is one, and of nothing else', () => {
  assert.equal(linkOf(field('Email'), 'a@b.co'), 'mailto:a@b.co');
  assert.equal(linkOf(field('PhoneNumber'), '050-123 4567'), 'tel:0501234567');
  assert.equal(linkOf(field('Number'), '0501234567'), null);
  assert.equal(linkOf(field('Url'), 'javascript:alert(1)'), null);
  assert.equal(linkOf(field('Email'), 'a@b.co?bcc=all@x.co'), null);
});

test('a long text is cut between characters', () => {
  assert.equal(shortened('אבגדה', 3), 'אב…');
  assert.equal(shortened('😀😀😀', 3), '😀😀…');
  assert.equal(shortened('a\u202eb', 9), 'ab');
});

test('what stands in a control is read by the type of its field', () => {
  const cases: [string, Parameters<typeof readText>[1], unknown][] = [
    ['1,234.5', 'Number', 1234.5],
    [' −7 ', 'Number', -7],
    ['₪ 12', 'Number', 12],
    ['.5', 'Number', 0.5],
    ['', 'Number', null],
    ['12x', 'Number', 'number'],
    ['1e999', 'Number', 'number'],
    ['[1]', 'Array', [1]],
    ['{}', 'Array', 'list'],
    ['[1]', 'Object', 'object'],
    ['{', 'Object', 'json'],
    ['', 'Object', null],
    [' a ', 'String', ' a '],
    ['', 'String', null],
  ];
  for (const [text, type, expected] of cases) {
    const reading = readText(text, type);
    assert.deepEqual('value' in reading ? reading.value : reading.problem, expected, `${type} ${text}`);
  }
});
