import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../kernel/json.ts';
import { parseExpression } from './expression.ts';
import type { Column, Expression } from './model.ts';
import { aliasOf, outputName } from './names.ts';
import type { PipelineBuilder } from './pipeline.ts';

/** Names of a projection as a tree: `a.b` is the member b of the object a. */
type Tree = Map<string, Expression | Tree>;

const isOff = (value: JsonValue) => value === 0 || value === false;
const isOn = (value: JsonValue) => value === true || (typeof value === 'number' && value !== 0);

/** Parses `$addFields`: all values are computed over the input row. @throws badQuery (102), invalidFieldName (105), fieldDenied (119) */
export function parseAddFields(spec: JsonValue, pipeline: PipelineBuilder): void {
  const entries = entriesOf('$addFields', spec);
  const names = entries.map(([name]) => outputName(name));
  const columns = pipeline.columnsOf(entries.map(([, value]) => parseExpression(value, pipeline)));
  const row = new Map(pipeline.row);
  for (const [at, name] of names.entries()) row.set(name, columns[at] as Column);
  pipeline.setRow(row);
}

/**
 * Parses `$project`: names to keep or names to leave out, and new names for expressions; the id stays unless it is left out.
 * Reference: aggregation.md#project.
 * @throws badQuery (102), invalidFieldName (105), fieldDenied (119)
 */
export function parseProject(spec: JsonValue, pipeline: PipelineBuilder): void {
  const entries = entriesOf('$project', spec).map(([name, value]) => [name === '_id' ? 'objectId' : name, value] as const);
  const withoutId = entries.some(([name, value]) => name === 'objectId' && isOff(value));
  const others = entries.filter(([name]) => name !== 'objectId');
  const excluding = others.length > 0 ? others.every(([, value]) => isOff(value)) : withoutId;
  if (!excluding && others.some(([, value]) => isOff(value)))
    fail('badQuery', 'A projection cannot both include and exclude fields.');
  if (excluding) exclude(withoutId ? ['objectId'] : [], others, pipeline);
  else include(withoutId ? others : entries, withoutId, pipeline);
}

function exclude(
  dropped: readonly string[],
  entries: ReadonlyArray<readonly [string, JsonValue]>,
  pipeline: PipelineBuilder,
): void {
  const row = new Map(pipeline.row);
  const inside = new Map<string, { readonly column: Column; readonly paths: (readonly string[])[] }>();
  for (const name of dropped) row.delete(name);
  for (const [given] of entries) {
    pipeline.spend(1);
    const key = pipeline.keyOf(given);
    const place = pipeline.resolve(given);
    if (place?.form === 'column') row.delete(key);
    if (place?.form !== 'place') continue;
    const edited = inside.get(key) ?? { column: place.column, paths: [] };
    edited.paths.push(place.path);
    inside.set(key, edited);
  }
  for (const [key, edited] of inside) {
    if (!row.has(key)) continue;
    const [column] = pipeline.columnsOf([{ form: 'without', kind: 'json', ...edited }]);
    row.set(key, column as Column);
  }
  pipeline.setRow(row);
}

function include(entries: ReadonlyArray<readonly [string, JsonValue]>, withoutId: boolean, pipeline: PipelineBuilder): void {
  const tree: Tree = new Map();
  const id = withoutId ? null : pipeline.resolve('objectId');
  if (id) tree.set('objectId', id);
  for (const [name, value] of entries) {
    const path = (isOn(value) ? aliasOf(name) : name).split('.').map(outputName);
    const kept = isOn(value) ? pipeline.resolve(name) : parseExpression(value, pipeline);
    // The place of a kept name was counted by `resolve`; the objects around a new name were not.
    pipeline.spend(isOn(value) ? 1 : path.length);
    if (kept) plant(tree, path, kept, name);
  }
  const names = [...tree.keys()];
  const columns = pipeline.columnsOf([...tree.values()].map(expressionOf));
  pipeline.setRow(new Map(names.map((name, at) => [name, columns[at] as Column])));
}

function plant(tree: Tree, path: readonly string[], value: Expression, name: string): void {
  let at = tree;
  for (const step of path.slice(0, -1)) {
    const next = at.get(step) ?? new Map();
    if (!(next instanceof Map)) fail('badQuery', `Path collision at ${name.slice(0, 100)}`);
    at.set(step, next);
    at = next;
  }
  const last = path.at(-1) as string;
  if (at.get(last) instanceof Map) fail('badQuery', `Path collision at ${name.slice(0, 100)}`);
  at.set(last, value);
}

function expressionOf(node: Expression | Tree): Expression {
  if (!(node instanceof Map)) return node;
  return {
    form: 'object',
    kind: 'json',
    members: [...node].map(([name, value]) => [name, expressionOf(value)] as const),
    compact: true,
  };
}

function entriesOf(stage: string, spec: JsonValue): [string, JsonValue][] {
  if (!isJsonObject(spec) || Object.keys(spec).length === 0)
    fail('badQuery', `The ${stage} stage takes an object of at least one field.`);
  return Object.entries(spec as JsonObject);
}
