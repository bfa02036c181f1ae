import { isJson } from '../../kernel/json.ts';
import { presentName } from '../../schema/former-names.ts';
import type { Field, TableSchema } from '../../schema/model.ts';
import { secretFieldsOf } from '../../schema/system-tables.ts';
import { snapshotValues } from '../../storage/column-values.ts';
import type { Reader, Store } from '../../storage/port.ts';
import { type StoredValue, storageOf } from '../../values/index.ts';
import type { SnapshotRecord } from '../matching/conditions.ts';
import type { TriggeringRecord } from '../model/model.ts';
import type { Job, StoredSnapshot } from '../queue/index.ts';

/** The arrangement of values in a snapshot. */
interface Layout {
  readonly names: readonly string[];
  /** The field of each value; a placeholder if the table no longer has it. */
  readonly fields: readonly Field[];
  /** Existing fields without secrets, `objectId` first. The same array for the same fields. */
  readonly visible: readonly Field[];
}

/** By table and by the names as JSON. */
const layouts = new WeakMap<TableSchema, Map<string, Layout>>();
/** Layouts remembered per table: creates have one for each set of fields. */
const MAX_LAYOUTS = 200;

function layoutOf(table: TableSchema, names: string): Layout {
  const byNames = layouts.get(table) ?? new Map<string, Layout>();
  layouts.set(table, byNames);
  let layout = byNames.get(names);
  if (!layout) {
    if (byNames.size >= MAX_LAYOUTS) byNames.clear();
    layout = layOut(table, namesOf(names));
    byNames.set(names, layout);
  }
  return layout;
}

/** @throws if the text is not a list of names */
function namesOf(text: string): string[] {
  const names: unknown = JSON.parse(text);
  if (!Array.isArray(names) || names.some((name) => typeof name !== 'string')) throw new Error('no names');
  return names as string[];
}

function layOut(table: TableSchema, names: readonly string[]): Layout {
  const secret = secretFieldsOf(table.className);
  const present = names
    .map((name) => table.fields.get(presentName(table, name)))
    .map((field) => (field?.type === 'Relation' ? undefined : field));
  const visible = present.filter((field) => field !== undefined).filter(({ name }) => !secret.has(name) && name !== 'objectId');
  const id = table.fields.get('objectId');
  return {
    names,
    fields: present.map((field, at) => field ?? { name: names[at] ?? '', type: 'String', column: '' }),
    visible: id ? [id, ...visible] : visible,
  };
}

const none: ReadonlySet<string> = new Set();

/** A snapshot as interpreted by one state of its table. */
interface Interpretation {
  /** `undefined`: the table is gone. */
  readonly table: TableSchema | undefined;
  readonly known: ReturnType<typeof readSnapshot> | null;
  /** As in `RecordSnapshot`. */
  readonly fault: string | null;
  text?: string;
}

/**
 * A record in a queue row, interpreted by the current schema: fields that no longer exist, or have another type now, are absent. A job may wait while
 * the schema changes, so the snapshot is interpreted again for each state of its table.
 */
export class RecordSnapshot implements SnapshotRecord {
  readonly className: string;
  readonly objectId: string;
  readonly #store: Pick<Store, 'schema' | 'reader'>;
  readonly #snapshot: StoredSnapshot | null;
  #last: Interpretation | undefined;

  /** @param snapshot `null`: only the id is known */
  constructor(
    store: Pick<Store, 'schema' | 'reader'>,
    { className, objectId }: Pick<Job, 'className' | 'objectId'>,
    snapshot: StoredSnapshot | null,
  ) {
    this.className = className;
    this.objectId = objectId;
    this.#store = store;
    this.#snapshot = snapshot;
  }

  /** Why only the id is known although there is a snapshot, e.g. because the row was written by other means. */
  get fault(): string | null {
    return this.#current().fault;
  }

  /** Finds a value by the column of its field, which a rename keeps: the field may be that of another state of the table. */
  valueOf({ column }: Field): StoredValue {
    return this.#current().known?.values.get(column) ?? null;
  }

  /**
   * Returns the record for one reader, with its own copy of the fields.
   * @param hidden names of fields to leave out, according to the current schema
   */
  copy(hidden: ReadonlySet<string> = none): TriggeringRecord {
    const current = this.#current();
    current.text ??= this.#textOf(current);
    return new Copy(this.className, this.objectId, current.text, hidden);
  }

  #current(): Interpretation {
    const table = this.#store.schema().tables.get(this.className);
    if (!this.#last || this.#last.table !== table) this.#last = interpreted(table, this.#snapshot);
    return this.#last;
  }

  #textOf({ table, known }: Interpretation): string {
    const { objectId } = this;
    if (!table || !known) return JSON.stringify({ objectId });
    return textOf(this.#store.reader, table, known.layout, objectId, known.values);
  }
}

function interpreted(table: TableSchema | undefined, snapshot: StoredSnapshot | null): Interpretation {
  if (!table || !snapshot) return { table, known: null, fault: null };
  if (snapshot.fault !== undefined) return { table, known: null, fault: snapshot.fault };
  try {
    return { table, known: readSnapshot(table, snapshot), fault: null };
  } catch {
    return { table, known: null, fault: 'What was queued of the record cannot be read.' };
  }
}

/** @returns `values`: by column */
function readSnapshot(table: TableSchema, { fields, record }: StoredSnapshot) {
  const layout = layoutOf(table, fields);
  const values = new Map<string, StoredValue>();
  if (!record.startsWith('[')) throw new Error('no list');
  snapshotValues(record, layout.fields).forEach((value, at) => {
    const field = layout.fields[at];
    if (field && isValid(field, value)) values.set(field.column, value);
  });
  return { layout, values };
}

/** Whether a value is valid for a field. The field may have been recreated with another type. */
function isValid(field: Field, value: StoredValue): boolean {
  if (field.column === '' || value === null) return false;
  const storage = storageOf(field);
  if (storage === 'number' || storage === 'date') return Number.isFinite(value);
  if (storage === 'boolean') return typeof value === 'boolean';
  return typeof value === 'string' && (storage !== 'json' || isJsonStructure(value));
}

const isJsonStructure = (text: string): boolean => (text.startsWith('[') || text.startsWith('{')) && isJson(text);

function textOf(
  reader: Reader,
  table: TableSchema,
  { visible }: Layout,
  objectId: string,
  values: ReadonlyMap<string, StoredValue>,
): string {
  return reader.textOf(
    table,
    visible,
    visible.map(({ name, column }) => (name === 'objectId' ? objectId : (values.get(column) ?? null))),
  );
}

/** Parses the fields when they are first read. */
class Copy implements TriggeringRecord {
  readonly className: string;
  readonly objectId: string;
  readonly #text: string;
  readonly #hidden: ReadonlySet<string>;
  #fields: TriggeringRecord['fields'] | undefined;

  constructor(className: string, objectId: string, text: string, hidden: ReadonlySet<string>) {
    this.className = className;
    this.objectId = objectId;
    this.#text = text;
    this.#hidden = hidden;
  }

  get fields(): TriggeringRecord['fields'] {
    this.#fields ??= this.#read();
    return this.#fields;
  }

  #read(): TriggeringRecord['fields'] {
    const whole = JSON.parse(this.#text) as TriggeringRecord['fields'];
    if (this.#hidden.size === 0) return whole;
    const visible = Object.entries(whole).filter(([name]) => name === 'objectId' || !this.#hidden.has(name));
    return Object.fromEntries(visible) as TriggeringRecord['fields'];
  }
}
