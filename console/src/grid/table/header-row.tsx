// biome-ignore-all lint/a11y/useSemanticElements: a table of a million rows cannot be an HTML table
import { type KeyboardEvent, type PointerEvent, type RefObject, useRef, useState } from 'react';
import { MAX_WIDTH, MIN_WIDTH } from '../columns/columns.ts';
import type { Sort } from '../columns/order.ts';
import { gridWords, isRightToLeft } from '../words/index.ts';
import { HEADER_ROW } from './cursor.ts';
import type { Column, Layout } from './layout.ts';

/** A pointer that moves farther drags; otherwise it clicks. */
const DRAG_PX = 6;
const KEY_STEP_PX = 16;

export interface HeaderActions {
  sort(column: Column, isAdded: boolean): void;
  openMenu(column: Column, at: number, opener: HTMLElement): void;
  resize(column: Column, width: number): void;
  moveBefore(column: Column, before: Column | null): void;
}

export interface HeaderRowProps {
  readonly layout: Layout;
  readonly sorts: readonly Sort[];
  readonly activeColumn: number;
  readonly grid: RefObject<HTMLDivElement | null>;
  readonly actions: HeaderActions;
}

/** The names of the columns: a click sorts, dragging the cell moves the column, dragging its end resizes it. */
export function HeaderRow({ layout, sorts, activeColumn, grid, actions }: HeaderRowProps) {
  const [dropAt, setDropAt] = useState<string | null>(null);
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: cells take the focus, not rows
    <div role="row" aria-rowindex={1} className="g-row g-head-row">
      {layout.columns.map((column, at) => {
        const sortAt = sorts.findIndex(({ field }) => field === column.field.name);
        return (
          <HeaderCell
            key={column.field.name}
            column={column}
            at={at}
            sort={sorts[sortAt] ?? null}
            sortNumber={sorts.length > 1 ? sortAt + 1 : 0}
            isActive={activeColumn === at}
            isDropTarget={dropAt === column.field.name}
            grid={grid}
            layout={layout}
            actions={actions}
            onDropAt={setDropAt}
          />
        );
      })}
    </div>
  );
}

interface HeaderCellProps {
  readonly column: Column;
  readonly at: number;
  readonly sort: Sort | null;
  readonly sortNumber: number;
  readonly isActive: boolean;
  readonly isDropTarget: boolean;
  readonly grid: RefObject<HTMLDivElement | null>;
  readonly layout: Layout;
  readonly actions: HeaderActions;
  onDropAt(field: string | null): void;
}

function HeaderCell({ column, at, sort, sortNumber, isActive, isDropTarget, grid, layout, actions, onDropAt }: HeaderCellProps) {
  const hasMoved = useRef(false);
  const label = `grid-header-${column.field.name}`;
  const drag = dragOf(column, layout, grid, actions, hasMoved, onDropAt);
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (event.altKey && step !== 0) {
      event.preventDefault();
      event.stopPropagation();
      actions.resize(column, column.width + (isRightToLeft ? -step : step) * KEY_STEP_PX);
    } else if (
      (event.altKey && event.key === 'ArrowDown') ||
      event.key === 'ContextMenu' ||
      (event.shiftKey && event.key === 'F10')
    ) {
      event.preventDefault();
      event.stopPropagation();
      actions.openMenu(column, at, event.currentTarget);
    } else if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      event.stopPropagation();
      actions.sort(column, event.shiftKey);
    }
  };
  const className = `g-cell g-header${column.isPinned ? ' g-pinned' : ''}${column.isLastPinned ? ' g-pinned-last' : ''}${column.field.type === 'Number' ? ' g-number' : ''}${isDropTarget ? ' g-drop' : ''}`;
  return (
    <div
      role="columnheader"
      aria-colindex={at + 1}
      aria-sort={sort ? (sort.isDescending ? 'descending' : 'ascending') : 'none'}
      aria-labelledby={label}
      className={className}
      style={column.style}
      tabIndex={isActive ? 0 : -1}
      data-row={HEADER_ROW}
      data-column={at}
      title={column.label === column.field.name ? column.label : `${column.label} (${column.field.name})`}
      onKeyDown={onKeyDown}
      onClick={(event) => {
        if (!hasMoved.current) actions.sort(column, event.shiftKey);
        hasMoved.current = false;
      }}
      {...drag}
    >
      <span className="g-label">
        <bdi id={label}>{column.label}</bdi>
      </span>
      {sort ? (
        <span className="g-sort" aria-hidden="true">
          {sort.isDescending ? '↓' : '↑'}
          {sortNumber > 0 ? <small>{sortNumber}</small> : null}
        </span>
      ) : null}
      <button
        type="button"
        className="g-menu-button"
        tabIndex={-1}
        aria-label={gridWords.columns.menu(column.label)}
        aria-haspopup="menu"
        onPointerDown={(event) => event.stopPropagation()}
        onClick={(event) => {
          event.stopPropagation();
          actions.openMenu(column, at, event.currentTarget);
        }}
      >
        <span aria-hidden="true" className="g-caret" />
      </button>
      <ResizeHandle column={column} at={at} grid={grid} actions={actions} />
    </div>
  );
}

/** Moves a column with the pointer; the column's menu does it without one. */
function dragOf(
  column: Column,
  layout: Layout,
  grid: RefObject<HTMLDivElement | null>,
  actions: HeaderActions,
  hasMoved: RefObject<boolean>,
  onDropAt: (field: string | null) => void,
) {
  if (column.isTitle) return {};
  const targetAt = (clientX: number): Column | null => {
    const headers = [...(grid.current?.querySelectorAll<HTMLElement>('[role=columnheader]') ?? [])];
    const element = headers.find((one) => {
      const box = one.getBoundingClientRect();
      return clientX >= box.left && clientX < box.right;
    });
    const target = layout.columns[Number(element?.dataset.column ?? -1)];
    return target && !target.isTitle && target.isPinned === column.isPinned ? target : null;
  };
  return {
    onPointerDown: (event: PointerEvent<HTMLDivElement>) => {
      hasMoved.current = false;
      if (event.button !== 0 || event.pointerType === 'touch') return;
      const start = event.clientX;
      const end = new AbortController();
      const finish = (up: globalThis.PointerEvent | null) => {
        end.abort();
        onDropAt(null);
        const target = up && hasMoved.current ? targetAt(up.clientX) : null;
        if (!target || target === column) return;
        const isOn = target.start > column.start;
        const after = layout.columns[layout.columns.indexOf(target) + 1] ?? null;
        actions.moveBefore(column, isOn ? after : target);
      };
      addEventListener(
        'pointermove',
        (move) => {
          if (Math.abs(move.clientX - start) > DRAG_PX) hasMoved.current = true;
          if (hasMoved.current) onDropAt(targetAt(move.clientX)?.field.name ?? null);
        },
        { signal: end.signal },
      );
      addEventListener('pointerup', finish, { signal: end.signal });
      addEventListener('pointercancel', () => finish(null), { signal: end.signal });
    },
  };
}

interface ResizeHandleProps {
  readonly column: Column;
  readonly at: number;
  readonly grid: RefObject<HTMLDivElement | null>;
  readonly actions: HeaderActions;
}

/** For the pointer only: the header's menu and Alt with an arrow do the same. During a drag only a CSS variable changes. */
function ResizeHandle({ column, at, grid, actions }: ResizeHandleProps) {
  const start = useRef<{ x: number; width: number } | null>(null);
  const widthAt = (event: PointerEvent) => {
    if (!start.current) return column.width;
    const delta = (event.clientX - start.current.x) * (isRightToLeft ? -1 : 1);
    return Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, start.current.width + delta));
  };
  return (
    <div
      aria-hidden="true"
      className="g-resize"
      onPointerDown={(event) => {
        event.stopPropagation();
        event.currentTarget.setPointerCapture(event.pointerId);
        start.current = { x: event.clientX, width: column.width };
      }}
      onPointerMove={(event) => {
        if (start.current) grid.current?.style.setProperty(`--w${at}`, `${widthAt(event)}px`);
      }}
      onPointerUp={(event) => {
        if (start.current) actions.resize(column, widthAt(event));
        start.current = null;
      }}
      onPointerCancel={() => {
        grid.current?.style.setProperty(`--w${at}`, `${column.width}px`);
        start.current = null;
      }}
      onClick={(event) => event.stopPropagation()}
    />
  );
}
