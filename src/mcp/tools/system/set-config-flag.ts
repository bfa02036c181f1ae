import { fail } from '../../../errors/fail.ts';
import { isJsonObject, type JsonObject, own } from '../../../kernel/json.ts';
import { flag, object, text } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { badArguments } from '../../kit/answers/refusals.ts';
import { beginningOf } from '../../kit/answers/short-text.ts';
import { callerId } from '../../kit/people/users.ts';
import { findRows } from '../../kit/reading/records.ts';
import { faultOf } from '../../kit/system/known-flags.ts';
import { createRow, updateRow } from '../../kit/writing/records.ts';
import { inTurn } from '../../kit/writing/turns.ts';

const CONFIG = 'Config';

/** SPEC "`Config`". */
export const setConfigFlag = defineTool({
  name: 'Set-Config-Flag',
  group: 'system',
  description: 'Set one configuration flag; keeps keys that are not sent.',
  input: { name: text(200), value: object('such as {"<name>": true}'), dryRun: flag().optional() },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'change',
  isIdempotent: true,
  about: CONFIG,
  async run(call, { name, value, dryRun = false }) {
    check(name, value);
    // Of two calls for a flag that is new the second finds the row that the first has made.
    return inTurn(call, `Config ${name}`, (held) => setFlag(held, name, value, dryRun));
  },
});

async function setFlag(call: ToolCall, name: string, value: JsonObject, isDry: boolean): Promise<JsonObject> {
  // Of several rows of a name the first created counts.
  const [row] = await findRows(call, CONFIG, { where: { Name: name }, keys: ['Value'], limit: 1 });
  const before = isJsonObject(row?.Value) ? row.Value : null;
  const after = { ...before, ...value };
  if (!Object.hasOwn(after, name))
    badArguments(`value has no key ${name}`, {
      expected: `{"${name}": …}: the flag's name repeats as a key`,
      next: 'Get-Config-Flags',
    });
  const lockOut = callerId(call) !== undefined && own(value, name) === false ? lockOuts.get(name) : undefined;
  const told = {
    name,
    before: before && shownValue(before),
    value: shownValue(after),
    ...(lockOut !== undefined && { warnings: [lockOut] }),
  };
  if (isDry) return { dryRun: true, ...told };
  const written = row ?? (await createRow(call, CONFIG, { Name: name, Value: after }));
  if (row) await updateRow(call, CONFIG, row.objectId, before ? placesOf(value) : { Value: after });
  return { ...told, objectId: written.objectId };
}

/** What a user who signed in does to himself by setting a flag to false. */
const lockOuts: ReadonlyMap<string, string> = new Map([
  ['McpSignIn', 'Agents of users can call no tools any more, this connection neither: only a key opens it again'],
  [
    'McpAdvancedTools',
    'Agents of users can call no advanced tools any more, this connection neither: only a key opens them again',
  ],
]);

/** A value with the beginnings of what is long in it. */
const shownValue = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([key, one]) => [key, beginningOf(one)]));

/** @throws invalidArguments (107), invalidNestedKey (121) */
function check(name: string, value: JsonObject): void {
  const keys = Object.keys(value);
  if (keys.length === 0) badArguments('value must not be empty', { expected: `{"${name}": …}`, next: 'Get-Config-Flags' });
  const nested = keys.find((key) => /[.$]/.test(key));
  if (nested !== undefined) fail('invalidNestedKey', nested.slice(0, 200));
  const expected = faultOf(name, value);
  if (expected !== null) badArguments(`value.${name} is not what the flag takes`, { expected });
}

/** Each key by itself, so that others which are written meanwhile stay. */
const placesOf = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([key, one]) => [`Value.${key}`, one]));
