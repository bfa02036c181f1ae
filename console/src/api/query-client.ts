import { QueryClient } from '@tanstack/react-query';

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
