import type { BenchContext } from '../support/context.ts';
import { serviceTarget } from '../support/fill.ts';
import { count } from '../support/report.ts';
import { type Prepared, send } from '../support/target.ts';
import { createMany, type Engine, type Kind, measureGrowth, type Subject } from './measure.ts';
import { GROUP, groupsOf, idOf, newRecord, type SizedTable } from './records.ts';

/** Different requests of a round. */
const REQUESTS = 2_000;
/** Deletes of a round, of records made before. */
const DELETES = 2_000;

export interface SizedSubject extends Subject {
  readonly table: SizedTable;
}

const many = (length: number, make: (index: number) => Prepared) => Array.from({ length }, (_, index) => make(index));
const pathOf = ({ table }: SizedSubject) => `/platform/classes/${table.className}`;
const list = (of: SizedSubject, where: unknown, rest: string): Prepared => ({
  method: 'GET',
  path: `${pathOf(of)}?where=${encodeURIComponent(JSON.stringify(where))}&${rest}`,
});
const creates = (of: SizedSubject, length: number) =>
  many(length, (index) => ({ method: 'POST', path: pathOf(of), body: newRecord(index) }));
/** Some record of a table; the factor is coprime to all sizes. */
const anyId = ({ table }: SizedSubject, seed: number): string => idOf((seed * 7_919_417) % table.records);
const removeNew = (of: SizedSubject) => send(serviceTarget(of.service), { ...list(of, { Group: 'new' }, ''), method: 'DELETE' });

const kinds: readonly Kind<SizedSubject>[] = [
  {
    name: 'read one',
    isFlat: true,
    requests: (of) => many(REQUESTS, (index) => ({ method: 'GET', path: `${pathOf(of)}/${anyId(of, index)}` })),
  },
  {
    name: 'list 100, sorted by an index',
    isFlat: true,
    requests: (of) => many(REQUESTS, (index) => list(of, { Amount: { $gte: index * 450 } }, 'order=Amount&limit=100')),
  },
  {
    name: `count of ${count(GROUP)} by an index`,
    isFlat: true,
    requests: (of) => many(100, (index) => list(of, { Group: `Group ${index % groupsOf(of.table)}` }, 'count=1&limit=0')),
  },
  {
    name: 'count of the whole table',
    isFlat: false,
    requests: (of) => [{ method: 'GET', path: `${pathOf(of)}?count=1&limit=0` }],
  },
  { name: 'create', isFlat: true, requests: (of) => creates(of, REQUESTS), clean: removeNew },
  {
    name: 'update of an index',
    isFlat: true,
    requests: (of, round) =>
      many(REQUESTS, (index) => ({
        method: 'PUT',
        path: `${pathOf(of)}/${anyId(of, index)}`,
        body: { Amount: ((index * 811 * round) % 1_000_000) + 0.25 },
      })),
  },
  {
    name: 'delete of one that nobody points at',
    isFlat: true,
    isOnce: true,
    requests: async (of) =>
      (await createMany(serviceTarget(of.service), creates(of, DELETES))).map((path) => ({ method: 'DELETE', path })),
    clean: removeNew,
  },
];

/** Measures requests to tables of different sizes. */
export const measureSizes = (context: BenchContext, engine: Engine, subjects: readonly SizedSubject[]) =>
  measureGrowth('growth: records of a table', context, engine, subjects, kinds);
