import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { rootOf } from '../../schema/model.ts';
import type { Row } from '../queries/records.ts';
import { isOfRelation, type Steps, stepsOf, valueOnCreate } from './operators.ts';

/** A field of a write: `to` a value, or by the `steps` of an operator. `from` is left out where the timeline does not tell what was there before. */
export interface FieldChange {
  from?: JsonValue;
  readonly to?: JsonValue;
  readonly steps?: Steps;
}

/** One row of the timeline, with what it changed. */
export interface Entry {
  readonly row: Row;
  readonly changes: Map<string, FieldChange>;
  /** Fields of which it is still sought what was there before. */
  open: number;
}

interface Pending {
  readonly name: string;
  readonly entry: Entry;
}

/**
 * Finds out what each write of a record changed, and from what, since a row of `_Timeline` tells only what was sent: the value before is in
 * an older row. Forms send all their fields, changed or not; those that stayed as they were are left out. Rows come newest first.
 */
export class ChangeWalk {
  readonly #entries: Entry[] = [];
  readonly #isWanted: (field: string) => boolean;
  /** Fields whose value before is sought, by the first part of their name. */
  readonly #pending = new Map<string, Pending[]>();

  /** @param isWanted whether a field, told by the first part of its name, is to be shown */
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
      this.#settle(name, after);
      entry.changes.set(name, changeOf(value, after));
      if (!isCreate && !(isJsonObject(value) && isOfRelation(value))) begun.push({ name, entry });
    }
    // Before a record was created it held nothing.
    if (isCreate) this.#settleAll();
    for (const one of begun) this.#seek(one);
  }

  /**
   * The entries, newest first, whose changes are known: updates that changed nothing are left out.
   * @param isEnd whether there are no older rows, so that what is open stays unknown
   */
  known(isEnd: boolean): Entry[] {
    const until = isEnd ? -1 : this.#entries.findIndex(({ open }) => open > 0);
    const decided = until < 0 ? this.#entries : this.#entries.slice(0, until);
    return decided.filter(({ row, changes }) => row.event !== 'update' || changes.size > 0);
  }

  #seek(pending: Pending): void {
    const root = rootOf(pending.name);
    const others = this.#pending.get(root) ?? [];
    this.#pending.set(root, [...others, pending]);
    pending.entry.open++;
  }

  /** A field was sent: what newer rows changed from. */
  #settle(name: string, after: After): void {
    const root = rootOf(name);
    const waiting = this.#pending.get(root);
    if (!waiting) return;
    const left = waiting.filter((pending) => {
      const before = beforeAt(pending.name, name, after);
      if (before === 'elsewhere') return true;
      settle(pending, before);
      return false;
    });
    if (left.length > 0) this.#pending.set(root, left);
    else this.#pending.delete(root);
  }

  #settleAll(): void {
    for (const waiting of this.#pending.values()) for (const pending of waiting) settle(pending, { value: null });
    this.#pending.clear();
  }
}

/** What a field holds after a write; empty where that cannot be told. */
type After = { readonly value?: JsonValue };

function settle({ name, entry }: Pending, before: After): void {
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

/** SPEC "Field operators on update": what is known of a field after a write that sent a value for it. */
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

/** What a field held before, by an older write of the same field, of one that it is a place in, or of a place in it. */
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
