import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { runExclusive } from '../commands/exclusive.ts';
import { createRow, updateRow } from '../commands/records.ts';
import type { CrmContext } from '../context.ts';
import { callerId } from '../queries/owners.ts';
import { findRows } from '../queries/records.ts';
import { badArguments } from '../refusals.ts';
import { isTimeZone } from '../time/time-zone.ts';
import { beginningOf } from '../wire/short-text.ts';

/** A row of `Config` that the service knows. */
interface KnownFlag {
  /** Description for people. */
  readonly what: string;
  /** Value that applies without a row; absent if none does. */
  readonly usual?: JsonValue;
  /** Type of the value under the key that repeats the flag's name. */
  readonly form: 'Boolean' | 'Object' | 'time zone';
}

const form = (what: string): KnownFlag => ({ what, usual: false, form: 'Boolean' });

/** Known flags by name. Reference: system-tables.md#config. */
export const knownFlags: ReadonlyMap<string, KnownFlag> = new Map(
  Object.entries({
    AcceptWebLeads: form(
      'Opens the web form getlead. ValidatePhoneOrEmail (Boolean): refuse leads whose phone and e-mail are both invalid. ' +
        'DefaultValues.Account (Object): defaults of the contacts that web2table creates.',
    ),
    AcceptWebToTable: form('Opens the web form web2table, which writes into any table that is not a system table.'),
    AcceptWebToCaseLeads: form('Opens the web form web2case.'),
    AcceptWebToSaleLeads: form('Opens the web form web2sale.'),
    allowAllFiles: form('Opens the large-upload route: files of more than 32 MB, their types unchecked.'),
    McpSignIn: { what: 'Whether users may sign in for agents; false closes it.', usual: true, form: 'Boolean' },
    McpAdvancedTools: form('Opens advanced tools to administrators who signed in for an agent.'),
    TimeZone: {
      what: 'Time zone of days and months in reports and calendars, such as Asia/Jerusalem.',
      usual: 'UTC',
      form: 'time zone',
    },
    Payment: { what: 'Settings of payment pages; the service itself does nothing with them.', form: 'Object' },
  } satisfies Record<string, KnownFlag>),
);

const forms: Readonly<Record<KnownFlag['form'], { text: string; holds: (value: JsonValue) => boolean }>> = {
  Boolean: { text: 'true or false', holds: (value) => typeof value === 'boolean' },
  Object: { text: 'an object', holds: (value) => typeof value === 'object' && value !== null && !Array.isArray(value) },
  'time zone': { text: '"a time zone such as Asia/Jerusalem"', holds: (value) => typeof value === 'string' && isTimeZone(value) },
};

/** Returns the expected form if a value does not suit a flag, else `null`. The flag's name repeats as a key (system-tables.md#config). */
export function faultOf(name: string, value: JsonObject): string | null {
  const known = knownFlags.get(name);
  const sent = own(value, name);
  if (!known || sent === undefined || forms[known.form].holds(sent)) return null;
  return `{"${name}": ${forms[known.form].text}}`;
}

export const CONFIG = 'Config';

/**
 * Sets a flag in its row of `Config`; keys of the row that are not sent stay. Reference: system-tables.md#config.
 * @param isDry only returns what would be written
 * @throws invalidArguments (107), invalidNestedKey (121); permissionDenied (119)
 */
export async function setConfigFlag(context: CrmContext, name: string, value: JsonObject, isDry: boolean): Promise<JsonObject> {
  check(name, value);
  // Of two concurrent calls for a new flag, the second finds the row that the first created.
  return runExclusive(context, `Config ${name}`, (held) => setFlag(held, name, value, isDry));
}

async function setFlag(context: CrmContext, name: string, value: JsonObject, isDry: boolean): Promise<JsonObject> {
  // If several rows share a name, the one created first counts.
  const [row] = await findRows(context, CONFIG, { where: { Name: name }, keys: ['Value'], limit: 1 });
  const before = isJsonObject(row?.Value) ? row.Value : null;
  const after = { ...before, ...value };
  if (!Object.hasOwn(after, name))
    badArguments(`value has no key ${name}`, {
      expected: `{"${name}": …}: the flag's name repeats as a key`,
      next: 'Get-Config-Flags',
    });
  const lockOut = callerId(context) !== undefined && own(value, name) === false ? lockOuts.get(name) : undefined;
  const summary = {
    name,
    before: before && shownValue(before),
    value: shownValue(after),
    ...(lockOut !== undefined && { warnings: [lockOut] }),
  };
  if (isDry) return { dryRun: true, ...summary };
  const written = row ?? (await createRow(context, CONFIG, { Name: name, Value: after }));
  if (row) await updateRow(context, CONFIG, row.objectId, before ? placesOf(value) : { Value: after });
  return { ...summary, objectId: written.objectId };
}

/** Warnings for users who lock themselves out by setting a flag to false. */
const lockOuts: ReadonlyMap<string, string> = new Map([
  ['McpSignIn', 'Agents of users can call no tools any more, this connection neither: only a key opens it again'],
  [
    'McpAdvancedTools',
    'Agents of users can call no advanced tools any more, this connection neither: only a key opens them again',
  ],
]);

/** The value with long members shortened. */
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

/** One dotted name per key, so that keys written concurrently stay. */
const placesOf = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).map(([key, one]) => [`Value.${key}`, one]));
