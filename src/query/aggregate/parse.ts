import type { Grant } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Filter } from '../model/filter.ts';
import type { AggregateOptions } from '../model/options.ts';
import { checkValues } from '../parameters.ts';
import type { QueryScope } from '../where/context.ts';
import { allOf, guardedFilter, newSpending, parseWhere } from '../where/index.ts';
import { parseCondition } from './condition.ts';
import { parseCount, parseGroup } from './group.ts';
import { whereOfMatch } from './match.ts';
import type { Aggregation, Expression } from './model.ts';
import { PipelineBuilder } from './pipeline.ts';
import { parseAddFields, parseProject } from './project.ts';
import { parseUnwind } from './unwind.ts';

export const MAX_STAGES = 50;

/**
 * Builds a checked aggregation from its options. Without a stage it answers the records. Reference: aggregation.md#request.
 * @throws badQuery (102); fieldDenied (119); invalidFieldName (105); what the options and `parseWhere` throw
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
  if (pipeline.length > MAX_STAGES) fail('badQuery', `A pipeline has at most ${MAX_STAGES} stages.`);
  return pipeline.map(stageOf);
}

/** Parses `{"$name": spec}`; old SDKs leave the `$` out. */
function stageOf(stage: JsonValue): readonly [name: string, spec: JsonValue] {
  if (!isJsonObject(stage)) fail('badQuery', 'Pipeline stages should be objects.');
  const keys = Object.keys(stage);
  if (keys.length !== 1)
    fail('badQuery', `Pipeline stages should only have one key but found ${keys.join(', ').slice(0, limits.nameLength)}.`);
  const [key] = keys as [string];
  return [key.startsWith('$') ? key.slice(1) : key, stage[key] as JsonValue];
}

type ParseStage = (spec: JsonValue, pipeline: PipelineBuilder, filters: Filter[]) => void;

const stages: ReadonlyMap<string, ParseStage> = new Map<string, ParseStage>([
  ['match', parseMatch],
  ['group', parseGroup],
  ['project', parseProject],
  ['addFields', parseAddFields],
  ['sort', parseSort],
  ['skip', (spec, pipeline) => pipeline.add({ kind: 'skip', count: wholeNumber('$skip', spec) })],
  ['limit', (spec, pipeline) => pipeline.add({ kind: 'limit', count: wholeNumber('$limit', spec) })],
  ['unwind', parseUnwind],
  ['count', parseCount],
]);

/**
 * Parses one stage, named without `$`, and adds it to the pipeline. A `$match` that still applies to records goes to `filters`, with all
 * operators of `where`. Reference: aggregation.md#stages.
 * @throws badQuery (102) for an unknown stage and a wrong form; invalidFieldName (105); fieldDenied (119); what `parseWhere` throws
 */
function parseStage(name: string, spec: JsonValue, pipeline: PipelineBuilder, filters: Filter[]): void {
  const parse = stages.get(name);
  if (!parse) fail('badQuery', `Invalid aggregate stage '${name.slice(0, 50)}'.`);
  parse(spec, pipeline, filters);
}

function parseMatch(spec: JsonValue, pipeline: PipelineBuilder, filters: Filter[]): void {
  if (!isJsonObject(spec)) fail('badQuery', 'The $match stage takes an object.');
  const { grant, scope, spent } = pipeline;
  if (pipeline.atRecords) filters.push(parseWhere(whereOfMatch(spec, grant.table, scope.schema), grant, scope, spent));
  else pipeline.add({ kind: 'match', condition: parseCondition(spec, pipeline) });
}

function parseSort(spec: JsonValue, pipeline: PipelineBuilder): void {
  if (!isJsonObject(spec) || Object.keys(spec).length === 0)
    fail('badQuery', 'The $sort stage takes an object of at least one field.');
  const terms = Object.entries(spec).flatMap(([name, direction]): { place: Expression; descending: boolean }[] => {
    if (direction !== 1 && direction !== -1) fail('badQuery', '$sort takes 1 for ascending and -1 for descending.');
    pipeline.spend(1);
    const place = pipeline.resolve(name);
    return place ? [{ place, descending: direction === -1 }] : [];
  });
  const columns = pipeline.columnsOf(terms.map(({ place }) => place));
  pipeline.add({ kind: 'sort', keys: columns.map((column, at) => ({ column, descending: terms[at]?.descending === true })) });
}

function wholeNumber(stage: string, value: JsonValue): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0)
    fail('badQuery', `The ${stage} stage takes a whole number, 0 or more.`);
  return value;
}
