import type { JsonObject } from '../../../kernel/json.ts';
import { text } from '../../definition/parameters.ts';
import { defineTool, type ToolCall } from '../../definition/tool.ts';
import { pageOf } from '../../kit/answers/page.ts';
import { findRows } from '../../kit/reading/records.ts';
import { knownFlags } from '../../kit/system/known-flags.ts';

/** Rows of `Config` that are looked at. */
const MOST = 2_000;

/** SPEC "`Config`": of several rows of a name the one created first counts. */
export const getConfigFlags = defineTool({
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
    const page = pageOf([...flags.values()], { limit: MOST });
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
  const rows = await findRows(call, 'Config', { where, keys: ['Name', 'Value'], limit: MOST });
  const flags = new Map<string, JsonObject>();
  for (const { objectId, Name, Value = null } of rows) {
    if (typeof Name !== 'string' || flags.has(Name)) continue;
    const what = knownFlags.get(Name)?.what;
    flags.set(Name, { name: Name, value: Value, ...(what !== undefined && { what }), objectId });
  }
  return flags;
}
