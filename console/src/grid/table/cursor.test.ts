import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type Extent, isTyped, moved, nextEditable } from './cursor.ts';

const extent: Extent = { rowCount: 1_000_000, columnCount: 5, pageRows: 18, isRightToLeft: false };
const press = (key: string, more = {}) => ({ key, ctrlKey: false, metaKey: false, shiftKey: false, ...more });
const go = (row: number, column: number, key: string, more = {}, where = extent) => {
  const cell = moved({ row, column }, press(key, more), where);
  return cell && `${cell.row}/${cell.column}`;
};

describe('keys that move', () => {
  it('go to the side that the arrow points at', () => {
    const rightToLeft = { ...extent, isRightToLeft: true };
    assert.equal(go(3, 2, 'ArrowLeft'), '3/1');
    assert.equal(go(3, 2, 'ArrowRight'), '3/3');
    assert.equal(go(3, 2, 'ArrowLeft', {}, rightToLeft), '3/3');
    assert.equal(go(3, 2, 'ArrowRight', {}, rightToLeft), '3/1');
    assert.equal(go(3, 2, 'ArrowLeft', { ctrlKey: true }, rightToLeft), '3/4');
  });

  it('end at the edges', () => {
    assert.equal(go(0, 0, 'ArrowUp'), '-1/0');
    assert.equal(go(-1, 0, 'ArrowUp'), '-1/0');
    assert.equal(go(999_999, 4, 'ArrowDown'), '999999/4');
    assert.equal(go(5, 0, 'ArrowLeft'), '5/0');
    assert.equal(go(999_990, 0, 'PageDown'), '999999/0');
    assert.equal(go(5, 0, 'PageUp'), '0/0');
  });

  it('reach the ends', () => {
    assert.equal(go(500, 2, 'Home'), '500/0');
    assert.equal(go(500, 2, 'End'), '500/4');
    assert.equal(go(500, 2, 'Home', { ctrlKey: true }), '0/0');
    assert.equal(go(500, 2, 'End', { ctrlKey: true }), '999999/4');
    assert.equal(go(0, 0, 'PageDown'), '18/0');
    assert.equal(go(-1, 0, 'PageDown'), '18/0');
  });

  it('have nowhere to go in an empty table', () => {
    const empty = { ...extent, rowCount: 0 };
    for (const key of ['ArrowDown', 'PageDown', 'Home']) assert.equal(go(-1, 0, key, {}, empty), '-1/0');
    assert.equal(go(-1, 3, 'Home', { ctrlKey: true }, empty), '-1/0');
  });

  it('are none of the keys that type', () => {
    assert.equal(go(3, 2, 'a'), null);
    assert.ok(isTyped(press('א')) && isTyped(press('a')) && !isTyped(press('Enter')) && !isTyped(press('c', { ctrlKey: true })));
  });
});

describe('Tab while cells are edited', () => {
  it('goes to the next cell that can be', () => {
    const canEdit = (column: number) => column !== 2;
    assert.deepEqual(nextEditable({ row: 7, column: 1 }, 1, 5, canEdit), { row: 7, column: 3 });
    assert.deepEqual(nextEditable({ row: 7, column: 3 }, -1, 5, canEdit), { row: 7, column: 1 });
    assert.equal(nextEditable({ row: 7, column: 4 }, 1, 5, canEdit), null);
  });
});
