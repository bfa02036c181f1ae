import assert from 'node:assert/strict';
import { test } from 'node:test';
import { conversionTargets } from '../../schema/definition-retypes.ts';
import { fieldTypes } from '../../schema/model.ts';
import { conversionOf } from './conversions.ts';
import { MAX_EXAMPLES, ValueConverter } from './unconvertible.ts';

test('the types that definitions accept are those that values can get', () => {
  for (const from of fieldTypes)
    for (const to of fieldTypes)
      assert.equal(
        conversionOf({ type: from }, { type: to }) !== null,
        conversionTargets.get(from)?.has(to) ?? false,
        `${from} ${to}`,
      );
});

test('a number that becomes text and back is the same, a date too', () => {
  const back = (from: 'Number' | 'Date', value: number) => {
    const text = conversionOf({ type: from }, { type: 'String' })?.(value) as string;
    return conversionOf({ type: 'String' }, { type: from })?.(text);
  };
  for (const value of [0, -1.5, 0.1 + 0.2, 1e21, 5e-324, Number.MAX_VALUE]) assert.equal(back('Number', value), value);
  for (const value of [0, -1, Date.UTC(2026, 0, 1), Date.UTC(1, 0, 1)]) assert.equal(back('Date', value), value);
});

test('a refusal counts all and names the first, with texts cut', () => {
  const converter = new ValueConverter('F', { type: 'String' }, { type: 'Number' });
  assert.equal(converter.convert('ok', '5'), 5);
  assert.equal(converter.convert('none', null), null);
  for (let n = 0; n < 8; n++) assert.equal(converter.convert(`id${n}`, `x${n}${'y'.repeat(200)}`), null);
  const { message, details, code } = converter.refusal();
  assert.deepEqual([message, code, details?.cannotConvert], ['8 values of F cannot be converted to Number.', 111, 8]);
  const examples = details?.examples as { objectId: string; value: string }[];
  assert.equal(examples.length, MAX_EXAMPLES);
  assert.deepEqual([examples[0]?.objectId, examples[0]?.value.length], ['id0', 100]);
});

test('a required value must not become absent', () => {
  const converter = new ValueConverter('F', { type: 'String' }, { type: 'Number' }, true);
  assert.equal(converter.convert('a', '  '), null);
  assert.equal(converter.failures, 1);
});
