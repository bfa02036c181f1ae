// biome-ignore-all lint/a11y/useSemanticElements: a table of a million rows cannot be an HTML table
import {
  type ClipboardEvent,
  type CSSProperties,
  type KeyboardEvent,
  type MouseEvent,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { flushSync } from 'react-dom';
import type { ColumnState, FieldModel, TableModel } from '../../../../src/console/protocol/protocol.ts';
import { useSystem } from '../../api/system.tsx';
import { announce } from '../../ui/announce.tsx';
import { cellText, fieldValue } from '../cells/cell-text.ts';
import type { Sort } from '../columns/order.ts';
import { ConflictDialog } from '../edit/conflict-dialog.tsx';
import { type EditState, hasEditor } from '../edit/edit-state.ts';
import { useEditing } from '../edit/use-editing.ts';
import { LEFT_OUT } from '../rows/blocks.ts';
import type { Row } from '../rows/row-source.ts';
import type { GridRows } from '../rows/use-grid-rows.ts';
import { gridWords, isRightToLeft } from '../words/index.ts';
import { type Cell, HEADER_ROW, isTyped, moved, nextEditable } from './cursor.ts';
import { GridRow } from './grid-row.tsx';
import { type HeaderActions, HeaderRow } from './header-row.tsx';
import { columnsInWindow, layoutOf, layoutVariables, scrolledShowing } from './layout.ts';
import { notedPlace, notePlace } from './place.ts';
import { HEADER_PX, ROW_PX, useScroll } from './use-scroll.ts';

export interface DataGridProps {
  readonly table: TableModel;
  readonly columns: readonly ColumnState[];
  readonly sorts: readonly Sort[];
  readonly rows: GridRows;
  readonly headerActions: HeaderActions;
  openRecord(objectId: string): void;
}

const NO_EDITS: readonly EditState[] = [];

/** The rows of a table as an ARIA grid: visible rows are drawn, the keyboard reaches all. */
export function DataGrid({ table, columns, sorts, rows, headerActions, openRecord }: DataGridProps) {
  const { format, fieldLabelOf, labelOf } = useSystem();
  const { source, rowCount } = rows;
  const [savedPlace] = useState(notedPlace);
  const [cell, setCell] = useState<Cell>(savedPlace?.cell ?? { row: HEADER_ROW, column: 0 });
  /** The cell without an editor that the user tried to edit, and the reason. */
  const [closed, setClosed] = useState<(Cell & { readonly text: string }) | null>(null);
  const takesFocus = useRef(savedPlace !== null);
  const scroll = useScroll(rowCount, isRightToLeft, savedPlace?.offset ?? 0);
  const { view, size, ref } = scroll;
  const labelOfField = useCallback((field: FieldModel) => fieldLabelOf(table.name, field.name), [fieldLabelOf, table.name]);
  const layout = useMemo(() => layoutOf(table, columns, labelOfField, size.width), [table, columns, labelOfField, size.width]);
  const variables = useMemo(() => layoutVariables(layout), [layout]);
  const window = columnsInWindow(layout, view.scrolledInline, size.width);
  // biome-ignore lint/correctness/useExhaustiveDependencies: an equal span stays the same object, so that rows are not drawn again
  const span = useMemo(() => window, [window.first, window.end]);
  const activeColumn = Math.min(cell.column, layout.columns.length - 1);

  useEffect(
    () => source.want(view.first, view.end, rowCount, view.direction),
    [source, view.first, view.end, view.direction, rowCount],
  );

  const goTo = useCallback(
    (next: Cell) => {
      takesFocus.current = true;
      setClosed(null);
      setCell(next);
      if (next.row !== HEADER_ROW) scroll.showRow(next.row);
      const scrolled = Math.abs(ref.current?.scrollLeft ?? 0);
      const wanted = scrolledShowing(layout, next.column, scrolled, size.width);
      if (wanted !== scrolled) scroll.scrollInline(wanted);
    },
    [layout, scroll.showRow, scroll.scrollInline, ref, size.width],
  );

  const canEditColumn = (at: number) => {
    const column = layout.columns[at];
    return table.may.update && !!column && hasEditor(column.field);
  };
  const editing = useEditing({
    table: table.name,
    source,
    onLeft: (step) => {
      takesFocus.current = true;
      const next = step === 0 ? null : nextEditable(cell, step, layout.columns.length, canEditColumn);
      if (!next) return setCell({ ...cell });
      // The cell gets the focus before its editor, so that the focus returns there.
      flushSync(() => goTo(next));
      begin(next, false);
    },
  });

  const begin = (at: Cell, startsEmpty: boolean): boolean => {
    const row = source.row(at.row);
    const field = layout.columns[at.column]?.field;
    if (!row || !field || !canEditColumn(at.column) || source.isGone(String(row.record.objectId))) return false;
    // The value is edited on the record's page, which has all of it.
    if (fieldValue(row.record, field.name) === LEFT_OUT) return false;
    if (field.type === 'Boolean') {
      if (startsEmpty) return false;
      const base = fieldValue(row.record, field.name);
      editing.save({
        kind: 'editing',
        objectId: String(row.record.objectId),
        field,
        base,
        value: base !== true,
        names: row.names,
      });
      return true;
    }
    // The editor takes the focus now, so that the key that opened it is typed into it.
    flushSync(() => editing.begin(row, field, startsEmpty));
    return true;
  };

  // biome-ignore lint/correctness/useExhaustiveDependencies: the cell takes the focus once it is drawn, wherever the window moved
  useLayoutEffect(() => {
    if (!takesFocus.current || editing.isEditing) return;
    const element = ref.current?.querySelector<HTMLElement>(`[data-row="${cell.row}"][data-column="${activeColumn}"]`);
    element?.focus({ preventScroll: true });
    if (element) takesFocus.current = false;
  }, [cell, activeColumn, view, span, editing.isEditing]);

  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    const at = cellOf(event.target);
    if (!at || event.defaultPrevented) return;
    const extent = { rowCount, columnCount: layout.columns.length, pageRows: scroll.pageRows, isRightToLeft };
    const next = event.altKey ? null : moved(at, event, extent);
    if (next) {
      event.preventDefault();
      if (event.key.startsWith('Page')) scroll.scrollRows(event.key === 'PageDown' ? scroll.pageRows : -scroll.pageRows);
      goTo(next);
      return;
    }
    const row = source.row(at.row);
    if (!row || event.altKey) return;
    const isTitle = layout.columns[at.column]?.isTitle;
    if (event.key === 'Enter' && table.may.get && (isTitle || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      leaveTo(row);
    } else if (
      event.key === 'Enter' ||
      event.key === 'F2' ||
      (event.key === ' ' && layout.columns[at.column]?.field.type === 'Boolean')
    ) {
      event.preventDefault();
      if (begin(at, false)) return;
      if (event.key === 'Enter' && table.may.get) leaveTo(row);
      else sayClosed(at);
    } else if (isTyped(event) && !begin(at, true)) sayClosed(at);
  };

  /** Announces that a cell has no editor; a Boolean takes no text. */
  const sayClosed = (at: Cell) => {
    const field = layout.columns[at.column]?.field;
    const row = source.row(at.row);
    if (!field || !row || (field.type === 'Boolean' && canEditColumn(at.column))) return;
    const isOnPage = table.may.update && table.may.get && !field.isReadOnly && !source.isGone(String(row.record.objectId));
    const text = isOnPage ? gridWords.edit.onPage : gridWords.edit.readOnly;
    announce(text);
    setClosed({ ...at, text });
  };

  const leaveTo = (row: Row) => {
    notePlace({ offset: scroll.offset(), cell });
    openRecord(String(row.record.objectId));
  };

  const textAt = (at: Cell): string | null => {
    const column = layout.columns[at.column];
    const row: Row | undefined = source.row(at.row);
    if (!column || !row) return null;
    const { yes, no } = gridWords.rows;
    return cellText(fieldValue(row.record, column.field.name), column.field, row.names, { format, yes, no });
  };
  const onCopy = (event: ClipboardEvent<HTMLDivElement>) => {
    const at = cellOf(event.target);
    const text = at && document.getSelection()?.isCollapsed !== false ? textAt(at) : null;
    if (text === null) return;
    event.preventDefault();
    event.clipboardData.setData('text/plain', text);
    announce(gridWords.edit.copied);
  };
  const onClick = (event: MouseEvent<HTMLDivElement>) => {
    const link = (event.target as Element).closest('a');
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey && event.button === 0) {
      const at = cellOf(link.parentElement);
      const row = at && source.row(at.row);
      if (!row) return;
      event.preventDefault();
      leaveTo(row);
    }
  };

  const drawn = rowsDrawn(view.first, view.end, cell.row, rowCount);
  return (
    <>
      <div
        ref={ref}
        role="grid"
        className="g-grid"
        aria-label={gridWords.grid.label(labelOf(table.name))}
        aria-rowcount={rows.count === null ? -1 : rows.count + 1}
        aria-colcount={layout.columns.length}
        aria-busy={rows.isLoading}
        aria-readonly={!table.may.update}
        style={{ ...variables, scrollPaddingBlockStart: HEADER_PX } as CSSProperties}
        onScroll={scroll.onScroll}
        onWheel={scroll.onPush}
        onTouchMove={scroll.onPush}
        onKeyDown={onKeyDown}
        onCopy={onCopy}
        onClick={onClick}
        onFocus={(event) => {
          const at = cellOf(event.target);
          if (!at || (at.row === cell.row && at.column === cell.column)) return;
          setCell(at);
          setClosed(null);
        }}
        onDoubleClick={(event) => {
          const at = cellOf(event.target);
          if (at && at.row !== HEADER_ROW && !(event.target as Element).closest('a, input, textarea') && !begin(at, false))
            sayClosed(at);
        }}
      >
        <div role="rowgroup" className="g-head">
          <HeaderRow
            layout={layout}
            sorts={sorts}
            activeColumn={cell.row === HEADER_ROW ? activeColumn : -1}
            grid={ref}
            actions={headerActions}
          />
        </div>
        <div role="rowgroup" className="g-body" style={{ height: scroll.virtualHeight }}>
          {drawn.map((index) => {
            const row = source.row(index);
            const objectId = row ? String(row.record.objectId) : '';
            const edits = editing.edits.filter((edit) => edit.objectId === objectId);
            const top = Math.min(scroll.virtualHeight - ROW_PX, Math.max(0, index * ROW_PX - view.shift));
            return (
              <GridRow
                key={index}
                index={index}
                top={top}
                record={row?.record}
                names={row?.names}
                isGone={source.isGone(objectId)}
                layout={layout}
                span={span}
                activeColumn={cell.row === index ? activeColumn : -1}
                edits={edits.length > 0 ? edits : NO_EDITS}
                editActions={editing.actions}
                table={table.name}
              />
            );
          })}
        </div>
      </div>
      {closed && closed.row === cell.row && closed.column === activeColumn && !editing.isEditing ? (
        <p className="g-closed">{closed.text}</p>
      ) : null}
      {editing.conflict ? <ConflictDialog conflict={editing.conflict} onChoice={editing.resolve} /> : null}
    </>
  );
}

/** Returns the rows of the window, and the focused one wherever it is. */
function rowsDrawn(first: number, end: number, active: number, rowCount: number): readonly number[] {
  const rows = Array.from({ length: Math.max(0, end - first) }, (_, at) => first + at);
  if (active === HEADER_ROW || active >= rowCount) return rows;
  if (active < first) return [active, ...rows];
  return active >= end ? [...rows, active] : rows;
}

/** Returns the cell of an element; `null` for a control inside a cell. */
function cellOf(target: EventTarget | null): Cell | null {
  if (!(target instanceof Element) || target.closest('input, textarea, button, [role=dialog]')) return null;
  const element = target.closest<HTMLElement>('[data-row]');
  return element ? { row: Number(element.dataset.row), column: Number(element.dataset.column) } : null;
}
