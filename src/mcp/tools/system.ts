import { CONFIG, knownFlags, setConfigFlag } from '../../crm/admin/config-flags.ts';
import { findRows, knownTables } from '../../crm/queries/records.ts';
import { unless } from '../../crm/refusals.ts';
import { timeZoneOf } from '../../crm/time/time-zone.ts';
import { type JsonObject, own } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import { serviceVersion } from '../../kernel/version.ts';
import { configFlag } from '../../records/index.ts';
import { agentSwitches } from '../../users/index.ts';
import { flag, MAX_RECORDS, MAX_ROWS, object, text } from '../definition/parameters.ts';
import { defineTool, type Tool, type ToolCall } from '../definition/tool.ts';
import { MAX_RESULT_BYTES, pageOf } from '../results/page.ts';

const LARGE = 'allowAllFiles';

/** Of the storage, only the `outOfStorage` flag is shown. Reference: tools.md#get-system-info. */
const getSystemInfo = defineTool({
  name: 'Get-System-Info',
  group: 'system',
  description: 'System name, version, time zone, plan features, limits, class count and the outOfStorage flag.',
  input: {},
  needs: ['mcp:view'],
  effect: 'read',
  about: '_SCHEMA',
  async run(call) {
    const { system, store, services } = call;
    const { signIn, advancedTools } = await agentSwitches(store);
    const large = await configFlag(store, LARGE);
    const timeZone = await timeZoneOf(call);
    return {
      name: system.name,
      appId: system.appId,
      version: serviceVersion(),
      address: services.addresses.base,
      timeZone,
      now: new Date().toISOString(),
      classCount: knownTables(call).length,
      outOfStorage: await unless(['outOfStorage'], true, () => services.files.admit(system).then(() => false)),
      features: { signIn, advancedTools, largeUploads: large !== null && own(large, LARGE) === true },
      limits: {
        rowsPerRead: MAX_ROWS,
        recordsPerWrite: MAX_RECORDS,
        answerBytes: MAX_RESULT_BYTES,
        uploadBytes: limits.fileBytes,
        triggerDepth: 3,
        objectIdLength: 10,
        usersListed: 100,
      },
      protocol: 'Model Context Protocol, revisions 2024-11-05 to 2026-07-28',
    };
  },
});

/** Maximum number of rows of `Config` that are read. */
const MAX_FLAGS = 2_000;

/** If several rows have the same name, the oldest counts. Reference: tools.md#get-config-flags, system-tables.md#config. */
const getConfigFlags = defineTool({
  name: 'Get-Config-Flags',
  group: 'system',
  description: 'Configuration flags with their values and what each one does.',
  input: { name: text(200).optional() },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'read',
  about: 'Config',
  async run(call, { name }) {
    const flags = await flagsOf(call, name);
    const others = [...knownFlags].filter(([known]) => !flags.has(known) && (name === undefined || name === known));
    const absent = others.map(([known, { what, usual }]) => ({ name: known, what, ...(usual !== undefined && { usual }) }));
    const page = pageOf([...flags.values()], { limit: MAX_FLAGS });
    const isNothing = flags.size === 0 && absent.length === 0;
    return {
      ...page,
      ...(absent.length > 0 && { withoutRow: absent }),
      ...(isNothing && { hint: `There is no flag ${name}; Set-Config-Flag makes it.` }),
    };
  },
});

async function flagsOf(call: ToolCall, name: string | undefined): Promise<Map<string, JsonObject>> {
  const where = name === undefined ? undefined : { Name: name };
  const rows = await findRows(call, 'Config', { where, keys: ['Name', 'Value'], limit: MAX_FLAGS });
  const flags = new Map<string, JsonObject>();
  for (const { objectId, Name, Value = null } of rows) {
    if (typeof Name !== 'string' || flags.has(Name)) continue;
    const what = knownFlags.get(Name)?.what;
    flags.set(Name, { name: Name, value: Value, ...(what !== undefined && { what }), objectId });
  }
  return flags;
}

/** Reference: tools.md#set-config-flag, system-tables.md#config. */
const setConfigFlagTool = defineTool({
  name: 'Set-Config-Flag',
  group: 'system',
  description: 'Set one configuration flag; keeps keys that are not sent.',
  input: { name: text(200), value: object('such as {"<name>": true}'), dryRun: flag().optional() },
  needs: ['mcp:edit-page-and-schema'],
  isAdvanced: true,
  effect: 'change',
  isIdempotent: true,
  about: CONFIG,
  run: (call, { name, value, dryRun = false }) => setConfigFlag(call, name, value, dryRun),
});

export const systemTools: readonly Tool[] = [getSystemInfo, getConfigFlags, setConfigFlagTool];
