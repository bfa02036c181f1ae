import { inTurn } from '../../../crm/commands/exclusive.ts';
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

/** SPEC "Records: Update", "Field operators on update"; `ifUpdatedAt`: only as long as nobody has written since. */
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

/** As Create-Many: each update has its own outcome. */
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

/** All are read before any is written, so that a list in another form leaves nothing half done. */
function readUpdate(update: JsonObject, index: number): { objectId: string; data: JsonObject } {
  const { objectId, data, ...others } = update;
  const [other] = Object.keys(others);
  const expected = 'updates: [{"objectId":"<id>","data":{"<Field>":<value>}}]';
  if (other !== undefined) badArguments(`updates[${index}].${other.slice(0, 100)} is unknown`, { expected });
  if (typeof objectId !== 'string' || objectId === '') badArguments(`updates[${index}].objectId is required`, { expected });
  if (!isJsonObject(data)) badArguments(`updates[${index}].data must be an object`, { expected });
  return { objectId, data };
}

/** So many of the records that match are named. */
const MAX_IDS_NAMED = 5;

/** Nothing in the store keeps values unique, so several records may match: then nothing is written. */
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
    // Of two calls for one new record the second finds what the first has made.
    return inTurn(call, `${className} ${canonicalJson(where)}`, (held) =>
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

/** The answer of a change of one record. What operators made of a long list is left out where it is more than an answer holds. */
export function changeAnswer({ updatedAt = null, objectId, ...made }: Row): JsonObject {
  const isLong = jsonBytes(made) > MAX_RESULT_BYTES / 2;
  return { updatedAt, objectId, ...(isLong ? { truncated: true } : made) };
}
