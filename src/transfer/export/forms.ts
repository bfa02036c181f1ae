import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { cellWriter } from './cells.ts';
import type { Column } from './columns.ts';

/** An output format: a text before the records, the records page by page, a text after them. */
export interface Form {
  readonly begin: string;
  /** Returns the text of a page. Pages must be passed in order. */
  write(rows: readonly JsonObject[]): string;
  readonly end: string;
}

const BYTE_ORDER_MARK = '\uFEFF';
const LINE_END = '\r\n';

/** CSV by RFC 4180, with a header row. */
export function csvForm(columns: readonly Column[], { bom, raw }: { readonly bom: boolean; readonly raw: boolean }): Form {
  const cells = columns.map(({ name, type }) => ({ path: name.split('.'), write: cellWriter(type, raw) }));
  const rowOf = (row: JsonObject) => {
    let text = '';
    let separator = '';
    for (const { path, write } of cells) {
      text += separator + write(valueAt(row, path));
      separator = ',';
    }
    return text;
  };
  return {
    begin: `${bom ? BYTE_ORDER_MARK : ''}${columns.map(({ name }) => name).join(',')}${LINE_END}`,
    write(rows) {
      let text = '';
      for (const row of rows) text += rowOf(row) + LINE_END;
      return text;
    },
    end: '',
  };
}

/** One record per line, in wire form. */
export const ndjsonForm = (): Form => ({
  begin: '',
  write(rows) {
    let text = '';
    for (const row of rows) text += `${JSON.stringify(row)}\n`;
    return text;
  },
  end: '',
});

/** One object, like an export of Parse. */
export function jsonForm(): Form {
  let separator = '\n';
  return {
    begin: '{"results":[',
    write(rows) {
      let text = '';
      for (const row of rows) {
        text += separator + JSON.stringify(row);
        separator = ',\n';
      }
      return text;
    },
    end: '\n]}\n',
  };
}

function valueAt(row: JsonObject, path: readonly string[]): JsonValue | undefined {
  let value: JsonValue | undefined = row;
  for (const name of path) value = isJsonObject(value) ? own(value, name) : undefined;
  return value;
}
