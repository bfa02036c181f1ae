import { type RecordContext, readRows } from '../../../records/index.ts';

/** The names of a system's roles, in the order of creation. */
export async function roleNames({ store }: RecordContext): Promise<string[]> {
  const query = { className: '_Role', fields: ['name'], filter: () => ({ kind: 'always' }) as const };
  const rows = await readRows<{ readonly name?: string }>(store, query);
  return rows.map(({ name }) => name).filter((name) => name !== undefined);
}
