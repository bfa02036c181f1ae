import { createMany, tableName } from '../support/query.ts';
import type { Service } from '../support/service.ts';

/** Creates a table whose list is an answer of 20 MB: more than the buffers of a connection take. */
export async function makeLong(service: Service): Promise<{ long: string; rows: number }> {
  const long = tableName('Long');
  for (let part = 0; part < 4; part++)
    await createMany(
      service,
      long,
      Array.from({ length: 100 }, () => ({ s: 'x'.repeat(50_000) })),
    );
  return { long, rows: 400 };
}
