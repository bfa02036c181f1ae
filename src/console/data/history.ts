import type { CrmContext } from '../../crm/context.ts';
import type { Entry, FieldChange } from '../../crm/history/change-walk.ts';
import { grantOfPast } from '../../crm/history/past.ts';
import { causeOf, type HistoryPlace, placeOf, readHistory, type WriteCause } from '../../crm/history/read-history.ts';
import { namesOf } from '../../crm/queries/names.ts';
import { beginningOf } from '../../crm/wire/short-text.ts';
import { fail } from '../../errors/fail.ts';
import { isStorable, type JsonValue } from '../../kernel/json.ts';
import { claimsFunction } from '../../records/index.ts';
import { isLog } from '../../schema/system-tables.ts';
import { parseIsoDate } from '../../values/index.ts';
import type { ApiEndpoint, ApiRequest } from '../protocol/api-endpoint.ts';
import type { HistoryAnswer, HistoryChange, HistoryEntry } from '../protocol/protocol.ts';
import { opaqueText, opaqueValues } from './wire/cursors.ts';
import { pointerNames } from './wire/names.ts';
import { idOf, numberOf, refuse, tableOf, textOf } from './wire/parameters.ts';

const PAGE_SIZE = 30;
const MAX_PAGE_SIZE = 100;

/** Returns the writes of a record: what, when, by whom and through what. */
export const getHistory: ApiEndpoint = {
  method: 'GET',
  path: '/history/:table/:id',
  async run(context, request): Promise<HistoryAnswer> {
    const about = tableOf(context, request, 'get');
    const objectId = idOf(request);
    const before = placeIn(request);
    const limit = numberOf(request, 'limit', PAGE_SIZE, MAX_PAGE_SIZE);
    const grant = await grantOfPast(context, about, objectId);
    const { entries, cutAt } = await readHistory(context, { about, objectId, grant, before, needed: limit + 1 });
    if (grant.isGone && entries.length === 0 && !before) fail('objectNotFound');
    const shown = entries.slice(0, limit);
    const last = shown.at(-1);
    const next = entries.length > limit && last ? placeOf(last.row) : cutAt;
    return {
      isKept: entries.length > 0 || (about.timeline !== undefined && !isLog(about.className)),
      ...(await described(context, shown)),
      next: next && opaqueText([next.at, next.objectId]),
    };
  },
};

/** @throws invalidArguments (107) unless it is the `next` of an answer */
function placeIn(request: ApiRequest): HistoryPlace | undefined {
  const text = textOf(request, 'before', 1_000);
  if (text === undefined) return undefined;
  const [at, objectId] = opaqueValues(text) ?? [];
  const isPlace = typeof at === 'string' && parseIsoDate(at) !== null && typeof objectId === 'string' && isStorable(objectId);
  return isPlace ? { at, objectId } : refuse('before', 'is no place in a history');
}

async function described(context: CrmContext, shown: readonly Entry[]): Promise<Pick<HistoryAnswer, 'entries' | 'names'>> {
  const causes = shown.map(({ row }) => causeOf(row));
  const [users, triggers, names] = await Promise.all([
    namesOf(context, '_User', present(causes.map(({ userId }) => userId))),
    namesOf(context, '_Trigger', present(causes.map(({ triggerId }) => triggerId))),
    pointerNames(
      context,
      shown.flatMap(({ changes }) => [...changes.values()].flatMap(valuesOf)),
    ),
  ]);
  const entries = shown.map(({ row, changes }, at): HistoryEntry => {
    const cause = causes[at] ?? {};
    return {
      at: String(row.createdAt),
      event: row.event as HistoryEntry['event'],
      by: authorOf(cause, users),
      via: meansOf(cause, triggers),
      changes: [...changes].map(([field, change]) => changeOf(field, change)),
    };
  });
  return { entries, names };
}

const present = (ids: readonly (string | undefined)[]): string[] => ids.filter((id) => id !== undefined);

/** The pseudo-user of writes by keys. Reference: audit.md#timeline. */
const MASTER = 'master';

function authorOf({ userId }: WriteCause, users: ReadonlyMap<string, string>): HistoryEntry['by'] {
  if (userId === undefined || userId === MASTER) return null;
  return { objectId: userId, name: users.get(userId) ?? '' };
}

function meansOf({ userId, referer, triggerId }: WriteCause, triggers: ReadonlyMap<string, string>): HistoryEntry['via'] {
  if (triggerId !== undefined) {
    const name = triggers.get(triggerId);
    return name ? { kind: 'trigger', name } : { kind: 'trigger' };
  }
  if (referer !== undefined && claimsFunction(referer)) {
    const name = referer.slice(referer.indexOf(':') + 1);
    return { kind: 'function', name };
  }
  return userId === MASTER ? { kind: 'key' } : null;
}

function changeOf(field: string, { from, to, steps }: FieldChange): HistoryChange {
  return {
    field,
    ...(from !== undefined && { from: beginningOf(from) }),
    ...(steps ? { steps: Object.fromEntries([...steps].map(([name, value]) => [name, beginningOf(value)])) } : {}),
    ...(!steps && { to: beginningOf(to ?? null) }),
  };
}

const valuesOf = ({ from, to, steps }: FieldChange): JsonValue[] =>
  [from, to, ...(steps?.values() ?? [])].filter((value) => value !== undefined);
