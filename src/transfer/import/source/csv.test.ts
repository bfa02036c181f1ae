import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { type Cell, CsvReader, type CsvRow } from './csv.ts';

/** Parses a text that arrives in pieces of this many characters. */
function rowsOf(text: string, size: number): { rows: CsvRow[]; openQuote: number | null } {
  const reader = new CsvReader();
  const rows: CsvRow[] = [];
  for (let at = 0; at < text.length; at += size) rows.push(...reader.take(text.slice(at, at + size)));
  const end = reader.end();
  return { rows: [...rows, ...end.rows], openQuote: end.openQuote };
}

const cases: [text: string, rows: [number: number, cells: Cell[], fault: CsvRow['fault']][]][] = [
  ['', []],
  ['a', [[1, ['a'], null]]],
  [
    'a,b\r\n1,2\r\n',
    [
      [1, ['a', 'b'], null],
      [2, ['1', '2'], null],
    ],
  ],
  [
    'a\r1\r',
    [
      [1, ['a'], null],
      [2, ['1'], null],
    ],
  ],
  ['"",,""\n', [[1, ['', null, ''], null]]],
  ['\n\na\n', [[3, ['a'], null]]],
  [
    '"a""b","c\nd",e\nf',
    [
      [1, ['a"b', 'c\nd', 'e'], null],
      [2, ['f'], null],
    ],
  ],
  [
    'a"b,c\nd',
    [
      [1, ['ab', 'c'], 'quoteInCell'],
      [2, ['d'], null],
    ],
  ],
  [
    '"a"b,c\nd',
    [
      [1, ['ab', 'c'], 'textAfterQuote'],
      [2, ['d'], null],
    ],
  ],
  [' a , b\n', [[1, [' a ', ' b'], null]]],
];
for (const [text, expected] of cases)
  test(`rows of ${JSON.stringify(text)}, wherever its pieces end`, () => {
    for (let size = 1; size <= text.length + 1; size++) {
      const { rows, openQuote } = rowsOf(text, size);
      assert.equal(openQuote, null);
      assert.deepEqual(
        rows.map(({ number, cells, fault }) => [number, cells, fault]),
        expected,
        `pieces of ${size}`,
      );
    }
  });

test('a quote that is never closed is reported with its row', () => {
  for (const text of ['"a', 'a\nb,"c\nd\ne,f\n', '"a""'])
    assert.equal(rowsOf(text, 3).openQuote, text.startsWith('"') ? 1 : 2, text);
});

test('a row that is too long is let go, those around it are not', () => {
  const long = 'x'.repeat(20 * 1024 * 1024);
  for (const middle of [`${long},y`, `"${long}\n\n",y`]) {
    const { rows } = rowsOf(`a,b\n${middle}\nc,d`, 1 << 16);
    assert.deepEqual(
      rows.map(({ cells, fault }) => [cells, fault]),
      [
        [['a', 'b'], null],
        [[], 'tooLong'],
        [['c', 'd'], null],
      ],
    );
  }
});

const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' ', 'ש', '😀', "'"), maxLength: 8 });
const table = fc.integer({ min: 2, max: 4 }).chain((width) => fc.array(fc.array(cell, { minLength: width, maxLength: width })));

test('what csv-stringify writes is read as it was', () => {
  fc.assert(
    fc.property(table, fc.integer({ min: 1, max: 9 }), fc.constantFrom('\n', '\r\n'), (rows, size, end) => {
      const text = stringify(rows, { quoted_string: true, quoted_empty: true, record_delimiter: end });
      assert.deepEqual(
        rowsOf(text, size).rows.map(({ cells }) => cells),
        rows,
      );
    }),
  );
});

const anything = fc.string({ unit: fc.constantFrom('a', 'b', '"', ',', '\n'), maxLength: 40 });

test('what csv-parse takes is read the same, and what it refuses is reported', () => {
  fc.assert(
    fc.property(anything, fc.integer({ min: 1, max: 9 }), (text, size) => {
      const { rows, openQuote } = rowsOf(text, size);
      const isWhole = openQuote === null && rows.every(({ fault }) => fault === null);
      let known: string[][] | null = null;
      try {
        known = parse(text, { relax_column_count: true, record_delimiter: '\n', skip_empty_lines: true });
      } catch {
        // csv-parse reports nothing about the rows before.
      }
      assert.equal(isWhole, known !== null, JSON.stringify(text));
      if (known)
        assert.deepEqual(
          rows.map(({ cells }) => cells.map((one) => one ?? '')),
          known,
        );
    }),
    { numRuns: 2_000 },
  );
});
