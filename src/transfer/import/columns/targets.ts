import type { Grant } from '../../../access/index.ts';
import { isJsonObject, type JsonValue } from '../../../kernel/json.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { similarTo } from '../../../kernel/similar.ts';
import type { FieldLabels } from '../../../schema/describe.ts';
import { checkFieldName, type Field, type Schema, type TableSchema } from '../../../schema/model.ts';
import { isDescribed } from '../../../schema/system-tables.ts';

/** A Pointer that is resolved by a field of its target table. */
export interface LinkTarget {
  readonly name: string;
  readonly className: string;
  readonly by: Field;
}

/** The target of a column's values. */
export type Target =
  | {
      readonly kind: 'none';
      /** Reported by this name as not imported. */
      readonly leftOut?: string;
    }
  | { readonly kind: 'field'; readonly field: Field }
  /** A field to be added to the table. */
  | { readonly kind: 'new'; readonly name: string }
  | ({ readonly kind: 'link' } & LinkTarget);

/** A column without a target. */
export interface Unknown {
  /** Description of the column and the reason. */
  readonly description: string;
  /** The nearest existing name, if any. */
  readonly nearest?: string | undefined;
}

/** Maps columns to fields; `null` leaves a column out. */
export type FieldMap = ReadonlyMap<string, string | null>;

/** Parses a map of columns. @throws OperatorError */
export function fieldMapOf(value: JsonValue): FieldMap {
  const isMap = isJsonObject(value) && Object.values(value).every((target) => target === null || typeof target === 'string');
  if (!isMap)
    throw new OperatorError('a map of columns is one JSON object: {"<column>": "<Field>"}, null for a column to leave out');
  return new Map(Object.entries(value as Record<string, string | null>));
}

/** Context for finding the targets of columns. */
export interface TargetOptions {
  readonly schema: Schema;
  readonly className: string;
  /** `undefined` if the table does not exist yet. */
  readonly table: TableSchema | undefined;
  /** The caller's rights: hidden fields are treated as missing. */
  readonly grant: Pick<Grant, 'hiddenFields'> | null;
  /** Fields of another table by which the caller may not search. */
  readonly hiddenOf: (table: TableSchema) => ReadonlySet<string>;
  readonly labels: FieldLabels;
  readonly map: FieldMap;
  readonly newFields: boolean;
}

/** Fields of every record, also for a table that does not exist yet. */
const onEvery: ReadonlyMap<string, Field> = new Map(
  (
    [
      ['objectId', 'String'],
      ['createdAt', 'Date'],
      ['updatedAt', 'Date'],
      ['createdBy', 'Pointer'],
      ['updatedBy', 'Pointer'],
      ['ACL', 'ACL'],
    ] as const
  ).map(([name, type]) => [name, { name, type, column: name, ...(type === 'Pointer' && { targetClass: '_User' }) }]),
);

/** Credentials in exports of users, for which no field of `_User` is created. */
const keptOfUsers: readonly string[] = ['sessionToken', 'authData', 'bcryptPassword'];

/** Resolves columns to fields. */
export class Targets {
  readonly #options: TargetOptions;
  readonly #fields: ReadonlyMap<string, Field>;
  readonly #byLabel: ReadonlyMap<string, readonly Field[]>;

  constructor(options: TargetOptions) {
    this.#options = options;
    const { table, grant, labels, className } = options;
    const seen = [...(table?.fields ?? onEvery).values()].filter(
      ({ name }) => isDescribed(className, name) && (name === 'password' || !grant?.hiddenFields.has(name)),
    );
    this.#fields = new Map(seen.map((field) => [field.name, field]));
    this.#byLabel = Map.groupBy(
      seen.filter(({ name }) => labels.has(name)),
      ({ name }) => textOf(labels.get(name) ?? ''),
    );
  }

  /** Names of possible target fields. */
  get names(): ReadonlySet<string> {
    return new Set(this.#fields.keys());
  }

  /** Returns a field by name. */
  field(name: string): Field | undefined {
    return this.#fields.get(name);
  }

  /** Columns for which no field is created. */
  get withheld(): readonly string[] {
    return this.#options.className === '_User' ? keptOfUsers.filter((name) => !this.#fields.has(name)) : [];
  }

  /** Resolves a column. @param column name or label */
  of(column: string): Target | Unknown {
    const mapped = this.#options.map.get(column);
    if (mapped === null || mapped === '') return { kind: 'none' };
    if (mapped !== undefined) return this.#mapped(mapped);
    const field = this.#fields.get(column);
    if (field) return { kind: 'field', field };
    const labelled = this.#byLabel.get(textOf(column)) ?? [];
    if (labelled.length > 1)
      return { description: `${shown(column)}, the label of ${labelled.map(({ name }) => name).join(' and ')}` };
    return labelled[0] ? { kind: 'field', field: labelled[0] } : this.#unknown(column);
  }

  #mapped(name: string): Target | Unknown {
    const dot = name.indexOf('.');
    if (dot >= 0) return this.#link(name.slice(0, dot), name.slice(dot + 1));
    const field = this.#fields.get(name);
    return field ? { kind: 'field', field } : this.#unknown(name);
  }

  #link(name: string, byName: string): Target | Unknown {
    const { schema, hiddenOf } = this.#options;
    const whole = shown(`${name}.${byName}`);
    const field = this.#fields.get(name);
    if (field?.type !== 'Pointer' || field.targetClass === undefined)
      return { description: `${whole}: ${name} is no Pointer`, nearest: this.#nearest(name) };
    const target = schema.tables.get(field.targetClass);
    const hidden = target ? hiddenOf(target) : new Set<string>();
    const known = [...(target?.fields.values() ?? [])].filter(
      (one) => comparable.has(one.type) && !hidden.has(one.name) && isDescribed(field.targetClass ?? '', one.name),
    );
    const by = known.find((one) => one.name === byName);
    if (target && by) return { kind: 'link', name, className: target.className, by };
    const nearest = similarTo(
      byName,
      known.map((one) => one.name),
    );
    return { description: `${whole}: ${field.targetClass} has no field ${byName} to find records by`, nearest };
  }

  #unknown(column: string): Target | Unknown {
    // No field is made of a former name, which writes refuse.
    const present = this.#options.table?.formerNames.get(column);
    if (present !== undefined)
      return { description: shown(column), nearest: this.#fields.has(present) ? `${present}, its name now` : undefined };
    if (!this.#options.newFields) return { description: shown(column), nearest: this.#nearest(column) };
    if (this.withheld.includes(column)) return { kind: 'none', leftOut: column };
    try {
      checkFieldName(column);
    } catch {
      return { description: `${shown(column)}, which can be the name of no field: a map of columns names one` };
    }
    return { kind: 'new', name: column };
  }

  #nearest(name: string): string | undefined {
    return similarTo(name, [...this.#fields.keys()]) ?? similarTo(name, [...this.#byLabel.keys()]);
  }
}

/** Types by whose values records can be found. */
export const comparable: ReadonlySet<Field['type']> = new Set(['String', 'Number', 'Boolean', 'Date', 'Pointer']);

export const shown = (name: string): string => JSON.stringify(name.slice(0, 100).toWellFormed());
export const perhaps = (nearest: string | undefined): string => (nearest === undefined ? '' : ` (perhaps ${nearest})`);
const textOf = (label: string): string => label.trim().normalize('NFC');

/**
 * Refuses a file with columns that have no target, listing at most `MAX_LISTED`.
 * @param unknown with the first occurrence, if that is not the header
 * @throws OperatorError
 */
export function refuseUnknown(className: string, unknown: readonly (Unknown & { readonly at?: string })[]): void {
  if (unknown.length === 0) return;
  const descriptions = unknown.slice(0, MAX_LISTED).map((one) => {
    const notes = [one.at, one.nearest === undefined ? undefined : `perhaps ${one.nearest}`].filter((note) => note !== undefined);
    return notes.length === 0 ? one.description : `${one.description} (${notes.join(', ')})`;
  });
  const more = unknown.length > MAX_LISTED ? ' and more' : '';
  throw new OperatorError(
    `${className} has no field ${descriptions.join(', ')}${more}; --new-fields makes them. Nothing was imported`,
  );
}

export const MAX_LISTED = 10;

/** Refuses a map that names columns the file does not have. @throws OperatorError */
export function refuseUnusedMap(map: FieldMap, columns: Iterable<string>): void {
  const known = [...columns];
  const present = new Set(known);
  for (const column of map.keys())
    if (!present.has(column))
      throw new OperatorError(
        `the map names ${shown(column)}, which is no column of the file${perhaps(similarTo(column, known))}`,
      );
}

/** Refuses two columns with the same target field. @throws OperatorError */
export function refuseTwice(targets: Iterable<readonly [column: string, target: Target]>): void {
  const taken = new Map<string, string>();
  for (const [column, target] of targets) {
    const name = nameOf(target);
    if (name === null) continue;
    const other = taken.get(name);
    if (other !== undefined)
      throw new OperatorError(`${shown(other)} and ${shown(column)} are both the field ${name}. Nothing was imported`);
    taken.set(name, column);
  }
}

/** Returns the name of the target field. */
export function nameOf(target: Target): string | null {
  if (target.kind === 'none') return null;
  return target.kind === 'field' ? target.field.name : target.name;
}

/** Refuses an import into a table that does not exist. @throws OperatorError */
export function refuseMissingTable({ tables }: Schema, className: string): never {
  const similar = similarTo(className, [...tables.keys()]);
  throw new OperatorError(
    `there is no table ${className}${perhaps(similar).replace(/^ \((.*)\)$/, ', $1')}; --new-fields makes it`,
  );
}
