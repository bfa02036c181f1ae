import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Tool } from '../definition/tool.ts';

/** The groups, in the order in which tools are listed. */
const groups: readonly (() => Promise<readonly Tool[]>)[] = [
  async () => (await import('./records/index.ts')).recordsTools,
  async () => (await import('./crm/index.ts')).crmTools,
  async () => (await import('./work.ts')).workTools,
  async () => (await import('./history/index.ts')).historyTools,
  async () => (await import('./files/index.ts')).filesTools,
  async () => (await import('./users/index.ts')).usersTools,
  async () => (await import('./schema/index.ts')).schemaTools,
  async () => (await import('./site/index.ts')).siteTools,
  async () => (await import('./automation/index.ts')).automationTools,
  async () => (await import('./reports.ts')).reportsTools,
  async () => (await import('./documents.ts')).documentsTools,
  async () => (await import('./system.ts')).systemTools,
];

/** Loads all 67 tools (tools.md) group by group, yielding to other requests in between. */
export async function loadTools(): Promise<readonly Tool[]> {
  const tools: Tool[] = [];
  for (const load of groups) {
    tools.push(...(await load()));
    await nextTurn();
  }
  return tools;
}
