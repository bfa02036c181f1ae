import { QueryClient, type QueryFilters } from '@tanstack/react-query';

/** What the service said, kept for the pages. Requests are not repeated here: the watch of changes asks again when the service is back (`changes.ts`). */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: 15_000, networkMode: 'always', refetchOnReconnect: false },
    mutations: { retry: false, networkMode: 'always' },
  },
});

/** Keys: all of a table's answers begin alike, so that a change of the table renews them. */
export const keys = {
  model: (appId: string) => [appId, 'model'] as const,
  table: (appId: string, table: string) => [appId, 'table', table] as const,
  record: (appId: string, table: string, id: string) => [appId, 'table', table, 'record', id] as const,
  history: (appId: string, table: string, id: string) => [appId, 'table', table, 'history', id] as const,
  related: (appId: string) => [appId, 'related'] as const,
  search: (appId: string, tables: string, query: string) => [appId, 'search', tables, query] as const,
};

/**
 * Asks again for what somebody changed. A request that is under way may have read what was there before: its answer is shown, and asked for
 * once more. It is not ended, or changes in a row would keep a slow answer away for good.
 */
export function outdate(filters: QueryFilters = {}): void {
  const underWay = queryClient.getQueryCache().findAll({ ...filters, fetchStatus: 'fetching' });
  queryClient.invalidateQueries(filters, { cancelRefetch: false });
  for (const { queryKey, promise } of underWay) {
    const again = () => queryClient.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false });
    promise?.then(again, () => undefined);
  }
}
