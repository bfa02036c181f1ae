import assert from 'node:assert/strict';
import type { Row } from '../support/query.ts';
import type { Service } from '../support/service.ts';

export type Pipeline = readonly Row[];

/** Runs a pipeline, asserts 200 and returns the rows. */
export async function aggregate(service: Service, table: string, pipeline: Pipeline, query: Row = {}): Promise<Row[]> {
  const answer = await service.call('GET', `/platform/classes-aggregate/${table}`, { query: { pipeline, ...query } });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(Object.keys(answer.body), ['results']);
  return answer.body.results;
}

/** Returns the ISO text of a Date, bare or wrapped: an aggregate may return either. */
export const isoOf = (value: unknown): unknown =>
  typeof value === 'string' ? value : (value as { iso?: unknown } | undefined)?.iso;

/** Returns the objectId of a Pointer, bare or whole: an aggregate may return either. */
export const idOf = (value: unknown): unknown =>
  typeof value === 'string' ? value : (value as { objectId?: unknown } | undefined)?.objectId;
