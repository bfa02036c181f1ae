import type { CSSProperties } from 'react';
import type { ColumnState, FieldModel, TableModel } from '../../../../src/console/protocol/protocol.ts';
import { titleField, usualWidth } from '../columns/columns.ts';

/** Below this width of the window only the title is pinned, with a limited width. */
const NARROW_PX = 600;
const NARROW_TITLE_SHARE = 0.42;
/** With fewer columns, all cells of a row are drawn. */
const WINDOWED_COLUMNS = 12;
const OVERSCAN_PX = 400;

export interface Column {
  readonly state: ColumnState;
  readonly field: FieldModel;
  readonly label: string;
  readonly width: number;
  readonly isPinned: boolean;
  /** Whether it is the last pinned column, which the following columns scroll under. */
  readonly isLastPinned: boolean;
  readonly isTitle: boolean;
  /** Distance from the start of the first column. */
  readonly start: number;
  /** Uses variables of the grid, so that resizing a column redraws no row. */
  readonly style: CSSProperties;
}

export interface Layout {
  readonly columns: readonly Column[];
  readonly pinnedCount: number;
  readonly pinnedWidth: number;
  readonly totalWidth: number;
}

export function layoutOf(
  table: TableModel,
  states: readonly ColumnState[],
  labelOf: (field: FieldModel) => string,
  windowWidth: number,
): Layout {
  const fields = new Map(table.fields.map((field) => [field.name, field]));
  const title = titleField(table);
  const isNarrow = windowWidth > 0 && windowWidth < NARROW_PX;
  let start = 0;
  const placed = states.flatMap((state, index): Omit<Column, 'isLastPinned'>[] => {
    const field = fields.get(state.field);
    if (!field) return [];
    const isTitle = field.name === title;
    const isPinned = isTitle || (!!state.isPinned && !isNarrow);
    const usual = state.width ?? usualWidth(field, isTitle);
    const width = isTitle && isNarrow ? Math.min(usual, Math.round(windowWidth * NARROW_TITLE_SHARE)) : usual;
    const style: CSSProperties = { width: `var(--w${index})`, ...(isPinned ? { insetInlineStart: `var(--s${index})` } : {}) };
    const column = { state, field, label: labelOf(field), width, isPinned, isTitle, start, style };
    start += width;
    return [column];
  });
  const pinned = placed.filter(({ isPinned }) => isPinned);
  const columns = placed.map((column) => ({ ...column, isLastPinned: column === pinned.at(-1) }));
  return {
    columns,
    pinnedCount: pinned.length,
    pinnedWidth: pinned.reduce((sum, { width }) => sum + width, 0),
    totalWidth: start,
  };
}

/** Returns the CSS variables of a grid: widths, and positions of pinned columns. */
export function layoutVariables({ columns, totalWidth }: Layout): Record<`--${string}`, string> {
  const variables: Record<`--${string}`, string> = { '--total': `${totalWidth}px` };
  for (const [index, { width, start, isPinned }] of columns.entries()) {
    variables[`--w${index}`] = `${width}px`;
    if (isPinned) variables[`--s${index}`] = `${start}px`;
  }
  return variables;
}

export interface ColumnSpan {
  readonly first: number;
  readonly end: number;
}

/** Returns the visible columns after the pinned ones, with some on both sides. @param scrolled distance from the start of the row */
export function columnsInWindow({ columns, pinnedCount }: Layout, scrolled: number, windowWidth: number): ColumnSpan {
  if (columns.length <= WINDOWED_COLUMNS) return { first: pinnedCount, end: columns.length };
  const from = scrolled - OVERSCAN_PX;
  const to = scrolled + windowWidth + OVERSCAN_PX;
  let first = pinnedCount;
  while (first < columns.length - 1 && endOf(columns[first] as Column) < from) first += 1;
  let end = first;
  while (end < columns.length && (columns[end] as Column).start < to) end += 1;
  return { first, end };
}

/** Returns how far the row must be scrolled to show a whole column. */
export function scrolledShowing(layout: Layout, at: number, scrolled: number, windowWidth: number): number {
  const column = layout.columns[at];
  if (!column || column.isPinned) return scrolled;
  const start = column.start - layout.pinnedWidth;
  if (start < scrolled) return start;
  return Math.max(scrolled, endOf(column) - windowWidth);
}

const endOf = ({ start, width }: Column) => start + width;
