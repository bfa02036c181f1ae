import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { parseExpression } from './expression.ts';
import { type Accumulator, type Column, type Expression, kindOf, type ValueKind } from './model.ts';
import { outputName } from './names.ts';
import type { PipelineBuilder } from './pipeline.ts';

const number = (): ValueKind => ({ kind: 'number' });
const json = (): ValueKind => ({ kind: 'json' });
const same = (argument: ValueKind): ValueKind => argument;
const accumulators: ReadonlyMap<string, readonly [Accumulator['operator'], (argument: ValueKind) => ValueKind]> = new Map([
  ['$sum', ['sum', number]],
  ['$avg', ['avg', number]],
  ['$min', ['min', same]],
  ['$max', ['max', same]],
  ['$first', ['first', same]],
  ['$last', ['last', same]],
  ['$push', ['push', json]],
  ['$addToSet', ['addToSet', json]],
  ['$count', ['count', number]],
]);

/**
 * Parses `$group`: `_id` (or `objectId`) is null, a value, an expression, or an object of expressions; the keys come back as `objectId`.
 * Reference: aggregation.md#group.
 * @throws invalidParameter (102) without a key; badQuery (102) for unknown accumulators; what expressions throw
 */
export function parseGroup(spec: JsonValue, pipeline: PipelineBuilder): void {
  if (!isJsonObject(spec)) fail('badQuery', 'The $group stage takes an object.');
  const keyName = ['_id', 'objectId'].find((name) => Object.hasOwn(spec, name));
  if (keyName === undefined) fail('invalidParameter', 'group. Missing key _id');
  const key = parseExpression(spec[keyName] as JsonValue, pipeline);
  const wanted = Object.entries(spec)
    .filter(([name]) => name !== '_id' && name !== 'objectId')
    .map(([name, value]) => parseAccumulator(name, value, pipeline));

  const parts = keyParts(key);
  const sources = pipeline.columnsOf([...parts, ...wanted.flatMap(({ argument }) => argument ?? [])]);
  const keys = parts.map((part, at) => [pipeline.column(part, true, sources[at]), sources[at] as Column] as const);
  const results = sources.slice(parts.length).values();
  const row = new Map<string, Column>();
  const made = wanted.map(({ name, operator, kind, argument }): Accumulator => {
    const from = argument && (results.next().value as Column);
    const column = pipeline.column(kind, true, from);
    row.set(name, column);
    return from ? { column, operator, argument: from } : { column, operator };
  });
  pipeline.add({ kind: 'group', keys, accumulators: made });
  const [objectId] = pipeline.columnsOf([
    rebuilt(
      key,
      keys.map(([column]) => column),
    ),
  ]);
  pipeline.setRow(new Map([['objectId', objectId as Column], ...row]));
}

/** Parses `$count`: one row with the number of rows, no row if there are none. @throws badQuery (102) for a bad name */
export function parseCount(name: JsonValue, pipeline: PipelineBuilder): void {
  if (typeof name !== 'string' || name === '') fail('badQuery', 'The $count stage takes the name of a field.');
  const column = pipeline.column({ kind: 'number' }, true);
  pipeline.add({ kind: 'group', keys: [], accumulators: [{ column, operator: 'count' }] });
  pipeline.setRow(new Map([[outputName(name), column]]));
}

function parseAccumulator(name: string, value: JsonValue, pipeline: PipelineBuilder) {
  const output = outputName(name);
  const text = isJsonObject(value) ? Object.keys(value) : [];
  const known = text.length === 1 ? accumulators.get(text[0] as string) : undefined;
  if (!known) {
    if (text.length === 1) fail('badQuery', `unknown group operator '${text[0]?.slice(0, 50)}'`);
    fail('badQuery', `The field '${output}' must be an accumulator object.`);
  }
  const operand = (value as JsonObject)[text[0] as string] as JsonValue;
  const [operator, kindOfResult] = known;
  if (operator === 'count') {
    if (!isJsonObject(operand) || Object.keys(operand).length > 0)
      fail('badQuery', '$count takes no arguments, write {$count: {}}.');
    return { name: output, operator, kind: number(), argument: undefined };
  }
  if (operator === 'sum' && operand === 1)
    return { name: output, operator: 'count' as const, kind: number(), argument: undefined };
  const argument = parseExpression(operand, pipeline);
  return { name: output, operator, kind: kindOfResult(argument), argument };
}

/** Returns the expressions to group by: the members of an object one by one, so that they keep their kinds; none for a constant. */
function keyParts(key: Expression): readonly Expression[] {
  if (key.form === 'object') return key.members.flatMap(([, value]) => keyParts(value));
  return key.form === 'literal' ? [] : [key];
}

/** Builds the key of a group from its parts. */
function rebuilt(key: Expression, parts: Column[]): Expression {
  const rest = parts.values();
  const build = (part: Expression): Expression => {
    if (part.form === 'object') return { ...part, members: part.members.map(([name, value]) => [name, build(value)] as const) };
    if (part.form === 'literal') return part;
    const column = rest.next().value as Column;
    return { form: 'column', ...kindOf(column), column };
  };
  return build(key);
}
