import { useQuery } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react';
import type { CountAnswer, RowsAnswer } from '../../../../src/console/protocol/protocol.ts';
import type { JsonObject } from '../../../../src/kernel/json.ts';
import { call } from '../../api/client.ts';
import { NoConnection } from '../../api/failure.ts';
import { keys, outdate } from '../../api/query-client.ts';
import { BLOCK_ROWS, type BlockRequest } from './blocks.ts';
import { type RowReader, RowSource } from './row-source.ts';

/** Rows drawn before the size of a table is known. */
const FIRST_ROWS = 30;
/** Minimum delay between a change and the next count. */
const COUNT_PAUSE_MS = 400;
/** The default order of a table. */
export const USUAL_ORDER = '-createdAt';

export interface GridRows {
  readonly source: RowSource;
  /** Number of rows to draw and to scroll through. */
  readonly rowCount: number;
  /** The number of matching records; `null`: not known yet. */
  readonly count: number | null;
  /** Number of records added since the rows were read. */
  readonly addedCount: number;
  readonly isLoading: boolean;
  /** Reads everything again, including new records. */
  reload(): void;
}

/**
 * Returns the matching rows, in their order.
 * @param fields the visible ones; others are not read.
 * @param countsFirst whether the count is requested without waiting for the first rows.
 */
export function useGridRows(
  appId: string,
  table: string,
  where: JsonObject,
  order: string,
  fields: readonly string[],
  countsFirst: boolean,
): GridRows {
  const [generation, setGeneration] = useState(0);
  const question = JSON.stringify([appId, table, where, order, generation]);
  const requestedFields = useRequestedFields(fields);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the text of the query stands for all of it
  const source = useMemo(() => {
    const made = new RowSource(readerOf(appId, table, where, order, requestedFields));
    // Requested while the page is drawn for the first time.
    made.want(0, FIRST_ROWS, FIRST_ROWS, 0);
    return made;
  }, [question, requestedFields]);
  useEffect(() => () => source.dispose(), [source]);
  const version = useSyncExternalStore(source.subscribe, source.version);

  const countKey = [appId, 'grid-count', question];
  const count = useQuery({
    queryKey: countKey,
    queryFn: ({ signal }) =>
      call<CountAnswer>(appId, 'GET', `count/${encodeURIComponent(table)}${parameters({ where: whereText(where) })}`, { signal }),
    enabled: countsFirst || !source.isEmpty,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  useRefresh(source, [...keys.table(appId, table), 'grid', question], () => outdate({ queryKey: countKey }));

  const now = count.data?.count ?? null;
  const first = useRef<{ source: RowSource; count: number } | null>(null);
  if (now !== null && first.current?.source !== source) first.current = { source, count: now };
  const known = first.current?.source === source ? first.current.count : null;
  const reached = source.isEmpty ? FIRST_ROWS : 2 * BLOCK_ROWS;
  return {
    source,
    rowCount: Math.min(known ?? source.end ?? reached, source.end ?? Number.POSITIVE_INFINITY),
    count: now ?? (source.end !== null && version > 0 ? source.end : null),
    addedCount: now !== null && known !== null ? Math.max(0, now - known + source.goneCount) : 0,
    isLoading: source.pendingCount > 0,
    reload: () => setGeneration((old) => old + 1),
  };
}

/** Returns the fields requested so far, so that removing a column causes no new request. */
function useRequestedFields(fields: readonly string[]): string {
  const requestedFields = useRef<readonly string[]>([]);
  if (fields.some((field) => !requestedFields.current.includes(field)))
    requestedFields.current = [...new Set([...requestedFields.current, ...fields])].sort();
  return requestedFields.current.join(',');
}

/** After a change of the table (`api/changes.ts` invalidates its queries), reads the visible rows again, then the count. */
function useRefresh(source: RowSource, queryKey: readonly unknown[], recount: () => void): void {
  const pulse = useQuery({
    queryKey,
    queryFn: async () => {
      // A query that failed on its own would fail again; after a lost connection a retry may succeed.
      if (source.failure instanceof NoConnection) source.retry();
      await source.refresh();
      return Date.now();
    },
    // The first rows and their number are requested anyway; the query runs only after it is invalidated.
    initialData: Date.now,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  });
  const beat = pulse.dataUpdatedAt;
  const last = useRef({ source, beat });
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new beat is the trigger
  useEffect(() => {
    const isNew = last.current.source === source && last.current.beat !== beat;
    last.current = { source, beat };
    if (!isNew) return;
    const timer = setTimeout(recount, COUNT_PAUSE_MS);
    return () => clearTimeout(timer);
  }, [beat, source]);
}

function readerOf(appId: string, table: string, where: JsonObject, order: string, fields: string): RowReader {
  const path = `rows/${encodeURIComponent(table)}`;
  const read = (query: Record<string, string | null>, signal: AbortSignal) =>
    call<RowsAnswer>(appId, 'GET', `${path}${parameters({ ...query, keys: fields })}`, { signal });
  return {
    block: (request, signal) =>
      read({ where: whereText(where), order: order || USUAL_ORDER, limit: String(BLOCK_ROWS), ...placeOf(request) }, signal),
    byIds: (objectIds, signal) =>
      read({ where: whereText({ objectId: { $in: [...objectIds] } }), limit: String(objectIds.length) }, signal),
  };
}

function placeOf(request: BlockRequest): Record<string, string> {
  if (request.kind === 'skip') return { skip: String(request.skip) };
  return { [request.kind]: request.cursor };
}

const whereText = (where: JsonObject) => (Object.keys(where).length === 0 ? null : JSON.stringify(where));

function parameters(query: Record<string, string | null>): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== null);
  return `?${new URLSearchParams(given)}`;
}
