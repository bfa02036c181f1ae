import { runExclusive } from '../../../crm/commands/exclusive.ts';
import { eachItem, reporter } from '../../../crm/commands/items.ts';
import { matchOf } from '../../../crm/commands/match.ts';
import { unchangedSince } from '../../../crm/commands/only-if.ts';
import { createRow, ignoredFlags, updateRow } from '../../../crm/commands/records.ts';
import { withAdded } from '../../../crm/commands/schema-additions.ts';
import { findRows, type Row, requireFind } from '../../../crm/queries/records.ts';
import { badArguments } from '../../../crm/refusals.ts';
import { canonicalJson, isJsonObject, type JsonObject, jsonBytes } from '../../../kernel/json.ts';
import { parseIsoDate } from '../../../values/index.ts';
import { flag, instant, names, object, objectId, objects, table } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { describeOutcomes, outcomesAnswer } from '../../results/outcomes.ts';
import { MAX_RESULT_BYTES } from '../../results/page.ts';

/** `ifUpdatedAt` makes the update conditional on the record being unchanged since. Reference: tools.md#update-record, records.md#field-operators. */
export const updateRecord = defineTool({
  name: 'Update-Record',
  group: 'records',
  description: 'Change fields of one record; accepts Increment, AddUnique, Remove and Delete operators.',
  input: {
    table: table(),
    objectId: objectId(),
    data: object(),
    ifUpdatedAt: instant().optional(),
    skipTriggers: flag().optional(),
    skipTimeline: flag().optional(),
  },
  needs: ['mcp:update'],
  effect: 'change',
  run: (call, { table: className, objectId: id, data, ifUpdatedAt, ...silence }) => {
    const ignored = ignoredFlags(call, silence);
    const onlyIf = ifUpdatedAt === undefined ? undefined : unchangedSince(parseIsoDate(ifUpdatedAt));
    return withAdded(call, className, async () => ({
      ...changeAnswer(await updateRow(call, className, id, data, { ...silence, onlyIf })),
      ...ignored,
    }));
  },
});

/** Each update has its own outcome, as in Create-Many. */
export const updateMany = defineTool({
  name: 'Update-Many',
  group: 'records',
  description: 'Change up to 1,000 records by id, updates: [{objectId, data}]; per-item results, no rollback.',
  input: {
    table: table(),
    updates: objects(),
    skipTriggers: flag().optional(),
    skipTimeline: flag().optional(),
  },
  needs: ['mcp:update'],
  effect: 'change',
  run: (call, { table: className, updates, ...silence }) => {
    const read = updates.map(readUpdate);
    return withAdded(call, className, async () => {
      const outcomes = await eachItem(read, reporter(call.services.conditions), ({ objectId, data }) =>
        updateRow(call, className, objectId, data, silence),
      );
      return { ...outcomesAnswer(describeOutcomes(outcomes)), ...ignoredFlags(call, silence) };
    });
  },
});

/** Parses one update. All are parsed before any is written, so that a malformed list has no effect. */
function readUpdate(update: JsonObject, index: number): { objectId: string; data: JsonObject } {
  const { objectId, data, ...others } = update;
  const [other] = Object.keys(others);
  const expected = 'updates: [{"objectId":"<id>","data":{"<Field>":<value>}}]';
  if (other !== undefined) badArguments(`updates[${index}].${other.slice(0, 100)} is unknown`, { expected });
  if (typeof objectId !== 'string' || objectId === '') badArguments(`updates[${index}].objectId is required`, { expected });
  if (!isJsonObject(data)) badArguments(`updates[${index}].data must be an object`, { expected });
  return { objectId, data };
}

/** Maximum number of matching records that the error names. */
const MAX_IDS_NAMED = 5;

/** The store does not enforce unique values, so several records may match: then nothing is written. Reference: tools.md#upsert-record. */
export const upsertRecord = defineTool({
  name: 'Upsert-Record',
  group: 'records',
  description: 'Update the one record whose matchOn fields equal the sent values, else create it; errors when several match.',
  input: { table: table(), matchOn: names(20), data: object() },
  needs: ['mcp:create', 'mcp:update'],
  effect: 'change',
  isIdempotent: true,
  async run(call, { table: className, matchOn, data }) {
    await requireFind(call, className);
    const where = matchOf(call, className, matchOn, data);
    // Serialised: of two concurrent calls for one new record, the second finds the first's record.
    return runExclusive(call, `${className} ${canonicalJson(where)}`, (held) =>
      withAdded(held, className, () => upsert(held, className, where, data)),
    );
  },
});

async function upsert(call: ToolCall, className: string, where: JsonObject, data: JsonObject): Promise<JsonObject> {
  const matching = await findRows(call, className, { where, keys: ['objectId'], limit: MAX_IDS_NAMED + 1 });
  if (matching.length > 1) {
    const ids = matching.slice(0, MAX_IDS_NAMED).map(({ objectId }) => objectId);
    const more = matching.length > MAX_IDS_NAMED ? ', …' : '';
    badArguments(`matchOn fits several records of ${className}: ${ids.join(', ')}${more}`, {
      expected: 'Name fields in matchOn that only one record has, or choose one of the records',
      next: 'Update-Record',
    });
  }
  const [found] = matching;
  if (!found) return { created: true, ...(await createRow(call, className, data)) };
  return { created: false, ...changeAnswer(await updateRow(call, className, found.objectId, data)) };
}

/** Returns the answer of an update; results of field operators that are too long are omitted. */
export function changeAnswer({ updatedAt = null, objectId, ...made }: Row): JsonObject {
  const isLong = jsonBytes(made) > MAX_RESULT_BYTES / 2;
  return { updatedAt, objectId, ...(isLong ? { truncated: true } : made) };
}
