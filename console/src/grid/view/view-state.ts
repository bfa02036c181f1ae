import type { ColumnState, SavedView, TableModel } from '../../../../src/console/protocol/protocol.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';
import { arranged, columnsText, usualColumns } from '../columns/columns.ts';
import type { AddressedView } from './address.ts';

/** The state of a grid. */
export interface ViewState {
  readonly where: JsonObject;
  readonly order: string;
  readonly columns: readonly ColumnState[];
}

/** Returns the state: from the address, else from the saved view, else from the table. */
export function viewState(address: AddressedView, saved: SavedView | null, table: TableModel): ViewState {
  const columns = address.columns ?? (saved && saved.columns.length > 0 ? saved.columns : usualColumns(table));
  return {
    where: address.where ?? saved?.where ?? {},
    order: address.order ?? saved?.order ?? '',
    columns: arranged(table, columns),
  };
}

/** Returns the address of a state without the parts that equal the saved view's or the table's. */
export function addressedView(state: ViewState, saved: SavedView | null, table: TableModel): AddressedView {
  const base = viewState({ viewId: null, where: null, order: null, columns: null, isWhereBroken: false }, saved, table);
  return {
    viewId: saved?.objectId ?? null,
    where: sameJson(state.where, base.where) ? null : state.where,
    order: state.order === base.order ? null : state.order,
    columns: columnsText(state.columns) === columnsText(base.columns) ? null : state.columns,
    isWhereBroken: false,
  };
}

/** Returns whether the address differs from the saved view. */
export const isChanged = (address: AddressedView) => address.where !== null || address.order !== null || address.columns !== null;

const sameJson = (left: JsonObject, right: JsonObject) => JSON.stringify(left) === JSON.stringify(right);
