import { QueryClient, type QueryFilters } from '@tanstack/react-query';

/** Caches the answers of the service for the pages. It does not retry: the watch of changes refetches when the service is back (`changes.ts`). */
export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: false, staleTime: 15_000, networkMode: 'always', refetchOnReconnect: false },
    mutations: { retry: false, networkMode: 'always' },
  },
});

/** Keys. All queries of a table share a prefix, so that a change of the table invalidates them together. */
export const keys = {
  model: (appId: string) => [appId, 'model'] as const,
  table: (appId: string, table: string) => [appId, 'table', table] as const,
  record: (appId: string, table: string, id: string) => [appId, 'table', table, 'record', id] as const,
  history: (appId: string, table: string, id: string) => [appId, 'table', table, 'history', id] as const,
  related: (appId: string) => [appId, 'related'] as const,
  search: (appId: string, tables: string, query: string) => [appId, 'search', tables, query] as const,
};

/**
 * Refetches what somebody changed. A running request may have read the old state: its answer is shown and then refetched. It is not cancelled,
 * because a series of changes would keep a slow answer away forever.
 */
export function outdate(filters: QueryFilters = {}): void {
  const underWay = queryClient.getQueryCache().findAll({ ...filters, fetchStatus: 'fetching' });
  queryClient.invalidateQueries(filters, { cancelRefetch: false });
  for (const { queryKey, promise } of underWay) {
    const again = () => queryClient.invalidateQueries({ queryKey, exact: true }, { cancelRefetch: false });
    promise?.then(again, () => undefined);
  }
}
