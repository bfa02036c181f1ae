import type { Grant } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonValue } from '../../kernel/json.ts';
import { limits } from '../../kernel/limits.ts';
import type { Filter } from '../filter.ts';
import { checkValues, queryJson, whereValue } from '../json-value.ts';
import { splitNames } from '../list.ts';
import type { QueryParameters, QueryScope } from '../scope.ts';
import { allOf, guardedFilter, newSpending, parseWhere } from '../where/index.ts';
import type { Aggregation } from './model.ts';
import { PipelineBuilder } from './pipeline.ts';
import { parseStage } from './stages.ts';

const maxStages = 50;
/** The stages of the short form, in the order in which they apply. */
const shortStages = ['unwind', 'group', 'project', 'sort', 'skip', 'limit', 'count'] as const;
const known: ReadonlySet<string> = new Set(['pipeline', 'where', ...shortStages]);

/**
 * An aggregation from its parameters (CONTRACT "Records"): `pipeline`, or the short form with one parameter for each stage;
 * `where` goes before either. Without a stage it answers the records.
 * @throws invalidParameter, badParameterValue, badQuery (102); invalidJson (107); invalidWhere (500); fieldDenied (119);
 *   invalidFieldName (105); what `parseWhere` throws
 */
export function parseAggregation(parameters: QueryParameters, grant: Grant, scope: QueryScope): Aggregation {
  checkAggregationParameters(parameters);
  const filters: Filter[] = [];
  const spent = newSpending(scope);
  const where = parameters.get('where');
  if (where !== undefined) filters.push(parseWhere(whereValue(where), grant, scope, spent));
  const pipeline = new PipelineBuilder(grant, scope, spent);
  const given = stagesOf(parameters);
  checkValues(given.map(([, spec]) => spec));
  for (const [name, spec] of given) parseStage(name, spec, pipeline, filters);
  const { table } = grant;
  const { base, sequence, stages, row } = pipeline;
  const output = [...row].sort(([a], [b]) => Number(b === 'objectId') - Number(a === 'objectId'));
  return { table, filter: guardedFilter(grant, allOf(filters)), base, sequence, stages, output };
}

/**
 * The check that an aggregation of a table that does not exist gets too.
 * @throws invalidParameter (102) for an unknown parameter, and for one of the short form beside `pipeline`
 */
export function checkAggregationParameters(parameters: QueryParameters): void {
  for (const name of parameters.keys())
    if (!known.has(name) || (parameters.has('pipeline') && name !== 'pipeline' && name !== 'where'))
      fail('invalidParameter', name.slice(0, limits.nameLength));
}

function stagesOf(parameters: QueryParameters): (readonly [name: string, spec: JsonValue])[] {
  const given = parameters.get('pipeline');
  if (given === undefined)
    return shortStages.flatMap((name) => {
      const spec = parameters.get(name);
      return spec === undefined ? [] : [[name, typeof spec === 'string' ? specOf(name, spec) : spec] as const];
    });
  const pipeline = typeof given === 'string' ? queryJson(given) : given;
  if (!Array.isArray(pipeline)) fail('badParameterValue', 'pipeline', 'should be a JSON array of stages');
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

/** Numbers and names come bare in an address, and lists of names as in `order` and `keys` of a query; all else is JSON. */
function specOf(name: string, text: string): JsonValue {
  if ((name === 'sort' || name === 'project') && !/^\s*[[{"]/.test(text)) return namesOf(name, text);
  const bare = name === 'count' || (name === 'unwind' && !text.startsWith('{'));
  if (bare && !text.startsWith('"')) return text;
  if ((name === 'skip' || name === 'limit') && !/^\d{1,15}$/.test(text))
    fail('badParameterValue', name, 'should be a whole number, 0 or more');
  return queryJson(text);
}

/** `-a,b` as `{a: -1, b: 1}` of a sort. @throws badParameterValue (102) for a list that is too long */
function namesOf(parameter: 'sort' | 'project', list: string): JsonValue {
  const directed = parameter === 'sort';
  const names = splitNames(parameter, list);
  return Object.fromEntries(names.map((name) => (directed && name.startsWith('-') ? [name.slice(1), -1] : [name, 1])));
}
