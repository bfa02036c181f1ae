/**
 * Maps row positions to scroll positions when a table is taller than an element can be: Chromium's limit is 33.5 million pixels, Firefox's 17.9
 * million. `offset` is the distance from the first row to the upper edge of the window, in real pixels; `scrollTop` is the position of the browser's
 * scroll bar. Near both ends they change equally; in between, a pixel of the scroll bar stands for several.
 */

/** Maximum height of the scrolled element. */
export const MAX_VIRTUAL_PX = 8_000_000;
/** Zone at both ends of a compressed table in which a pixel of the scroll bar is a pixel of rows. */
export const END_ZONE_PX = 1_000_000;

export interface ScrollMap {
  readonly rowHeight: number;
  readonly rowCount: number;
  /** Height of the visible rows. */
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

/** @param viewport visible height in pixels */
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

/** Returns the offset of a scroll position. */
export function offsetAt(map: ScrollMap, scrollTop: number): number {
  return between(clamp(scrollTop, 0, map.maxScrollTop), map.maxScrollTop, map.maxOffset);
}

/** Returns the scroll position of an offset. */
export function scrollTopAt(map: ScrollMap, offset: number): number {
  return between(clamp(offset, 0, map.maxOffset), map.maxOffset, map.maxScrollTop);
}

/** Maps a position between scales of different length: equal in the zones at the ends, stretched between them. */
function between(value: number, from: number, to: number): number {
  if (from === to) return value;
  if (value <= END_ZONE_PX) return value;
  if (from - value <= END_ZONE_PX) return to - (from - value);
  return END_ZONE_PX + ((value - END_ZONE_PX) * (to - 2 * END_ZONE_PX)) / (from - 2 * END_ZONE_PX);
}

/** Returns the exact position of an offset. */
export function movedTo(map: ScrollMap, offset: number): Position {
  const there = clamp(offset, 0, map.maxOffset);
  return { offset: there, scrollTop: scrollTopAt(map, there) };
}

/**
 * Returns the position after the browser has scrolled.
 * @param isCoarse whether the scroll bar was dragged, which selects a place in the table; a wheel or a finger moves by pixels
 */
export function scrolledTo(map: ScrollMap, from: Position, scrollTop: number, isCoarse: boolean): Position {
  if (isCoarse || map.maxOffset === map.maxScrollTop) return { scrollTop, offset: offsetAt(map, scrollTop) };
  return { scrollTop, offset: clamp(from.offset + scrollTop - from.scrollTop, 0, map.maxOffset) };
}

/**
 * Returns the distance of the scroll bar from the scroll position of the offset. It grows when pixels are scrolled where a pixel of the bar stands
 * for several.
 */
export function drift(map: ScrollMap, position: Position): number {
  return Math.abs(scrollTopAt(map, position.offset) - position.scrollTop);
}

/** Returns the position of a row in the scrolled element. */
export function rowTop(map: ScrollMap, position: Position, row: number): number {
  return row * map.rowHeight - position.offset + position.scrollTop;
}

/** Returns the nearest offset at which the whole row is visible. */
export function offsetShowing(map: ScrollMap, offset: number, row: number): number {
  const top = row * map.rowHeight;
  if (top < offset) return top;
  if (top + map.rowHeight > offset + map.viewport) return clamp(top + map.rowHeight - map.viewport, 0, map.maxOffset);
  return offset;
}

export interface Span {
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
}

/** Returns the rows to draw: the visible ones, and some before and after them. */
export function rowsInWindow(map: ScrollMap, offset: number, overscan: number): Span {
  const first = Math.max(0, Math.floor(offset / map.rowHeight) - overscan);
  const end = Math.min(map.rowCount, Math.ceil((offset + map.viewport) / map.rowHeight) + overscan);
  return { first: Math.min(first, end), end };
}
