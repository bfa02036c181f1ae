import { canonicalJson, type JsonObject } from '../../../kernel/json.ts';
import { names, object, table } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { badArguments } from '../../kit/answers/refusals.ts';
import { findRows, requireFind } from '../../kit/reading/records.ts';
import { withAdded } from '../../kit/writing/added.ts';
import { changeAnswer } from '../../kit/writing/made.ts';
import { matchOf } from '../../kit/writing/match.ts';
import { createRow, updateRow } from '../../kit/writing/records.ts';
import { inTurn } from '../../kit/writing/turns.ts';

/** So many of the records that match are named. */
const NAMED = 5;

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
  const matching = await findRows(call, className, { where, keys: ['objectId'], limit: NAMED + 1 });
  if (matching.length > 1) {
    const ids = matching.slice(0, NAMED).map(({ objectId }) => objectId);
    const more = matching.length > NAMED ? ', …' : '';
    badArguments(`matchOn fits several records of ${className}: ${ids.join(', ')}${more}`, {
      expected: 'Name fields in matchOn that only one record has, or choose one of the records',
      next: 'Update-Record',
    });
  }
  const [found] = matching;
  if (!found) return { created: true, ...(await createRow(call, className, data)) };
  return { created: false, ...changeAnswer(await updateRow(call, className, found.objectId, data)) };
}
