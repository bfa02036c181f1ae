import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { World } from '../world.ts';

/** Every table that some tool writes. */
const written = [
  ...['Accounts', 'Contacts', 'Sales', 'SaleRows', 'PriceQuotes', 'Tasks', 'Activities', 'Notes', 'Documents', 'Products'],
  ...[
    'SitePages',
    'SiteMenus',
    'Sites',
    'Config',
    '_User',
    '_Role',
    '_Dictionary',
    '_DynamicQueries',
    '_Notification',
    '_Trigger',
  ],
];

/** Returns all that a call may change, by kind: tables, schemas, the timeline, files. */
export async function snapshotOf(world: World): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for (const table of [...written, world.tableName]) {
    const query = { limit: 100_000, order: 'objectId' };
    found.set(table, (await world.call('GET', `/platform/classes/${table}`, { query })).text);
  }
  found.set('schemas', (await world.call('GET', '/platform/schemas')).text);
  const counted = await world.call('GET', '/platform/classes/_Timeline', { query: { limit: 0, count: 1 } });
  found.set('_Timeline', String(counted.body.count));
  const stored = await readdir(join(world.service().dataDir, 'files'), { recursive: true, withFileTypes: true });
  const files = stored.filter((one) => one.isFile()).map(({ name }) => name);
  found.set('files', files.sort().join());
  return found;
}

/** Returns the names of the parts that differ; empty if none does. */
export const differences = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] =>
  [...before.keys()].filter((name) => before.get(name) !== after.get(name));

/** Returns the number of records of each table. */
export const countsOf = (snapshot: ReadonlyMap<string, string>): Map<string, number> =>
  new Map(
    [...snapshot].flatMap(([name, text]): [string, number][] =>
      text.startsWith('{"results":[') && name !== 'schemas' ? [[name, JSON.parse(text).results.length]] : [],
    ),
  );
