import { useCallback, useMemo } from 'react';
import { useSearch } from 'wouter/use-browser-location';
import type { TableModel } from '../../../../src/console/protocol/protocol.ts';
import { isMissing } from '../../api/failure.ts';
import { useSystem } from '../../api/system.tsx';
import { go } from '../../ui/go.ts';
import { addressOf, parseAddress } from './address.ts';
import { useSavedView } from './use-views.ts';
import { addressedView, isChanged, type ViewState, viewState } from './view-state.ts';

/** Returns the view of the address, and functions that change it: the address is the state. */
export function useView(table: TableModel) {
  const { appId } = useSystem();
  const search = useSearch();
  const address = useMemo(() => parseAddress(search), [search]);
  const query = useSavedView(appId, address.viewId);
  const isOther = query.data !== undefined && query.data.table !== table.name;
  const saved = address.viewId !== null && query.data && !isOther ? query.data : null;
  const state = useMemo(() => viewState(address, saved, table), [address, saved, table]);

  /** @param isReplaced whether to replace the history entry: for steps that need no way back */
  const change = useCallback(
    (part: Partial<ViewState>, isReplaced = false) => {
      const next = addressOf(addressedView({ ...state, ...part }, saved, table), search);
      if (next !== addressOf(address, search)) go(location.pathname + next, { replace: isReplaced });
    },
    [state, saved, table, search, address],
  );
  /** @param viewId `null`: all records in the default arrangement */
  const open = useCallback(
    (viewId: string | null, isReplaced = false) =>
      go(location.pathname + addressOf({ viewId, where: null, order: null, columns: null }, search), { replace: isReplaced }),
    [search],
  );
  return {
    state,
    saved,
    change,
    open,
    isChanged: saved !== null && isChanged(address),
    isWhereBroken: address.isWhereBroken,
    isLoading: address.viewId !== null && query.isPending,
    isMissing: isOther || isMissing(query.error) || (query.isError && address.viewId !== null),
  };
}

export type View = ReturnType<typeof useView>;
