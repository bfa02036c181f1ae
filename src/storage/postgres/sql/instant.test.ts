import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import fc from 'fast-check';
import { parseIsoDate } from '../../../values/json/iso.ts';
import { PostgresTables } from '../testing/tables.ts';
import { arrayLiteral } from './arrays.ts';
import { instantOf, isoTextOf } from './instant.ts';

const tables = await PostgresTables.create();
after(() => tables.close());

async function each(values: readonly (string | number)[], type: string, expression: string): Promise<unknown[]> {
  const text = `SELECT ${expression} FROM unnest($1::${type}[]) WITH ORDINALITY AS t(v, n) ORDER BY n`;
  return (await tables.run({ text, params: [arrayLiteral(values)] })).map(([value]) => value);
}

const edges = [
  '2024-02-29',
  '2023-02-29',
  '2000-02-29',
  '1900-02-29',
  '2024-04-31',
  '2024-00-01',
  '2024-13-01',
  '2024-01-00',
  '2024-01-32',
  '2024-01-01T24:00',
  '2024-01-01T24:00:00.000Z',
  '2024-01-01T24:00:00.0001Z',
  '2024-01-01T24:01',
  '2024-01-01T25:00',
  '2024-01-01T00:60',
  '2024-01-01T00:00:60Z',
  '2024-01-01T00:00+23:59',
  '2024-01-01T00:00+24:00',
  '2024-01-01T00:00-00:60',
  '1969-12-31T23:59:59.9999Z',
  '0000-01-01',
  '-000001-12-31',
  '-000000-01-01',
  '+275760-09-13T00:01+00:01',
  '+275760-09-13T00:00:00.001Z',
  '-271821-04-20',
  '-271821-04-19T23:59:59.999Z',
  '2024-01-01T00:00:00.1234567890Z',
  '2024-01-01T00:00+1:00',
  '2024-01-01 00:00',
  '2024-01-01\n',
  '٢٠٢٤-01-01',
  '',
  'x',
];

const digits = (most: number, length: number) => fc.integer({ min: 0, max: most }).map((n) => String(n).padStart(length, '0'));
const time = fc.tuple(digits(25, 2), digits(61, 2), fc.option(digits(61, 2)), fc.option(fc.stringMatching(/^[0-9]{1,10}$/)));
const zone = fc.oneof(fc.constantFrom('', 'Z'), fc.tuple(fc.constantFrom('+', '-'), digits(25, 2), digits(61, 2)));
const year = fc.oneof(digits(9999, 4), fc.tuple(fc.constantFrom('+', '-'), digits(275_760, 6)));
const iso = fc.tuple(year, digits(12, 2), digits(31, 2), fc.option(fc.tuple(time, zone))).map(([y, month, day, clock]) => {
  // Date.parse misreads a month or a day 00 of some early years.
  const one = (part: string) => (part === '00' ? '01' : part);
  const date = `${[y].flat().join('')}-${one(month)}-${one(day)}`;
  if (!clock) return date;
  const [[hour, minute, second, fraction], offset] = clock;
  const seconds = second === null ? '' : `:${second}${fraction === null ? '' : `.${fraction}`}`;
  const [sign, hours, minutes] = typeof offset === 'string' ? [offset] : offset;
  return `${date}T${hour}:${minute}${seconds}${sign}${hours === undefined ? '' : `${hours}:${minutes}`}`;
});

test('ISO text is read as parseIsoDate reads it', async () => {
  const texts = [...edges, ...fc.sample(iso, 3000)];
  assert.deepEqual(
    (await each(texts, 'text', instantOf('t.v'))).map((instant, at) => [texts[at], instant]),
    texts.map((text) => [text, parseIsoDate(text)]),
  );
  assert.deepEqual(await tables.run({ text: `SELECT ${instantOf('NULL::text')}`, params: [] }), [[null]]);
});

test('instants are written as Date.prototype.toISOString writes them', async () => {
  const last = 8_640_000_000_000_000;
  const near = [0, -1, 1, last, -last, -62_167_219_200_000, -62_167_219_200_001, 253_402_300_799_999, 253_402_300_800_000];
  const instants = [...near, ...fc.sample(fc.integer({ min: -last, max: last }), 3000)];
  assert.deepEqual(
    await each(instants, 'bigint', isoTextOf('t.v')),
    instants.map((instant) => new Date(instant).toISOString()),
  );
});
