import { randomUUID } from 'node:crypto';
import { memoByObject } from '../../kernel/memo.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import type { Store } from '../../storage/port.ts';
import type { ApiEndpoint, ApiRequest } from '../protocol/api-endpoint.ts';
import type { ChangesAnswer } from '../protocol/protocol.ts';
import { modelOf } from './model.ts';
import { opaqueText, opaqueValues } from './wire/cursors.ts';
import { refuse, textOf } from './wire/parameters.ts';

/** Identifies this process; its step counters are meaningless to other processes. */
const processId = randomUUID();

/**
 * Tolerance for clock differences between processes and for how much later one notices a write. Changes noticed this shortly before `since` are
 * reported again.
 */
const OVERLAP_MS = 3 * SECOND_MS;

/** Changes of a system's tables as noticed by this process. Steps are exact within a process; times allow comparison between processes. */
interface Watch {
  readonly since: number;
  step: number;
  readonly tables: Map<string, { readonly version: number; readonly step: number; readonly at: number }>;
}

const watchOf = memoByObject<Store, Watch>(() => ({ since: Date.now(), step: 0, tables: new Map() }));

/**
 * Returns the tables that were written to since the last call. Compares counters in memory, without a read. Reference: console.md#the-change-signal.
 */
export const getChanges: ApiEndpoint = {
  method: 'GET',
  path: '/changes',
  async run(context, request): Promise<ChangesAnswer> {
    const model = await modelOf(context);
    const names = model.tables.map(({ name }) => name);
    const watch = updateWatch(context.store, names);
    const since = sinceOf(request);
    return {
      now: opaqueText([processId, watch.step, Date.now(), model.version]),
      tables: since ? names.filter((name) => isNewer(watch, name, since)) : [],
      isModelChanged: since !== undefined && since.model !== model.version,
    };
  },
};

function updateWatch(store: Store, names: readonly string[]): Watch {
  const watch = watchOf(store);
  const at = Date.now();
  for (const name of names) {
    const version = store.tableVersion(name);
    const before = watch.tables.get(name);
    if (before?.version !== version) watch.tables.set(name, { version, step: ++watch.step, at });
  }
  return watch;
}

/** Decoded `since`: what a client last received, and from which process. */
interface Since {
  readonly by: string;
  readonly step: number;
  readonly at: number;
  readonly model: string;
}

function isNewer({ tables, since }: Watch, name: string, last: Since): boolean {
  const seen = tables.get(name);
  if (!seen) return true;
  if (last.by === processId) return seen.step > last.step;
  const from = last.at - OVERLAP_MS;
  return from < since || seen.at > from;
}

/** @throws invalidArguments (107) unless it is the `now` of an answer */
function sinceOf(request: ApiRequest): Since | undefined {
  const text = textOf(request, 'since', 500);
  if (text === undefined) return undefined;
  const [by, step, at, model] = opaqueValues(text) ?? [];
  const isOne = typeof by === 'string' && typeof step === 'number' && typeof at === 'number' && typeof model === 'string';
  return isOne ? { by, step, at, model } : refuse('since', 'is no mark of changes');
}
