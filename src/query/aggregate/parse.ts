import type { Grant } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Filter } from '../filter.ts';
import type { AggregateOptions } from '../options.ts';
import { checkExtent, checkValues } from '../parameters.ts';
import type { QueryScope } from '../scope.ts';
import { allOf, guardedFilter, newSpending, parseWhere } from '../where/index.ts';
import type { Aggregation } from './model.ts';
import { PipelineBuilder } from './pipeline.ts';
import { parseStage } from './stages.ts';

const maxStages = 50;

/**
 * An aggregation from its options (CONTRACT "Records"). Without a stage it answers the records.
 * @throws badQuery (102); nestedTooDeep (107); fieldDenied (119); invalidFieldName (105); what the options and `parseWhere` throw
 */
export function buildAggregation(options: AggregateOptions, grant: Grant, scope: QueryScope): Aggregation {
  options.refuseUnknown?.();
  const filters: Filter[] = [];
  const spent = newSpending(scope);
  const { where } = options;
  if (where) filters.push(parseWhere(where, grant, scope, spent));
  const pipeline = new PipelineBuilder(grant, scope, spent);
  const given = stagesOf(options.pipeline ?? []);
  checkValues(given.map(([, spec]) => spec));
  for (const [name, spec] of given) parseStage(name, spec, pipeline, filters);
  const { table } = grant;
  const { base, sequence, stages, row } = pipeline;
  const output = [...row].sort(([a], [b]) => Number(b === 'objectId') - Number(a === 'objectId'));
  return { table, filter: guardedFilter(grant, allOf(filters)), base, sequence, stages, output };
}

function stagesOf(pipeline: readonly JsonValue[]): (readonly [name: string, spec: JsonValue])[] {
  checkExtent(pipeline);
  if (pipeline.length > maxStages) fail('badQuery', `A pipeline has at most ${maxStages} stages.`);
  return pipeline.map(stageOf);
}

/** `{"$name": spec}`; old SDKs leave the `$` out. */
function stageOf(stage: JsonValue): readonly [name: string, spec: JsonValue] {
  if (!isJsonObject(stage)) fail('badQuery', 'Pipeline stages should be objects.');
  const keys = Object.keys(stage);
  if (keys.length !== 1)
    fail('badQuery', `Pipeline stages should only have one key but found ${keys.join(', ').slice(0, limits.nameLength)}.`);
  const [key] = keys as [string];
  return [key.startsWith('$') ? key.slice(1) : key, stage[key] as JsonValue];
}
