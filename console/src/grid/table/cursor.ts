/** The focused cell; row -1 is the header. */
export interface Cell {
  readonly row: number;
  readonly column: number;
}

export const HEADER_ROW = -1;

export interface Extent {
  readonly rowCount: number;
  readonly columnCount: number;
  /** Number of rows that a page key moves by. */
  readonly pageRows: number;
  readonly isRightToLeft: boolean;
}

export interface Key {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly shiftKey: boolean;
}

/** Returns the cell that a key moves to; `null`: the key does not move. Arrow keys move visually, in both writing directions. */
export function moved(cell: Cell, pressed: Key, extent: Extent): Cell | null {
  const isFar = pressed.ctrlKey || pressed.metaKey;
  const lastRow = extent.rowCount - 1;
  const lastColumn = extent.columnCount - 1;
  const to = (row: number, column: number): Cell => ({
    row: Math.min(lastRow, Math.max(HEADER_ROW, row)),
    column: Math.min(lastColumn, Math.max(0, column)),
  });
  const { row, column } = cell;
  switch (pressed.key) {
    case 'ArrowUp':
      return to(isFar ? Math.min(row, 0) : row - 1, column);
    case 'ArrowDown':
      return to(isFar ? lastRow : row + 1, column);
    case 'ArrowLeft':
    case 'ArrowRight': {
      const isOn = (pressed.key === 'ArrowRight') !== extent.isRightToLeft;
      if (isFar) return to(row, isOn ? lastColumn : 0);
      return to(row, column + (isOn ? 1 : -1));
    }
    case 'Home':
      return isFar ? to(Math.min(0, lastRow), 0) : to(row, 0);
    case 'End':
      return isFar ? to(lastRow, lastColumn) : to(row, lastColumn);
    case 'PageDown':
      return to(Math.max(row, 0) + extent.pageRows, column);
    case 'PageUp':
      return to(Math.max(0, row - extent.pageRows), column);
    default:
      return null;
  }
}

/** Returns the cell that Tab moves to while cells are edited; `null` if there is none. */
export function nextEditable(cell: Cell, step: 1 | -1, columnCount: number, canEdit: (column: number) => boolean): Cell | null {
  for (let column = cell.column + step; column >= 0 && column < columnCount; column += step)
    if (canEdit(column)) return { row: cell.row, column };
  return null;
}

/** Returns whether a key starts typing in a cell. */
export const isTyped = ({ key, ctrlKey, metaKey }: Key) => !ctrlKey && !metaKey && key !== ' ' && [...key].length === 1;
