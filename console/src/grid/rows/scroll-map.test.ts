import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  drift,
  MAX_VIRTUAL_PX,
  movedTo,
  offsetAt,
  offsetShowing,
  rowsInWindow,
  rowTop,
  START,
  scrolledTo,
  scrollMap,
  scrollTopAt,
} from './scroll-map.ts';

const tables = fc.record({
  rowCount: fc.oneof(fc.integer({ min: 0, max: 2_000 }), fc.integer({ min: 0, max: 10_000_000 })),
  rowHeight: fc.integer({ min: 20, max: 80 }),
  viewport: fc.integer({ min: 50, max: 2_000 }),
});

describe('the rows that a scroll bar stands for', () => {
  it('reach every row, which then is seen whole and inside the scrolled element', () => {
    fc.assert(
      fc.property(tables, fc.double({ min: 0, max: 1, noNaN: true }), ({ rowCount, rowHeight, viewport }, share) => {
        fc.pre(rowCount > 0 && viewport >= rowHeight);
        const map = scrollMap(rowCount, rowHeight, viewport);
        const row = Math.min(rowCount - 1, Math.floor(share * rowCount));
        const position = movedTo(map, offsetShowing(map, 0, row));
        const { first, end } = rowsInWindow(map, position.offset, 0);
        assert.ok(first <= row && row < end);
        const top = rowTop(map, position, row);
        assert.ok(top >= position.scrollTop - 0.01 && top + rowHeight <= position.scrollTop + viewport + 0.01);
        assert.ok(top >= -0.01 && top + rowHeight <= map.virtualHeight + 0.01);
        assert.ok(drift(map, position) < 0.01);
      }),
    );
  });

  it('begin with the first and end with the last, in order', () => {
    fc.assert(
      fc.property(tables, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 }), (table, shares) => {
        const map = scrollMap(table.rowCount, table.rowHeight, table.viewport);
        assert.ok(map.virtualHeight <= MAX_VIRTUAL_PX);
        assert.equal(offsetAt(map, 0), 0);
        assert.equal(offsetAt(map, map.maxScrollTop), map.maxOffset);
        const offsets = shares.sort((a, b) => a - b).map((share) => offsetAt(map, share * map.maxScrollTop));
        assert.ok(offsets.every((offset, at) => at === 0 || offset >= (offsets[at - 1] as number)));
        for (const offset of offsets) assert.ok(Math.abs(offsetAt(map, scrollTopAt(map, offset)) - offset) < 0.01);
      }),
    );
  });

  it('stay where they are while a wheel turns there and back', () => {
    fc.assert(
      fc.property(
        tables,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: -900, max: 900 }),
        (table, share, delta) => {
          const map = scrollMap(table.rowCount, table.rowHeight, table.viewport);
          const start = movedTo(map, share * map.maxOffset);
          const there = start.offset + delta;
          fc.pre(there >= 0 && there <= map.maxOffset);
          const away = scrolledTo(map, start, start.scrollTop + delta, false);
          assert.ok(Math.abs(away.offset - there) < 0.01);
          assert.ok(Math.abs(rowTop(map, away, 7) - rowTop(map, start, 7)) < 0.01);
          assert.ok(Math.abs(scrolledTo(map, away, start.scrollTop, false).offset - start.offset) < 0.01);
        },
      ),
    );
  });

  it('are one pixel for one pixel in a table that needs no more', () => {
    const map = scrollMap(1_000, 36, 700);
    assert.equal(map.virtualHeight, 36_000);
    assert.deepEqual(scrolledTo(map, START, 12_345, false), { scrollTop: 12_345, offset: 12_345 });
    assert.deepEqual(scrolledTo(map, START, 12_345, true), { scrollTop: 12_345, offset: 12_345 });
  });

  it('are none in an empty table', () => {
    const map = scrollMap(0, 36, 700);
    assert.deepEqual(rowsInWindow(map, 0, 10), { first: 0, end: 0 });
    assert.deepEqual(movedTo(map, 500), { scrollTop: 0, offset: 0 });
  });

  it('move by pixels at the wheel and by their share at the bar', () => {
    const map = scrollMap(1_000_000, 36, 700);
    const middle = movedTo(map, 18_000_000);
    assert.equal(scrolledTo(map, middle, middle.scrollTop + 100, false).offset, 18_000_100);
    const coarse = scrolledTo(map, middle, middle.scrollTop + 100, true).offset - 18_000_000;
    assert.ok(coarse > 500 && coarse < 700);
  });
});
