import type { BenchContext } from '../support/context.ts';
import { serviceTarget } from '../support/fill.ts';
import { count } from '../support/report.ts';
import type { Prepared } from '../support/target.ts';
import { createMany, type Engine, type Kind, measureGrowth, type Subject } from './measure.ts';

/** Deletes of a round, of records made before. */
const DELETES = 2_000;
/** Pointer columns of a table. */
const PER_TABLE = 10;
/** Records of each of these tables: they point at other records. */
const RECORDS = 200;

/** A table at which this many Pointer columns point. */
interface PointedTable extends Subject {
  readonly className: string;
}

const creates = (className: string, length: number) =>
  Array.from(
    { length },
    (_, index): Prepared => ({
      method: 'POST',
      path: `/platform/classes/${className}`,
      body: { Name: `Record ${index}` },
    }),
  );

const kinds: readonly Kind<PointedTable>[] = [
  {
    name: 'delete of one that nobody points at',
    isFlat: true,
    isOnce: true,
    requests: async ({ service, className }) =>
      (await createMany(serviceTarget(service), creates(className, DELETES))).map((path) => ({ method: 'DELETE', path })),
  },
];

/** Measures deletes in tables that different numbers of Pointer columns point at. */
export async function measurePointers(context: BenchContext, engine: Engine): Promise<void> {
  const database = await engine.server?.database();
  const service = await context.scratch.service(await context.scratch.directory(), database);
  const create = async (className: string, fields: object) => {
    const { status, text } = await service.call('POST', `/platform/schemas/${className}`, { body: { className, fields } });
    if (status !== 200) throw new Error(text);
  };
  const subjects: PointedTable[] = [];
  for (const pointers of [0, 10, 100]) {
    const className = `Pointed${pointers}`;
    await create(className, { Name: { type: 'String' } });
    const [target = ''] = await createMany(serviceTarget(service), creates(className, 1));
    const value = { __type: 'Pointer', className, objectId: target.split('/').at(-1) };
    for (let at = 0; at < pointers / PER_TABLE; at++) {
      const names = Array.from({ length: PER_TABLE }, (_, field) => `Pointer${field}`);
      const from = `${className}From${at}`;
      await create(from, Object.fromEntries(names.map((name) => [name, { type: 'Pointer', targetClass: className }])));
      const body = Object.fromEntries(names.map((name) => [name, value]));
      await createMany(
        serviceTarget(service),
        Array.from({ length: RECORDS }, (): Prepared => ({ method: 'POST', path: `/platform/classes/${from}`, body })),
      );
    }
    subjects.push({ name: count(pointers), service, className, ...(database && { database }) });
  }
  // As autovacuum does in time.
  if (database) await engine.server?.query('VACUUM ANALYZE', database);
  await measureGrowth('growth: Pointer columns at a table', context, engine, subjects, kinds);
  await service.stop();
}
