import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { SavedView, ViewContent, ViewsAnswer } from '../../../../src/console/protocol/protocol.ts';
import { call } from '../../api/client.ts';
import { outdate } from '../../api/query-client.ts';

const keyOfList = (appId: string, table: string) => [appId, 'views', table] as const;
const keyOfOne = (appId: string, viewId: string) => [appId, 'view', viewId] as const;

/** The saved views of a table that the user may see. */
export function useViewList(appId: string, table: string) {
  return useQuery({
    queryKey: keyOfList(appId, table),
    queryFn: ({ signal }) => call<ViewsAnswer>(appId, 'GET', `views/${encodeURIComponent(table)}`, { signal }),
  });
}

/** The saved view that an address names. */
export function useSavedView(appId: string, viewId: string | null) {
  return useQuery({
    queryKey: keyOfOne(appId, viewId ?? ''),
    queryFn: ({ signal }) => call<SavedView>(appId, 'GET', `view/${encodeURIComponent(viewId ?? '')}`, { signal }),
    enabled: viewId !== null,
  });
}

/** Saves and deletes views, and invalidates the lists. */
export function useViewWrites(appId: string, table: string) {
  const client = useQueryClient();
  const renew = () => outdate({ queryKey: keyOfList(appId, table) });
  const keep = (saved: SavedView) => {
    client.setQueryData(keyOfOne(appId, saved.objectId), saved);
    renew();
    return saved;
  };
  return {
    create: async (content: ViewContent) =>
      keep(await call<SavedView>(appId, 'POST', `views/${encodeURIComponent(table)}`, { body: content })),
    update: async (viewId: string, content: ViewContent) =>
      keep(await call<SavedView>(appId, 'PUT', `view/${encodeURIComponent(viewId)}`, { body: content })),
    remove: async (viewId: string) => {
      await call(appId, 'DELETE', `view/${encodeURIComponent(viewId)}`);
      client.removeQueries({ queryKey: keyOfOne(appId, viewId) });
      renew();
    },
  };
}
