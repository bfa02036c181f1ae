import type { ColumnState } from '../../../../src/console/protocol/protocol.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';
import { columnsText, parseColumns } from '../columns/columns.ts';
import { parseObject } from '../filter/json.ts';

/** The view in an address. A part that is `null` is not in the address; the saved view or the table then decides. */
export interface AddressedView {
  readonly viewId: string | null;
  readonly where: JsonObject | null;
  readonly order: string | null;
  readonly columns: readonly ColumnState[] | null;
  /** Whether there is a `where` that is not a JSON object. */
  readonly isWhereBroken: boolean;
}

/** @param search as of `location.search` */
export function parseAddress(search: string): AddressedView {
  const parameters = new URLSearchParams(search);
  const whereText = parameters.get('where');
  const where = whereText ? parseObject(whereText) : null;
  const columns = parameters.get('columns');
  return {
    viewId: parameters.get('view') || null,
    where,
    order: parameters.get('order'),
    columns: columns ? parseColumns(columns) : null,
    isWhereBroken: !!whereText && where === null,
  };
}

/** Returns the address of a view. Parameters that do not belong to a view are kept. */
export function addressOf(view: Omit<AddressedView, 'isWhereBroken'>, search = ''): string {
  const parameters = new URLSearchParams(search);
  const set = (name: string, value: string | null) => (value === null ? parameters.delete(name) : parameters.set(name, value));
  set('view', view.viewId);
  set('where', view.where && JSON.stringify(view.where));
  set('order', view.order);
  set('columns', view.columns && columnsText(view.columns));
  const text = parameters.toString();
  return text === '' ? '' : `?${text}`;
}
