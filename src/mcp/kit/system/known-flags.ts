import { type JsonObject, type JsonValue, own } from '../../../kernel/json.ts';
import { isTimeZone } from '../time/time-zone.ts';

/** A row of `Config` that the service knows. */
interface KnownFlag {
  /** What it does, for people. */
  readonly what: string;
  /** What counts where there is no row; left out where nothing does. */
  readonly usual?: JsonValue;
  /** What the key named like the flag may hold. */
  readonly form: 'Boolean' | 'Object' | 'time zone';
}

const form = (what: string): KnownFlag => ({ what, usual: false, form: 'Boolean' });

/** By name. SPEC "`Config`"; docs/decisions.md. */
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

/** What is wrong with a value for a flag; `null` where nothing is. SPEC "`Config`": the flag's name repeats as a key. */
export function faultOf(name: string, value: JsonObject): string | null {
  const known = knownFlags.get(name);
  const sent = own(value, name);
  if (!known || sent === undefined || forms[known.form].holds(sent)) return null;
  return `{"${name}": ${forms[known.form].text}}`;
}
