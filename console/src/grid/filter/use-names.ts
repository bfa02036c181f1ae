import { useQuery } from '@tanstack/react-query';
import type { RowsAnswer } from '../../../../src/console/protocol/protocol.ts';
import { call } from '../../api/client.ts';
import { keys } from '../../api/query-client.ts';
import { useSystem } from '../../api/system.tsx';
import { titleOf } from '../../model/record.ts';

/** Returns the names of records of a table by id, as far as they are known. */
export function useNames(table: string | undefined, ids: readonly string[]): Readonly<Record<string, string>> {
  const { appId, tables } = useSystem();
  const model = table === undefined ? undefined : tables.get(table);
  const requestedIds = [...ids].sort();
  const { data } = useQuery({
    queryKey: [...keys.table(appId, table ?? ''), 'names', requestedIds.join()],
    queryFn: async ({ signal }) => {
      const query = new URLSearchParams({
        where: JSON.stringify({ objectId: { $in: requestedIds } }),
        keys: model?.titleFields.join() ?? '',
        limit: String(requestedIds.length),
      });
      const answer = await call<RowsAnswer>(appId, 'GET', `rows/${encodeURIComponent(table ?? '')}?${query}`, { signal });
      return Object.fromEntries(
        answer.rows.map((record) => [String(record.objectId), model ? titleOf(model, record, answer.names) : '']),
      );
    },
    enabled: requestedIds.length > 0 && !!model?.may.find,
    staleTime: 60_000,
  });
  return data ?? NO_NAMES;
}

const NO_NAMES: Readonly<Record<string, string>> = {};
