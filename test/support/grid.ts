/** The grid of the console as a user sees it: its rows, the scroll position, and whether rows are still loading. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';

/** A row in the page. */
export interface DrawnRow {
  /** From 0, without the header. */
  readonly index: number;
  /** `null`: the record is not loaded yet. */
  readonly objectId: string | null;
}

const GRID = `document.querySelector('[role=grid]')`;
/** An expression evaluated in the page: rows in table order of which some part is visible. */
export const VISIBLE_ROWS = `(() => {
  const grid = ${GRID};
  if (!grid) return [];
  const head = grid.querySelector('[role=columnheader]').getBoundingClientRect().bottom;
  const foot = grid.getBoundingClientRect().bottom;
  return [...grid.querySelectorAll('[role=row][aria-rowindex]')]
    .filter((row) => row.querySelector('[role=gridcell]'))
    .map((row) => ({ row, box: row.getBoundingClientRect() }))
    .filter(({ box }) => box.bottom > head + 1 && box.top < foot - 1)
    .map(({ row, box }) => ({
      index: Number(row.getAttribute('aria-rowindex')) - 2,
      objectId: row.getAttribute('aria-busy') === 'true' ? null : row.querySelector('a')?.pathname.split('/').pop() ?? null,
      top: box.top,
      bottom: box.bottom,
    }))
    .sort((one, other) => one.index - other.index);
})()`;

export class GridView {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  get element() {
    return this.#page.getByRole('grid');
  }

  /** Returns the visible rows. */
  async rows(): Promise<DrawnRow[]> {
    return (await this.#boxes()).map(({ index, objectId }) => ({ index, objectId }));
  }

  #boxes(): Promise<(DrawnRow & { readonly top: number; readonly bottom: number })[]> {
    return this.#page.evaluate(VISIBLE_ROWS);
  }

  /** Waits until something is visible and every visible row has its record. @returns the rows */
  async settled(timeoutMs = 20_000): Promise<DrawnRow[]> {
    await this.#until(`${VISIBLE_ROWS}.length > 0 && ${VISIBLE_ROWS}.every(({ objectId }) => objectId !== null)`, timeoutMs);
    return this.rows();
  }

  /** Asserts that the visible rows follow each other without a gap, up to the edges of the window or the table. */
  async assertGapless(): Promise<void> {
    const rows = await this.#boxes();
    for (const [at, row] of rows.entries()) {
      const before = rows[at - 1];
      if (!before) continue;
      assert.equal(row.index, before.index + 1);
      assert.ok(
        Math.abs(row.top - before.bottom) <= 1,
        `row ${row.index} begins ${row.top - before.bottom} pixels after the one before`,
      );
    }
  }

  /** Returns `aria-rowcount` without the header; `null` while it is -1. */
  async count(): Promise<number | null> {
    const text = await this.element.getAttribute('aria-rowcount');
    return text === '-1' ? null : Number(text) - 1;
  }

  /** Waits for the count and returns it. */
  async counted(timeoutMs = 20_000): Promise<number> {
    await this.#until(`Number(${GRID}?.getAttribute('aria-rowcount') ?? -1) >= 0`, timeoutMs);
    return (await this.count()) ?? assert.fail('the count went away');
  }

  /** Drags the scroll bar to a position. @param part 0 to 1 */
  async scrollTo(part: number): Promise<void> {
    await this.#page.evaluate(
      `(() => { const grid = ${GRID}; grid.scrollTop = Math.round((grid.scrollHeight - grid.clientHeight) * ${part}); })()`,
    );
  }

  /** Moves the focus into the first row, to the column after the title. */
  async enter(): Promise<void> {
    await this.element.getByRole('row').nth(1).getByRole('gridcell').nth(1).click();
    await this.#page.keyboard.press('Control+Home');
  }

  /** Waits until a cell has the focus, which follows the rows by a frame, and returns its row, from 0. */
  async focusedRow(timeoutMs = 20_000): Promise<number> {
    await this.#until(`document.activeElement.closest('[role=row]') !== null`, timeoutMs);
    return this.#page.evaluate(`Number(document.activeElement.closest('[role=row]')?.getAttribute('aria-rowindex') ?? 0) - 2`);
  }

  /** Waits until a visible row is at most `distance` from `row`. */
  near(row: number, distance: number, timeoutMs = 20_000): Promise<void> {
    return this.#until(`${VISIBLE_ROWS}.some(({ index }) => Math.abs(index - ${row}) <= ${distance})`, timeoutMs);
  }

  /** Waits until the first visible row is no longer `row`. */
  movedFrom(row: number, timeoutMs = 20_000): Promise<void> {
    return this.#until(`${VISIBLE_ROWS}[0] && ${VISIBLE_ROWS}[0].index !== ${row}`, timeoutMs);
  }

  /** Polls on animation frames in the page, because the console's policy forbids evaluating text there. */
  async #until(condition: string, timeoutMs: number): Promise<void> {
    const isSo = await this.#page.evaluate(`new Promise((resolve) => {
      const end = performance.now() + ${timeoutMs};
      const look = () => {
        if (${condition}) resolve(true);
        else if (performance.now() > end) resolve(false);
        else requestAnimationFrame(look);
      };
      look();
    })`);
    assert.ok(isSo, `not within ${timeoutMs} ms: ${condition.slice(0, 200)}`);
  }

  /** Returns the number of elements of the whole page. */
  elementCount(): Promise<number> {
    return this.#page.evaluate(`document.querySelectorAll('*').length`);
  }
}
