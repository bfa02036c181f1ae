import { fail } from '../../../errors/fail.ts';
import { isJsonObject, type JsonObject } from '../../../kernel/json.ts';
import { flag, object, text } from '../../definition/parameters.ts';
import { defineTool } from '../../definition/tool.ts';
import { badArguments } from '../../kit/answers/refusals.ts';
import { findRows } from '../../kit/reading/records.ts';
import { faultOf } from '../../kit/system/known-flags.ts';
import { createRow, updateRow } from '../../kit/writing/records.ts';

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
  about: 'Config',
  async run(call, { name, value, dryRun = false }) {
    check(name, value);
    // The row that was created first counts.
    const [row] = await findRows(call, 'Config', { where: { Name: name }, keys: ['Value'], limit: 1 });
    const before = isJsonObject(row?.Value) ? row.Value : null;
    const after = { ...before, ...value };
    if (!Object.hasOwn(after, name))
      badArguments(`value has no key ${name}`, {
        expected: `{"${name}": …}: the flag's name repeats as a key`,
        next: 'Get-Config-Flags',
      });
    const told = { name, before, value: after };
    if (dryRun) return { dryRun: true, ...told };
    if (!row) return { ...told, objectId: (await createRow(call, 'Config', { Name: name, Value: after })).objectId };
    await updateRow(call, 'Config', row.objectId, before ? placesOf(value) : { Value: after });
    return { ...told, objectId: row.objectId };
  },
});

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
