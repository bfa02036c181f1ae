import { isJsonObject } from '../../kernel/json.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { similarTo } from '../../kernel/similar.ts';
import { isSilencingFlag } from '../../records/index.ts';
import type { Schema } from '../../schema/model.ts';
import type { Line } from './lines.ts';

/** Columns that are told of; a file of another form would else fill the terminal. */
const MAX_SHOWN_COLUMNS = 10;
/** On every record, also of a table that is still to be made. */
const onEvery: ReadonlySet<string> = new Set(['objectId', 'createdAt', 'updatedAt', 'createdBy', 'updatedBy', 'ACL']);

/**
 * Looks through a whole file for columns that its table lacks. Lines that are no JSON objects are passed over: they are refused one by one.
 * @throws OperatorError that names them, where they were first met, and the nearest fields; or says that the table is missing
 */
export async function refuseNewColumns(schema: Schema, className: string, blocks: AsyncIterable<readonly Line[]>): Promise<void> {
  const table = schema.tables.get(className);
  if (!table) {
    const similar = similarTo(className, [...schema.tables.keys()]);
    throw new OperatorError(`there is no table ${className}${nearest(similar)}; --new-fields makes it`);
  }
  const missing = new Map<string, number>();
  let row = 0;
  for await (const block of blocks)
    for (const line of block) {
      row++;
      for (const name of namesOf(line))
        if (!table.fields.has(name) && !onEvery.has(name) && !missing.has(name)) missing.set(name, row);
      if (missing.size > MAX_SHOWN_COLUMNS) break;
    }
  if (missing.size === 0) return;
  const names = [...table.fields.keys()];
  const told = [...missing]
    .slice(0, MAX_SHOWN_COLUMNS)
    .map(([name, at]) => `${JSON.stringify(name)} (line ${at}${nearest(similarTo(name, names))})`);
  const more = missing.size > MAX_SHOWN_COLUMNS ? ' and more' : '';
  throw new OperatorError(`${className} has no field ${told.join(', ')}${more}; --new-fields makes them. Nothing was imported`);
}

const nearest = (name: string | undefined) => (name === undefined ? '' : `, perhaps ${name}`);

/** The fields that a line speaks of; flags are none, and `a.b` is a place in `a`. */
function namesOf(line: Line): string[] {
  try {
    const row: unknown = JSON.parse(line?.replace(/^\uFEFF/, '') ?? '');
    if (!isJsonObject(row as never)) return [];
    return Object.keys(row as object)
      .filter((key) => !isSilencingFlag(key))
      .map((key) => key.split('.', 1)[0] ?? key);
  } catch {
    return [];
  }
}
