import { fail } from '../../errors/fail.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { nullLiteral } from './literal.ts';
import type { Column } from './model.ts';
import { outputName } from './names.ts';
import type { PipelineBuilder } from './pipeline.ts';

const options: ReadonlySet<string> = new Set(['path', 'includeArrayIndex', 'preserveNullAndEmptyArrays']);

/**
 * Parses `$unwind`: `"$field"` or `{path, includeArrayIndex, preserveNullAndEmptyArrays}`; the field then holds one element in each row.
 * Reference: aggregation.md#unwind.
 * @throws badQuery (102), invalidFieldName (105), fieldDenied (119)
 */
export function parseUnwind(spec: JsonValue, pipeline: PipelineBuilder): void {
  const { path, index, preserve } = optionsOf(spec);
  const name = path.slice(1);
  const place = pipeline.resolve(name) ?? nullLiteral;
  const [source] = pipeline.columnsOf([place]) as [Column];
  const element = source.kind === 'json' ? pipeline.column({ kind: 'json' }, false, source) : source;
  const position = pipeline.column({ kind: 'number' }, true);
  if (source.kind === 'json') pipeline.add({ kind: 'unwind', source, element, position, preserve });
  // A single value is its own element: the row stays if the value is present.
  else if (!preserve) pipeline.add({ kind: 'match', condition: { kind: 'exists', column: source } });

  const row = new Map(pipeline.row);
  if (place.form === 'column') row.set(pipeline.keyOf(name), element);
  if (place.form === 'place') {
    const [edited] = pipeline.columnsOf([
      { form: 'edited', kind: 'json', column: place.column, path: place.path, value: element },
    ]);
    row.set(pipeline.keyOf(name), edited as Column);
  }
  if (index !== undefined) {
    const [indexColumn] = source.kind === 'json' ? [position] : pipeline.columnsOf([nullLiteral]);
    row.set(index, indexColumn as Column);
  }
  pipeline.setRow(row);
}

function optionsOf(spec: JsonValue): { path: string; index: string | undefined; preserve: boolean } {
  const given: JsonObject = isJsonObject(spec) ? spec : { path: spec };
  const unknown = Object.keys(given).find((key) => !options.has(key));
  if (unknown !== undefined) fail('badQuery', `Unrecognized option to $unwind stage: ${unknown.slice(0, 50)}`);
  const path = own(given, 'path');
  if (typeof path !== 'string' || !/^\$[^$]/.test(path))
    fail('badQuery', "The path of $unwind is a field name with '$' before it.");
  const index = own(given, 'includeArrayIndex');
  if (index !== undefined && typeof index !== 'string') fail('badQuery', 'includeArrayIndex of $unwind is the name of a field.');
  const preserve = own(given, 'preserveNullAndEmptyArrays') ?? false;
  if (typeof preserve !== 'boolean') fail('badQuery', 'preserveNullAndEmptyArrays of $unwind is true or false.');
  return { path, index: index === undefined ? undefined : outputName(index), preserve };
}
