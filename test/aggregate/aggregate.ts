import assert from 'node:assert/strict';
import type { Row } from '../support/query.ts';
import type { Service } from '../support/service.ts';

export type Pipeline = readonly Row[];

/** Runs a pipeline, insists on 200 and answers the rows. */
export async function aggregate(service: Service, table: string, pipeline: Pipeline, query: Row = {}): Promise<Row[]> {
  const answer = await service.call('GET', `/platform/classes-aggregate/${table}`, { query: { pipeline, ...query } });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(Object.keys(answer.body), ['results']);
  return answer.body.results;
}

/** The ISO text of a Date, bare or wrapped: the documents leave open which of the two an aggregate answers. */
export const isoOf = (value: unknown): unknown =>
  typeof value === 'string' ? value : (value as { iso?: unknown } | undefined)?.iso;

/** The objectId of a Pointer, bare or whole, for the same reason. */
export const idOf = (value: unknown): unknown =>
  typeof value === 'string' ? value : (value as { objectId?: unknown } | undefined)?.objectId;
