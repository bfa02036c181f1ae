import { fail, isRefusal, type ServiceError, serviceError } from '../../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import type { Schema, TableSchema } from '../../../schema/model.ts';
import type { OwnValues } from '../../../storage/column-values.ts';
import type { ImportRequest } from '../columns/request.ts';
import { none, type ReadRow, type SourceRow } from '../columns/row.ts';
import { shown } from '../columns/targets.ts';
import type { CreatedRecords } from './created-records.ts';
import { keyOf } from './keys.ts';
import { idsByKey, type LookUp } from './lookup.ts';
import { systemFieldNames, systemValuesOf } from './system-values.ts';

/** What to do with a row. */
export type Task = { readonly row: SourceRow } & (
  | {
      readonly kind: 'create';
      readonly body: JsonObject;
      readonly known: OwnValues;
      /** In a dry run: the row would update a record of an earlier group, which was rolled back. */
      readonly wouldUpdate?: true;
    }
  | { readonly kind: 'update'; readonly body: JsonObject; readonly objectId: string }
  | { readonly kind: 'reject'; readonly error: ServiceError }
) & { readonly keys: readonly string[] };

/** The specification of an import. */
export interface ImportSpec {
  readonly request: ImportRequest;
  /** As in `ImportPlan`. */
  readonly linkedBy: readonly string[];
  /** As in `ImportPlan`. */
  readonly fields: ReadonlySet<string>;
}

/** A parsed row. */
interface Prepared extends ReadRow {
  readonly row: SourceRow;
  readonly known: OwnValues;
  /** Comparison key; `null` if it matches no record. */
  readonly key: string | null;
}

/** Maximum number of matching records listed. */
const MAX_NAMED = 5;

const ID = 'objectId';

/** Converts the rows of a file to tasks. */
export class TaskMaker {
  readonly #request: ImportRequest;
  readonly #linkedBy: readonly string[];
  readonly #fields: ReadonlySet<string>;
  /** The last seen table, and the fields it has lost since the file was examined. */
  #lastTable: { readonly table: TableSchema; readonly dropped: readonly string[] } | null = null;
  readonly #created: CreatedRecords;
  readonly #onLeftOut: (name: string, row: SourceRow) => void;

  /** @param onLeftOut called with the name of each value that is not imported, and its row */
  constructor(
    { request, fields, linkedBy }: ImportSpec,
    made: CreatedRecords,
    onLeftOut: (name: string, row: SourceRow) => void,
  ) {
    this.#request = request;
    this.#linkedBy = linkedBy;
    this.#fields = fields;
    this.#created = made;
    this.#onLeftOut = onLeftOut;
  }

  /** Parses rows, and splits them so that no row depends on another one of its part. */
  parts(rows: readonly SourceRow[]): (Prepared | Task)[][] {
    const parts: (Prepared | Task)[][] = [];
    let part: (Prepared | Task)[] = [];
    let created = new Set<string>();
    for (const row of rows) {
      const one = this.#prepare(row);
      if ('links' in one) {
        if (this.#keysNeeded(one).some((key) => created.has(key))) {
          parts.push(part);
          part = [];
          created = new Set();
        }
        for (const key of this.#keysCreated(one)) created.add(key);
      }
      part.push(one);
    }
    if (part.length > 0) parts.push(part);
    return parts;
  }

  /** Returns the tasks of a part. @throws OperatorError if the table or a field of these rows was dropped meanwhile; errors of lookups */
  async tasks(lookUp: LookUp, part: readonly (Prepared | Task)[]): Promise<Task[]> {
    const prepared = part.filter((one) => 'links' in one);
    this.refuseDropped(lookUp.schema, prepared);
    const links = await this.#findLinks(lookUp, prepared);
    const matches = await this.#findMatches(lookUp, prepared);
    return part.map((one) => {
      if (!('links' in one)) return one;
      try {
        return this.#task(one, links, matches);
      } catch (error) {
        return rejected(one.row, error);
      }
    });
  }

  /**
   * Checks that the columns accepted at the start still exist: unless new fields were requested, none may be recreated.
   * @throws OperatorError if the table or a field of rows was dropped meanwhile
   */
  refuseDropped({ tables }: Schema, rows: readonly (Prepared | Task)[]): void {
    const { className, newFields } = this.#request;
    if (newFields) return;
    const table = tables.get(className);
    if (!table) throw new OperatorError(`the table ${className} was dropped during the import`);
    const dropped = this.#droppedFrom(table);
    if (dropped.length === 0) return;
    for (const row of rows)
      for (const name of dropped)
        if ('body' in row && Object.hasOwn(row.body, name))
          throw new OperatorError(`the field ${name} of ${className} was dropped during the import`);
  }

  #droppedFrom(table: TableSchema): readonly string[] {
    if (this.#lastTable?.table !== table)
      this.#lastTable = { table, dropped: [...this.#fields].filter((name) => !table.fields.has(name)) };
    return this.#lastTable.dropped;
  }

  #prepare(row: SourceRow): Prepared | Task {
    const { className, matchOn, keepTimes, skipTriggers, skipTimeline } = this.#request;
    try {
      const read = row.read();
      const { body } = read;
      const known = keepTimes ? systemValuesOf(className, body) : {};
      const key = matchOn.length === 0 ? null : keyOf(body, matchOn);
      for (const name of read.leftOut) this.#onLeftOut(name, row);
      if (!keepTimes) {
        for (const name of systemFieldNames)
          if (name !== ID || !matchOn.includes(ID))
            if (Object.hasOwn(body, name) && body[name] !== null) this.#onLeftOut(name, row);
        if (Object.hasOwn(body, ID) && !matchOn.includes(ID)) delete body[ID];
      }
      if (skipTriggers) body.dontRunPlatformTriggers = true;
      if (skipTimeline) body.dontUpdatePlatformTimeline = true;
      return { ...read, row, known, key };
    } catch (error) {
      return rejected(row, error);
    }
  }

  #keysNeeded({ key, links }: Prepared): string[] {
    const own = links.filter(({ target }) => target.className === this.#request.className);
    return [...(key === null ? [] : [matchKey(key)]), ...own.map(({ target, value }) => linkKey(target.by.name, value))];
  }

  #keysCreated({ key, body }: Pick<Prepared, 'key' | 'body'>): string[] {
    const names = this.#linkedBy.filter((name) => isText(body[name]));
    const keys = names.map((name) => linkKey(name, body[name] as JsonValue));
    return key === null ? keys : [matchKey(key), ...keys];
  }

  async #findLinks(lookUp: LookUp, rows: readonly Prepared[]): Promise<Map<string, Map<string, string[]>>> {
    const wanted = new Map<string, { className: string; by: string; values: Map<string, JsonObject> }>();
    for (const { links } of rows)
      for (const { target, value } of links) {
        const { className, by } = target;
        const place = placeOf(className, by.name);
        const known = wanted.get(place) ?? { className, by: by.name, values: new Map() };
        const key = keyOf({ [by.name]: value }, [by.name]);
        if (key !== null) known.values.set(key, { [by.name]: value });
        wanted.set(place, known);
      }
    const found = new Map<string, Map<string, string[]>>();
    for (const [place, { className, by, values }] of wanted) found.set(place, await idsByKey(lookUp, className, [by], values));
    return found;
  }

  async #findMatches(lookUp: LookUp, rows: readonly Prepared[]): Promise<Map<string, string[]>> {
    const { className, matchOn } = this.#request;
    const keyed = new Map(rows.flatMap(({ key, body }): [string, JsonObject][] => (key === null ? [] : [[key, body]])));
    return idsByKey(lookUp, className, matchOn, keyed);
  }

  #task(
    { row, body, links, known, key }: Prepared,
    found: Map<string, Map<string, string[]>>,
    matches: Map<string, string[]>,
  ): Task {
    for (const { target, value } of links) this.#link(body, target, value, found);
    const keys = this.#keysOf(body, key);
    if (key !== null) {
      const made = this.#created.find(matchKey(key));
      const ids = [...new Set([...(matches.get(key) ?? []), ...(made === undefined ? [] : [made])])];
      if (ids.length > 1) {
        const named = `${ids.slice(0, MAX_NAMED).join(' and ')}${ids.length > MAX_NAMED ? ' and others' : ''}`;
        fail('badRow', `several records match it: ${named}`);
      }
      const [objectId] = ids;
      if (objectId !== undefined) {
        const { [ID]: _, ...rest } = body;
        return { kind: 'update', row, body: rest, objectId, keys };
      }
      if (this.#created.wouldBe(matchKey(key))) {
        const { [ID]: _, ...rest } = body;
        return { kind: 'create', row, body: rest, known, keys, wouldUpdate: true };
      }
    }
    const { [ID]: id } = body;
    if (typeof id === 'string' && this.#created.wouldBe(idKey(id))) return rejected(row, serviceError('duplicateValue'));
    return { kind: 'create', row, body, known, keys };
  }

  #link(
    body: JsonObject,
    { className, by, name }: ReadRow['links'][number]['target'],
    value: JsonValue,
    found: Map<string, Map<string, string[]>>,
  ): void {
    const key = keyOf({ [by.name]: value }, [by.name]);
    if (key === null) return;
    const isOwn = className === this.#request.className;
    const made = isOwn ? this.#created.find(linkKey(by.name, value)) : undefined;
    const ids = [
      ...new Set([...(found.get(placeOf(className, by.name))?.get(key) ?? []), ...(made === undefined ? [] : [made])]),
    ];
    const about = `${name}: ${className} has`;
    if (ids.length > 1)
      fail('badRow', `${about} several records with the ${by.name} ${shown(key)}: ${ids.slice(0, MAX_NAMED).join(' and ')}`);
    const [objectId] = ids;
    if (objectId === undefined && isOwn && this.#created.wouldBe(linkKey(by.name, value))) return;
    if (objectId === undefined) fail('badRow', `${about} no record with the ${by.name} ${shown(key)}`);
    body[name] = { __type: 'Pointer', className, objectId: objectId as string };
  }

  /** Returns the keys by which other rows may refer to this one. */
  #keysOf(body: JsonObject, key: string | null): readonly string[] {
    const own = key === null && this.#linkedBy.length === 0 ? none : this.#keysCreated({ key, body });
    const id = body[ID];
    return this.#request.keepTimes && typeof id === 'string' ? [...own, idKey(id)] : own;
  }
}

/** Whether records can be found by this value. */
const isText = (value: JsonValue | undefined): boolean => typeof value === 'string' || typeof value === 'number';

const matchKey = (key: string): string => `match ${key}`;
const linkKey = (name: string, value: JsonValue): string => `link ${name} ${keyOf({ [name]: value }, [name])}`;
const idKey = (id: string): string => `id ${id}`;
const placeOf = (className: string, name: string): string => `${className}.${name}`;

function rejected(row: SourceRow, error: unknown): Task {
  if (!isRefusal(error)) throw error;
  return { kind: 'reject', row, error, keys: none };
}
