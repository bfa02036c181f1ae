// biome-ignore-all lint/a11y/useSemanticElements: a table of a million rows cannot be an HTML table
import { memo } from 'react';
import type { PointerNames } from '../../../../src/console/protocol/protocol.ts';
import type { JsonObject, JsonValue } from '../../../../src/kernel/json.ts';
import { useSystem } from '../../api/system.tsx';
import { CellContent } from '../cells/cell-content.tsx';
import { cellText, fieldValue, lineOf } from '../cells/cell-text.ts';
import { CellEditor } from '../edit/cell-editor.tsx';
import { CellFailure } from '../edit/cell-failure.tsx';
import { type EditActions, type EditState, isOf } from '../edit/edit-state.ts';
import { gridWords } from '../words/index.ts';
import type { Column, ColumnSpan, Layout } from './layout.ts';

export interface GridRowProps {
  readonly index: number;
  readonly top: number;
  /** `undefined`: not loaded yet. */
  readonly record: JsonObject | undefined;
  readonly names: PointerNames | undefined;
  readonly isGone: boolean;
  readonly layout: Layout;
  readonly span: ColumnSpan;
  /** The focused column, or -1. */
  readonly activeColumn: number;
  /** Edits of cells of this row. */
  readonly edits: readonly EditState[];
  readonly editActions: EditActions;
  readonly table: string;
}

/** A row of the grid with its visible cells. A row that is not loaded is a placeholder, unless it has the keyboard focus. */
export const GridRow = memo(function GridRow(props: GridRowProps) {
  const { index, top, layout, span, record, isGone, activeColumn } = props;
  if (!record && activeColumn < 0)
    // biome-ignore lint/a11y/useFocusableInteractive: cells take the focus, not rows
    return <div role="row" aria-rowindex={index + 2} className="g-row g-row-loading" style={{ top }} aria-busy="true" />;
  const pinned = layout.columns.slice(0, layout.pinnedCount);
  const others = layout.columns.slice(span.first, span.end);
  const skipped = (others[0]?.start ?? layout.pinnedWidth) - layout.pinnedWidth;
  const className = `g-row${isGone ? ' g-row-gone' : ''}${activeColumn >= 0 ? ' g-row-active' : ''}`;
  return (
    // biome-ignore lint/a11y/useFocusableInteractive: cells take the focus, not rows
    <div role="row" aria-rowindex={index + 2} className={className} style={{ top }} aria-busy={record ? undefined : true}>
      {pinned.map((column, at) => (
        <GridCell key={column.field.name} {...props} column={column} at={at} />
      ))}
      {skipped > 0 ? <div className="g-skip" style={{ width: skipped }} /> : null}
      {others.map((column, at) => (
        <GridCell key={column.field.name} {...props} column={column} at={span.first + at} />
      ))}
    </div>
  );
});

interface GridCellProps extends GridRowProps {
  readonly column: Column;
  readonly at: number;
}

function GridCell({ column, at, index, record, names = {}, isGone, activeColumn, edits, editActions, table }: GridCellProps) {
  const { field } = column;
  const edit = record && edits.find((one) => isOf(one, String(record.objectId), field));
  const value = edit?.kind === 'failed' ? edit.value : record ? fieldValue(record, field.name) : null;
  const className = [
    'g-cell',
    column.isPinned ? 'g-pinned' : '',
    column.isLastPinned ? 'g-pinned-last' : '',
    field.type === 'Number' ? 'g-number' : '',
    edit ? `g-${edit.kind}` : '',
  ];
  return (
    <div
      role="gridcell"
      aria-colindex={at + 1}
      aria-invalid={edit?.kind === 'failed' ? true : undefined}
      className={className.filter(Boolean).join(' ')}
      style={column.style}
      tabIndex={activeColumn === at && edit?.kind !== 'editing' ? 0 : -1}
      data-row={index}
      data-column={at}
    >
      {!record ? (
        <span className="g-skeleton" />
      ) : edit?.kind === 'editing' ? (
        <CellEditor edit={edit} label={column.label} actions={editActions} />
      ) : column.isTitle ? (
        <TitleCell table={table} record={record} value={value} column={column} names={names} isGone={isGone} />
      ) : (
        <CellContent value={value} field={field} names={edit?.names ?? names} />
      )}
      {edit?.kind === 'failed' && edit.isLast ? <CellFailure failed={edit} label={column.label} actions={editActions} /> : null}
    </div>
  );
}

interface TitleCellProps {
  readonly table: string;
  readonly record: JsonObject;
  readonly value: JsonValue;
  readonly column: Column;
  readonly names: PointerNames;
  readonly isGone: boolean;
}

function TitleCell({ table, record, value, column, names, isGone }: TitleCellProps) {
  const { paths, format, tables } = useSystem();
  const { yes, no, untitled, gone } = gridWords.rows;
  const text = lineOf(cellText(value, column.field, names, { format, yes, no }));
  const className = text ? 'g-title' : 'g-title g-untitled';
  return (
    <>
      {tables.get(table)?.may.get ? (
        <a className={className} dir="auto" tabIndex={-1} href={paths.record(table, String(record.objectId))}>
          {text || untitled}
        </a>
      ) : (
        <span className={className} dir="auto">
          {text || untitled}
        </span>
      )}
      {isGone ? <span className="g-badge">{gone}</span> : null}
    </>
  );
}
