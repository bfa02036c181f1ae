import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import type { HistoryAnswer, Model, RecordAnswer, RelatedAnswer, SearchAnswer } from '../../../src/console/protocol/protocol.ts';
import { markChanges } from './changes.ts';
import { call } from './client.ts';
import { keys } from './query-client.ts';

/** The system as the user may see it. */
export function useModelQuery(appId: string) {
  return useQuery({
    queryKey: keys.model(appId),
    queryFn: async ({ signal }) => {
      const [model] = await Promise.all([call<Model>(appId, 'GET', 'model', { signal }), markChanges(appId, signal)]);
      return model;
    },
    staleTime: Number.POSITIVE_INFINITY,
    // Keeps object identity if tables and rights are unchanged.
    structuralSharing: true,
  });
}

export function useRecordQuery(appId: string, table: string, id: string, enabled = true) {
  return useQuery({
    queryKey: keys.record(appId, table, id),
    queryFn: ({ signal }) =>
      call<RecordAnswer>(appId, 'GET', `records/${encodeURIComponent(table)}/${encodeURIComponent(id)}`, { signal }),
    staleTime: 0,
    enabled,
  });
}

export function useRelatedQuery(appId: string, table: string, id: string, enabled = true) {
  return useQuery({
    queryKey: [...keys.related(appId), table, id],
    queryFn: ({ signal }) =>
      call<RelatedAnswer>(appId, 'GET', `related/${encodeURIComponent(table)}/${encodeURIComponent(id)}`, { signal }),
    enabled,
  });
}

export function useHistoryQuery(appId: string, table: string, id: string) {
  return useInfiniteQuery({
    queryKey: keys.history(appId, table, id),
    queryFn: ({ pageParam, signal }) =>
      call<HistoryAnswer>(
        appId,
        'GET',
        `history/${encodeURIComponent(table)}/${encodeURIComponent(id)}${pageParam ? `?before=${encodeURIComponent(pageParam)}` : ''}`,
        { signal },
      ),
    initialPageParam: '',
    getNextPageParam: (page) => page.next ?? undefined,
  });
}

/** @param tables names, or empty for all. */
export function useSearchQuery(appId: string, query: string, tables: string, limit: number, enabled: boolean) {
  return useQuery({
    queryKey: [...keys.search(appId, tables, query), limit],
    queryFn: ({ signal }) => {
      const parameters = new URLSearchParams({ q: query, limit: String(limit), ...(tables ? { tables } : {}) });
      return call<SearchAnswer>(appId, 'GET', `search?${parameters}`, { signal });
    },
    enabled,
    placeholderData: keepPreviousData,
  });
}
