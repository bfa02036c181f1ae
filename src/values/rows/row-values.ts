import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { memoByObject } from '../../kernel/memo.ts';
import { isoText } from '../../kernel/time.ts';
import { fileWriter } from '../types/file-text.ts';
import { type ColumnShape, type RowShape, rowWriter } from './encode.ts';

/** Converts one row to a record: the result of `JSON.parse` on the text that `rowWriter` writes, three times as fast. */
export type RowReader = (row: readonly unknown[]) => JsonObject;

/** Returns the reader of a shape. Records share no values, so callers may change them. */
export const rowReader: (shape: RowShape) => RowReader = memoByObject(compileReader);

type ReadValue = (value: unknown, row: readonly unknown[]) => JsonValue;

function compileReader(shape: RowShape): RowReader {
  const { columns, expandedClass, outputClass } = shape;
  if (expandedClass !== undefined || outputClass !== undefined || columns.some(({ paths }) => paths)) {
    // Rare shapes.
    const write = rowWriter(shape);
    return (row) => JSON.parse(write(row)) as JsonObject;
  }
  const inRow = columns.filter(({ storage }) => storage !== 'relation');
  const names = inRow.map(({ name }) => name);
  const read = inRow.map(readerOf);
  const ofNull = inRow.map(({ storage, keepNull }) => (storage === 'acl' ? 'empty' : keepNull ? 'null' : 'absent'));
  const relations = columns.filter(({ storage }) => storage === 'relation');
  const count = inRow.length;
  return (row) => {
    const record: JsonObject = {};
    for (let at = 0; at < count; at++) {
      const value = row[at];
      const name = names[at] as string;
      if (value !== null) record[name] = (read[at] as ReadValue)(value, row);
      else if (ofNull[at] !== 'absent') record[name] = ofNull[at] === 'empty' ? {} : null;
    }
    for (const { name, targetClass = '' } of relations) record[name] = { __type: 'Relation', className: targetClass };
    return record;
  };
}

function readerOf({ storage, targetClass = '', file }: ColumnShape): ReadValue {
  const write = file && fileWriter(file);
  if (write) return (value, row) => JSON.parse(write(value as string, row)) as JsonValue;
  switch (storage) {
    case 'text':
      return (value) => value as string;
    case 'boolean':
      return Boolean;
    case 'date':
      return (value) => ({ __type: 'Date', iso: isoText(value as number) });
    case 'instant':
      return (value) => isoText(value as number);
    case 'pointer':
      return (value) => ({ __type: 'Pointer', className: targetClass, objectId: value as string });
    case 'number':
      // JSON has no other zero.
      return (value) => Number(value) + 0;
    default:
      return (value) => JSON.parse(value as string) as JsonValue;
  }
}
