import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { rootOf } from '../../schema/model.ts';
import type { Row } from '../queries/records.ts';
import { isOfRelation, type Steps, stepsOf, valueOnCreate } from './operators.ts';

/** A change of a field: `to` a value, or by the `steps` of an operator. `from` is absent if the timeline does not say what was there before. */
export interface FieldChange {
  from?: JsonValue;
  readonly to?: JsonValue;
  readonly steps?: Steps;
}

/** A row of the timeline with its changes. */
export interface Entry {
  readonly row: Row;
  readonly changes: Map<string, FieldChange>;
  /** Number of fields whose previous value is still unknown. */
  open: number;
}

interface Pending {
  readonly name: string;
  readonly entry: Entry;
}

/**
 * Determines what each write of a record changed, and from what. A row of `_Timeline` holds only what was sent, so the previous value comes from an
 * older row. Forms send all their fields; unchanged ones are left out. Rows are added newest first. Reference: audit.md#timeline.
 */
export class ChangeWalk {
  readonly #entries: Entry[] = [];
  readonly #isWanted: (field: string) => boolean;
  /** Fields whose previous value is still unknown, by the first part of their name. */
  readonly #pending = new Map<string, Pending[]>();

  /** @param isWanted whether a field, given by the first part of its name, is included */
  constructor(isWanted: (field: string) => boolean) {
    this.#isWanted = isWanted;
  }

  /** Adds the next older row. */
  add(row: Row): void {
    const isCreate = row.event === 'create';
    const entry: Entry = { row, changes: new Map(), open: 0 };
    this.#entries.push(entry);
    const data = own(row, 'data');
    const sent = isJsonObject(data) ? Object.entries(data).filter(([name]) => this.#isWanted(rootOf(name))) : [];
    const begun: Pending[] = [];
    for (const [name, value] of sent) {
      const after = valueAfter(value, isCreate);
      if (after === 'nothing') continue;
      this.#resolve(name, after);
      entry.changes.set(name, changeOf(value, after));
      if (!isCreate && !(isJsonObject(value) && isOfRelation(value))) begun.push({ name, entry });
    }
    // A record holds nothing before its creation.
    if (isCreate) this.#resolveAll();
    for (const one of begun) this.#track(one);
  }

  /**
   * Returns the entries whose changes are determined, newest first; updates that changed nothing are left out.
   * @param isEnd whether there are no older rows, so that undetermined values stay unknown
   */
  known(isEnd: boolean): Entry[] {
    const until = isEnd ? -1 : this.#entries.findIndex(({ open }) => open > 0);
    const decided = until < 0 ? this.#entries : this.#entries.slice(0, until);
    return decided.filter(({ row, changes }) => row.event !== 'update' || changes.size > 0);
  }

  #track(pending: Pending): void {
    const root = rootOf(pending.name);
    const others = this.#pending.get(root) ?? [];
    this.#pending.set(root, [...others, pending]);
    pending.entry.open++;
  }

  /** A field was sent: resolves the previous value of newer changes. */
  #resolve(name: string, after: After): void {
    const root = rootOf(name);
    const waiting = this.#pending.get(root);
    if (!waiting) return;
    const left = waiting.filter((pending) => {
      const before = beforeAt(pending.name, name, after);
      if (before === 'elsewhere') return true;
      resolve(pending, before);
      return false;
    });
    if (left.length > 0) this.#pending.set(root, left);
    else this.#pending.delete(root);
  }

  #resolveAll(): void {
    for (const waiting of this.#pending.values()) for (const pending of waiting) resolve(pending, { value: null });
    this.#pending.clear();
  }
}

/** The value of a field after a write; empty if unknown. */
type After = { readonly value?: JsonValue };

function resolve({ name, entry }: Pending, before: After): void {
  entry.open--;
  const change = entry.changes.get(name);
  if (!change || before.value === undefined) return;
  if (change.to !== undefined && canonicalJson(before.value) === canonicalJson(change.to)) entry.changes.delete(name);
  else change.from = before.value;
}

const unknown: After = {};

function changeOf(value: JsonValue, after: After): FieldChange {
  if (after.value !== undefined) return { to: after.value };
  return isJsonObject(value) ? { steps: stepsOf(value) } : { to: value };
}

/** Returns what is known of a field after a write that sent this value. Reference: records.md#field-operators. */
function valueAfter(value: JsonValue, isCreate: boolean): After | 'nothing' {
  if (!isJsonObject(value)) return { value };
  if (own(value, '__type') === 'Relation') return 'nothing';
  const op = own(value, '__op');
  if (op === undefined) return { value };
  if (op === 'Delete') return { value: null };
  if (isCreate) {
    const left = valueOnCreate(value);
    return left === undefined ? unknown : { value: left };
  }
  return op === 'SetOnInsert' ? 'nothing' : unknown;
}

/** Returns the previous value of a field from an older write of the same field, of a field that contains it, or of a place inside it. */
function beforeAt(name: string, sentName: string, after: After): After | 'elsewhere' {
  if (name === sentName) return after;
  if (sentName.startsWith(`${name}.`)) return unknown;
  if (!name.startsWith(`${sentName}.`)) return 'elsewhere';
  if (after.value === undefined) return unknown;
  let inside: JsonValue | undefined = after.value;
  for (const step of name.slice(sentName.length + 1).split('.'))
    inside = inside === undefined ? undefined : placeIn(inside, step);
  return { value: inside ?? null };
}

const placeIn = (value: JsonValue, step: string): JsonValue | undefined =>
  isJsonObject(value) || Array.isArray(value) ? own(value as JsonObject, step) : undefined;
