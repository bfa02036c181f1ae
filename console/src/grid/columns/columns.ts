import type { ColumnState, FieldModel, TableModel } from '../../../../src/console/protocol/protocol.ts';

export const MIN_WIDTH = 64;
export const MAX_WIDTH = 800;
/** Number of columns that a table opens with; all others can be added. */
const MAX_FIRST_COLUMNS = 30;

/** The last columns of the default arrangement. */
const lastFields = ['createdAt', 'updatedAt'];
/** Not part of the default arrangement. */
const hiddenFields = new Set(['objectId', 'ACL', 'createdBy', 'updatedBy']);

const usualWidths: Readonly<Record<FieldModel['type'], number>> = {
  String: 180,
  Number: 120,
  Boolean: 96,
  Date: 152,
  Pointer: 168,
  Relation: 120,
  File: 180,
  PrivateFile: 180,
  Array: 200,
  Object: 200,
  'HTML/XML': 240,
  ACL: 140,
};

/** Returns the field that names a row: its column comes first and opens the record. */
export function titleField(table: TableModel): string | null {
  const names = new Set(table.fields.map(({ name }) => name));
  if (names.has('Name')) return 'Name';
  return table.titleFields.find((name) => names.has(name)) ?? (names.has('objectId') ? 'objectId' : null);
}

export const usualWidth = (field: FieldModel, isTitle: boolean) => (isTitle ? 260 : usualWidths[field.type]);

/** Returns the default columns of a table. */
export function usualColumns(table: TableModel): readonly ColumnState[] {
  const title = titleField(table);
  const names = table.fields.map(({ name }) => name).filter((name) => !hiddenFields.has(name) && !name.startsWith('_'));
  const inner = names.filter((name) => name !== title && !lastFields.includes(name)).slice(0, MAX_FIRST_COLUMNS - 3);
  const last = lastFields.filter((name) => names.includes(name));
  return arranged(
    table,
    [...inner, ...last].map((field) => ({ field })),
  );
}

/** Normalises columns: existing fields only, each once, the title first, then the pinned ones. */
export function arranged(table: TableModel, columns: readonly ColumnState[]): readonly ColumnState[] {
  const known = new Set(table.fields.map(({ name }) => name));
  const title = titleField(table);
  const seen = new Set<string>();
  const kept = columns.filter(({ field }) => known.has(field) && !seen.has(field) && seen.add(field));
  const first = title === null ? [] : [{ ...kept.find(({ field }) => field === title), field: title, isPinned: true }];
  const rest = kept.filter(({ field }) => field !== title);
  return [...first, ...rest.filter(({ isPinned }) => isPinned), ...rest.filter(({ isPinned }) => !isPinned)];
}

export function withWidth(columns: readonly ColumnState[], field: string, width: number): readonly ColumnState[] {
  const within = Math.round(Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, width)));
  return columns.map((column) => (column.field === field ? { ...column, width: within } : column));
}

export function withPin(columns: readonly ColumnState[], field: string, isPinned: boolean): readonly ColumnState[] {
  return columns.map((column) => {
    if (column.field !== field) return column;
    const { isPinned: _, ...rest } = column;
    return isPinned ? { ...rest, isPinned } : rest;
  });
}

export function withShown(columns: readonly ColumnState[], field: string, isShown: boolean): readonly ColumnState[] {
  const others = columns.filter((column) => column.field !== field);
  return isShown ? [...others, { field }] : others;
}

/** Returns whether a column can move by one: the title stays first, and pinned columns stay among themselves. */
export function canMove(columns: readonly ColumnState[], at: number, step: 1 | -1): boolean {
  const moved = columns[at];
  const passed = columns[at + step];
  return at > 0 && at + step > 0 && !!moved && !!passed && !!moved.isPinned === !!passed.isPinned;
}

/** Moves a column before another, or to the end if that is `null`. */
export function movedBefore(columns: readonly ColumnState[], field: string, before: string | null): readonly ColumnState[] {
  const moved = columns.find((column) => column.field === field);
  if (!moved || field === before) return columns;
  const others = columns.filter((column) => column !== moved);
  const at = before === null ? others.length : others.findIndex((column) => column.field === before);
  return at < 0 ? columns : [...others.slice(0, at), moved, ...others.slice(at)];
}

export function movedBy(columns: readonly ColumnState[], at: number, step: 1 | -1): readonly ColumnState[] {
  const moved = columns[at];
  const passed = columns[at + step];
  if (!moved || !passed || !canMove(columns, at, step)) return columns;
  const swapped = [...columns];
  swapped[at] = passed;
  swapped[at + step] = moved;
  return swapped;
}

/** Returns the columns as in an address: `Name:260!,City,Sum:90`; `!` means pinned. */
export function columnsText(columns: readonly ColumnState[]): string {
  return columns
    .map(({ field, width, isPinned }) => `${field}${width === undefined ? '' : `:${width}`}${isPinned ? '!' : ''}`)
    .join(',');
}

/** Parses columns of an address; ignores invalid parts. */
export function parseColumns(text: string): readonly ColumnState[] {
  return text.split(',').flatMap((part): ColumnState[] => {
    const [, field, width, pin] = /^([A-Za-z_]\w*)(?::(\d{1,4}))?(!)?$/.exec(part) ?? [];
    if (field === undefined) return [];
    const within = width === undefined ? undefined : Math.min(MAX_WIDTH, Math.max(MIN_WIDTH, Number(width)));
    return [{ field, ...(within === undefined ? {} : { width: within }), ...(pin ? { isPinned: true } : {}) }];
  });
}
