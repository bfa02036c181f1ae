import type { ColumnState, SavedView, TableModel } from '../../../../src/console/protocol/protocol.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';
import { arranged, columnsText, usualColumns } from '../columns/columns.ts';
import type { AddressedView } from './address.ts';

/** What a grid shows. */
export interface ViewState {
  readonly where: JsonObject;
  readonly order: string;
  readonly columns: readonly ColumnState[];
}

/** The address decides, then the saved view, then the table. */
export function viewState(address: AddressedView, saved: SavedView | null, table: TableModel): ViewState {
  const columns = address.columns ?? (saved && saved.columns.length > 0 ? saved.columns : usualColumns(table));
  return {
    where: address.where ?? saved?.where ?? {},
    order: address.order ?? saved?.order ?? '',
    columns: arranged(table, columns),
  };
}

/** The address of a state: what the saved view, or the table, says by itself is left out. */
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

/** Whether the address says other than the saved view does. */
export const isChanged = (address: AddressedView) => address.where !== null || address.order !== null || address.columns !== null;

const sameJson = (left: JsonObject, right: JsonObject) => JSON.stringify(left) === JSON.stringify(right);
