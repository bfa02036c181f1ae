/**
 * Where rows are, when there are more of them than a browser makes an element tall: Chromium ends at 33.5 million pixels, Firefox at 17.9 million.
 * `offset` is the distance of the window's upper edge from the first row, in true pixels; `scrollTop` is where the browser's scroll bar stands. Near both
 * ends they go together, in between a pixel of the scroll bar stands for several.
 */

/** The scrolled element is never taller. */
export const MAX_VIRTUAL_PX = 8_000_000;
/** At both ends of a compressed table, where a pixel of the scroll bar is a pixel of rows. */
export const END_ZONE_PX = 1_000_000;

export interface ScrollMap {
  readonly rowHeight: number;
  readonly rowCount: number;
  /** Height of the window on the rows. */
  readonly viewport: number;
  /** Height of the scrolled element. */
  readonly virtualHeight: number;
  readonly maxOffset: number;
  readonly maxScrollTop: number;
}

export interface Position {
  readonly scrollTop: number;
  readonly offset: number;
}

export const START: Position = { scrollTop: 0, offset: 0 };

const clamp = (value: number, low: number, high: number) => Math.min(Math.max(value, low), Math.max(low, high));

/** @param viewport pixels of rows that are seen at once */
export function scrollMap(rowCount: number, rowHeight: number, viewport: number): ScrollMap {
  const realHeight = rowCount * rowHeight;
  const virtualHeight = Math.min(realHeight, MAX_VIRTUAL_PX);
  return {
    rowHeight,
    rowCount,
    viewport,
    virtualHeight,
    maxOffset: Math.max(0, realHeight - viewport),
    maxScrollTop: Math.max(0, virtualHeight - viewport),
  };
}

/** The offset that a place of the scroll bar stands for. */
export function offsetAt(map: ScrollMap, scrollTop: number): number {
  return between(clamp(scrollTop, 0, map.maxScrollTop), map.maxScrollTop, map.maxOffset);
}

/** The place of the scroll bar that stands for an offset. */
export function scrollTopAt(map: ScrollMap, offset: number): number {
  return between(clamp(offset, 0, map.maxOffset), map.maxOffset, map.maxScrollTop);
}

/** From a scale of one length to one of another: alike in the zones at the ends, stretched between them. */
function between(value: number, from: number, to: number): number {
  if (from === to) return value;
  if (value <= END_ZONE_PX) return value;
  if (from - value <= END_ZONE_PX) return to - (from - value);
  return END_ZONE_PX + ((value - END_ZONE_PX) * (to - 2 * END_ZONE_PX)) / (from - 2 * END_ZONE_PX);
}

/** Exactly there. */
export function movedTo(map: ScrollMap, offset: number): Position {
  const there = clamp(offset, 0, map.maxOffset);
  return { offset: there, scrollTop: scrollTopAt(map, there) };
}

/**
 * After the browser has scrolled.
 * @param isCoarse whether the scroll bar was drawn, which means a place in the table; a wheel or a finger means pixels
 */
export function scrolledTo(map: ScrollMap, from: Position, scrollTop: number, isCoarse: boolean): Position {
  if (isCoarse || map.maxOffset === map.maxScrollTop) return { scrollTop, offset: offsetAt(map, scrollTop) };
  return { scrollTop, offset: clamp(from.offset + scrollTop - from.scrollTop, 0, map.maxOffset) };
}

/** How far the scroll bar stands from the place that the offset has on it: true pixels were scrolled where it stands for more. */
export function drift(map: ScrollMap, position: Position): number {
  return Math.abs(scrollTopAt(map, position.offset) - position.scrollTop);
}

/** Where a row stands in the scrolled element. */
export function rowTop(map: ScrollMap, position: Position, row: number): number {
  return row * map.rowHeight - position.offset + position.scrollTop;
}

/** The offset nearest to the present one at which the whole row is seen. */
export function offsetShowing(map: ScrollMap, offset: number, row: number): number {
  const top = row * map.rowHeight;
  if (top < offset) return top;
  if (top + map.rowHeight > offset + map.viewport) return clamp(top + map.rowHeight - map.viewport, 0, map.maxOffset);
  return offset;
}

export interface Span {
  readonly first: number;
  /** The one after the last. */
  readonly end: number;
}

/** The rows to draw: those that are seen, and some before and after them. */
export function rowsInWindow(map: ScrollMap, offset: number, overscan: number): Span {
  const first = Math.max(0, Math.floor(offset / map.rowHeight) - overscan);
  const end = Math.min(map.rowCount, Math.ceil((offset + map.viewport) / map.rowHeight) + overscan);
  return { first: Math.min(first, end), end };
}
