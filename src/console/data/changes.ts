import { randomUUID } from 'node:crypto';
import { memoByObject } from '../../kernel/memo.ts';
import { SECOND_MS } from '../../kernel/time.ts';
import type { Store } from '../../storage/port.ts';
import type { ApiEndpoint, ApiRequest } from '../protocol/api-endpoint.ts';
import type { ChangesAnswer } from '../protocol/protocol.ts';
import { modelOf } from './model.ts';
import { opaqueText, opaqueValues } from './wire/cursors.ts';
import { refuse, textOf } from './wire/parameters.ts';

/** This process: what it counts means nothing to another. */
const self = randomUUID();

/**
 * How much later than another process this one may notice a write, and how far their clocks may be apart: what it noticed so shortly before
 * it tells once more.
 */
const OVERLAP_MS = 3 * SECOND_MS;

/** What has been written to in a system, as far as this process has looked. Steps are exact; times are what two processes have in common. */
interface Watch {
  readonly since: number;
  step: number;
  readonly tables: Map<string, { readonly version: number; readonly step: number; readonly at: number }>;
}

const watchOf = memoByObject<Store, Watch>(() => ({ since: Date.now(), step: 0, tables: new Map() }));

/** The tables that were written to since it was last asked: a look at counters of this process, without a read. */
export const getChanges: ApiEndpoint = {
  method: 'GET',
  path: '/changes',
  async run(context, request): Promise<ChangesAnswer> {
    const model = await modelOf(context);
    const names = model.tables.map(({ name }) => name);
    const watch = look(context.store, names);
    const since = sinceOf(request);
    return {
      now: opaqueText([self, watch.step, Date.now(), model.version]),
      tables: since ? names.filter((name) => isNewer(watch, name, since)) : [],
      isModelChanged: since !== undefined && since.model !== model.version,
    };
  },
};

function look(store: Store, names: readonly string[]): Watch {
  const watch = watchOf(store);
  const at = Date.now();
  for (const name of names) {
    const version = store.tableVersion(name);
    const before = watch.tables.get(name);
    if (before?.version !== version) watch.tables.set(name, { version, step: ++watch.step, at });
  }
  return watch;
}

/** What a client was told last, and by which process. */
interface Since {
  readonly by: string;
  readonly step: number;
  readonly at: number;
  readonly model: string;
}

function isNewer({ tables, since }: Watch, name: string, told: Since): boolean {
  const seen = tables.get(name);
  if (!seen) return true;
  if (told.by === self) return seen.step > told.step;
  const from = told.at - OVERLAP_MS;
  return from < since || seen.at > from;
}

/** @throws invalidArguments (107) for what is no `now` of an answer */
function sinceOf(request: ApiRequest): Since | undefined {
  const text = textOf(request, 'since', 500);
  if (text === undefined) return undefined;
  const [by, step, at, model] = opaqueValues(text) ?? [];
  const isOne = typeof by === 'string' && typeof step === 'number' && typeof at === 'number' && typeof model === 'string';
  return isOne ? { by, step, at, model } : refuse('since', 'is no mark of changes');
}
