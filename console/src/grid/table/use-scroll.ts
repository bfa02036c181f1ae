import { type RefObject, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import {
  drift,
  END_ZONE_PX,
  movedTo,
  offsetShowing,
  type Position,
  rowsInWindow,
  type Span,
  START,
  scrolledTo,
  scrollMap,
} from '../rows/scroll-map.ts';

export const ROW_PX = 36;
export const HEADER_PX = 38;
const OVERSCAN_ROWS = 10;
/** Time after an event of a wheel or a finger within which scrolling is attributed to it. */
const PUSHED_MS = 250;
/** After this time without scrolling, the scroll bar is moved to the position of the rows. */
const SETTLE_MS = 160;
/** A wheel never scrolls this many windows at once. */
const COARSE_WINDOWS = 20;

export interface ScrollView extends Span {
  /** The difference between a row's position in the table and in the scrolled element. */
  readonly shift: number;
  readonly scrolledInline: number;
  readonly direction: number;
}

export interface Scroll {
  readonly ref: RefObject<HTMLDivElement | null>;
  readonly view: ScrollView;
  /** Size of the visible area. */
  readonly size: { readonly height: number; readonly width: number };
  readonly virtualHeight: number;
  /** Number of wholly visible rows. */
  readonly pageRows: number;
  onScroll(): void;
  onPush(): void;
  showRow(row: number): void;
  /** Scrolls by a number of rows, in real pixels. */
  scrollRows(rows: number): void;
  scrollInline(scrolled: number): void;
  /** Returns the real pixels from the first row to the upper edge of the window. */
  offset(): number;
}

/**
 * Scrolls a grid of any length (`scroll-map.ts`): returns the visible part, and functions to move it.
 * @param firstOffset the initial position, applied when that many rows are known
 */
export function useScroll(rowCount: number, isRightToLeft: boolean, firstOffset: number): Scroll {
  const ref = useRef<HTMLDivElement>(null);
  const position = useRef<Position>(START);
  const direction = useRef(0);
  const pushedAt = useRef(0);
  const settling = useRef(0);
  const awaited = useRef(firstOffset);
  const [size, setSize] = useState({ height: 600, width: 0 });
  const map = useMemo(() => scrollMap(rowCount, ROW_PX, size.height), [rowCount, size.height]);
  const seen = useCallback(
    (): ScrollView => ({
      ...rowsInWindow(map, position.current.offset, OVERSCAN_ROWS),
      shift: position.current.offset - position.current.scrollTop,
      scrolledInline: Math.abs(ref.current?.scrollLeft ?? 0),
      direction: direction.current,
    }),
    [map],
  );
  const [view, setView] = useState<ScrollView>(seen);
  const draw = useCallback(() => setView((old) => (isSame(old, seen()) ? old : seen())), [seen]);

  const put = useCallback(
    (next: Position) => {
      const element = ref.current;
      position.current = next;
      if (!element) return;
      flushSync(draw);
      element.scrollTop = next.scrollTop;
      // The browser rounds scrollTop; the rows follow the rounded value.
      position.current = { ...next, scrollTop: element.scrollTop };
      flushSync(draw);
    },
    [draw],
  );

  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = () =>
      setSize((old) => {
        const now = { height: Math.max(ROW_PX, element.clientHeight - HEADER_PX), width: element.clientWidth };
        return now.height === old.height && now.width === old.width ? old : now;
      });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    return () => observer.disconnect();
  }, []);

  // Keeps the same rows visible when the number of rows or the window changes.
  useLayoutEffect(() => {
    const element = ref.current;
    const next = movedTo(map, Math.max(position.current.offset, awaited.current));
    if (map.maxOffset >= awaited.current) awaited.current = 0;
    if (element && Math.abs(element.scrollTop - next.scrollTop) > 0.5) element.scrollTop = next.scrollTop;
    position.current = { ...next, scrollTop: element?.scrollTop ?? next.scrollTop };
    draw();
  }, [map, draw]);

  useEffect(() => () => clearTimeout(settling.current), []);

  const settle = useCallback(() => {
    direction.current = 0;
    if (drift(map, position.current) > 1) put(movedTo(map, position.current.offset));
    else draw();
  }, [map, put, draw]);

  const onScroll = useCallback(() => {
    const element = ref.current;
    if (!element) return;
    const delta = element.scrollTop - position.current.scrollTop;
    if (Math.abs(delta) >= 0.5) {
      const now = performance.now();
      const isPushed = now - pushedAt.current < PUSHED_MS;
      if (isPushed) pushedAt.current = now;
      const isCoarse = Math.abs(delta) > COARSE_WINDOWS * map.viewport || (!isPushed && Math.abs(delta) > map.viewport);
      awaited.current = 0;
      position.current = scrolledTo(map, position.current, element.scrollTop, isCoarse);
      direction.current = Math.sign(delta);
      if (drift(map, position.current) > END_ZONE_PX / 2) put(movedTo(map, position.current.offset));
    }
    clearTimeout(settling.current);
    settling.current = window.setTimeout(settle, SETTLE_MS);
    flushSync(draw);
  }, [map, put, settle, draw]);

  const moveTo = useCallback(
    (offset: number) => {
      awaited.current = 0;
      if (offset === position.current.offset) return;
      direction.current = Math.sign(offset - position.current.offset);
      clearTimeout(settling.current);
      settling.current = window.setTimeout(settle, SETTLE_MS);
      put(movedTo(map, offset));
    },
    [map, put, settle],
  );

  return {
    ref,
    view,
    size,
    virtualHeight: map.virtualHeight,
    pageRows: Math.max(1, Math.floor(size.height / ROW_PX) - 1),
    onScroll,
    onPush: useCallback(() => {
      pushedAt.current = performance.now();
    }, []),
    showRow: useCallback((row) => moveTo(offsetShowing(map, position.current.offset, row)), [map, moveTo]),
    scrollRows: useCallback((rows) => moveTo(position.current.offset + rows * ROW_PX), [moveTo]),
    scrollInline: useCallback(
      (scrolled) => {
        if (ref.current) ref.current.scrollLeft = isRightToLeft ? -scrolled : scrolled;
      },
      [isRightToLeft],
    ),
    offset: useCallback(() => position.current.offset, []),
  };
}

const isSame = (left: ScrollView, right: ScrollView) =>
  left.first === right.first &&
  left.end === right.end &&
  left.shift === right.shift &&
  left.direction === right.direction &&
  // Columns are drawn some hundred pixels beyond the visible part.
  Math.abs(left.scrolledInline - right.scrolledInline) < 100;
