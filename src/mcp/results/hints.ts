import { seen } from '../../crm/queries/field-visibility.ts';
import { noTable, tableIfAny } from '../../crm/queries/records.ts';
import { multiSelectTarget } from '../../crm/wire/multi-select.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { similarTo } from '../../kernel/similar.ts';
import { type Field, rootOf, type TableSchema } from '../../schema/model.ts';
import { pointerOf } from '../../values/types/pointer.ts';
import type { ToolCall } from '../definition/tool.ts';

/** What a read asks about. */
interface Asked {
  readonly where?: JsonObject | undefined;
  readonly order?: string | undefined;
  readonly keys?: readonly string[] | undefined;
}

/** So many are told of one call, and so many constraints are looked at. */
const MAX_SHOWN = 5;
const MAX_CONSTRAINTS = 2_000;

/**
 * What a read passes over in silence, as SPEC "Query" wants it: fields that there are not, and values that a Date or Pointer is never equal
 * to. The read comes first: it refuses who may not ask. Only fields that the caller sees are suggested.
 * @returns `hint` where there is something to tell; that of an answer, if it has one, stays before it
 */
export function withHints<T extends JsonObject>(call: ToolCall, className: string, asked: Asked, answer: T): JsonObject {
  const table = tableIfAny(call, className);
  return table ? hintsOf(call, table, asked, answer) : answer;
}

/** The same, or, of a table that there is not, the hint that says so. */
export function withTableHints<T extends JsonObject>(call: ToolCall, className: string, asked: Asked, answer: T): JsonObject {
  const table = tableIfAny(call, className);
  return table ? hintsOf(call, table, asked, answer) : { ...answer, ...noTable(className) };
}

function hintsOf<T extends JsonObject>(call: ToolCall, table: TableSchema, asked: Asked, answer: T): JsonObject {
  const hints = new Hints(call);
  if (asked.where) hints.lookAt(table, asked.where);
  const ordered = listOf(asked.order ?? '').map((name) => name.replace(/^-/, ''));
  for (const name of ordered) if (!unordered.has(name)) hints.ask(table, name, 'order: ');
  for (const name of (asked.keys ?? []).flatMap(listOf)) if (name !== '$score') hints.find(table, name, 'keys: ');
  if (hints.told.size === 0) return answer;
  const before = typeof answer.hint === 'string' ? [answer.hint] : [];
  return { ...answer, hint: [...before, ...hints.told].join(' ') };
}

/** No fields, and names that Parse's clients send for some. */
const unordered: ReadonlySet<string> = new Set(['$score', '_created_at', '_updated_at']);

const listOf = (names: string): string[] =>
  names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

class Hints {
  readonly told = new Set<string>();
  readonly #call: ToolCall;
  /** Names that there are not, each of which is compared with all that there are but once. */
  readonly #unknown = new Set<string>();
  #left = MAX_CONSTRAINTS;

  constructor(call: ToolCall) {
    this.#call = call;
  }

  lookAt(table: TableSchema, where: JsonObject): void {
    for (const [name, value] of Object.entries(where)) {
      if (this.#left-- <= 0) return;
      if (!name.startsWith('$')) {
        const field = this.ask(table, name);
        if (field) this.#compared(field, value);
        this.#subQueries(value);
      } else if (Array.isArray(value)) {
        for (const branch of value) if (isJsonObject(branch)) this.lookAt(table, branch);
      } else if (name === '$not' && isJsonObject(value)) this.lookAt(table, value);
    }
  }

  /** A name that is asked about. @returns its field, where it is not a place inside one */
  ask(table: TableSchema, name: string, place = ''): Field | undefined {
    const field = this.find(table, name, place);
    if (!field || !name.includes('.')) return field;
    if (field.type === 'Pointer')
      this.#tell(
        `${place}${name}: ${field.name} is a Pointer, which is not looked into; where takes {"${field.name}":{"$inQuery":{"className":"${field.targetClass}","where":{…}}}}.`,
      );
    return undefined;
  }

  /** The field of a name, or of the place inside one. */
  find(table: TableSchema, name: string, place = ''): Field | undefined {
    const root = rootOf(name);
    const field = table.fields.get(root);
    if (field) return field;
    const sought = `${place}${table.className}.${root}`;
    if (this.told.size >= MAX_SHOWN || this.#unknown.has(sought)) return undefined;
    this.#unknown.add(sought);
    const meant = similarTo(root, seen(this.#call, table, table.fields.keys()));
    this.#tell(`${place}${table.className} has no field ${root}${meant === undefined ? '.' : `; is ${meant} meant?`}`);
    return undefined;
  }

  #compared(field: Field, value: JsonValue): void {
    for (const operand of operandsIn(value)) {
      const form = formFor(field, operand);
      if (form !== null) this.#tell(`${field.name} ${form}.`);
    }
  }

  #subQueries(value: JsonValue): void {
    if (!isJsonObject(value)) return;
    for (const operator of ['$inQuery', '$notInQuery']) {
      const query = own(value, operator);
      const { className, where } = isJsonObject(query) ? query : {};
      const table = typeof className === 'string' ? tableIfAny(this.#call, className) : undefined;
      if (table && isJsonObject(where)) this.lookAt(table, where);
    }
  }

  #tell(hint: string): void {
    if (this.told.size < MAX_SHOWN) this.told.add(hint);
  }
}

const compares: ReadonlySet<string> = new Set(['$eq', '$ne', '$lt', '$lte', '$gt', '$gte']);
const lists: ReadonlySet<string> = new Set(['$in', '$nin', '$all']);

/** The values that a constraint compares its field with. */
function operandsIn(value: JsonValue): readonly JsonValue[] {
  if (!isJsonObject(value) || !Object.keys(value).some((key) => key.startsWith('$'))) return [value];
  return Object.entries(value).flatMap(([operator, operand]) => {
    if (operator === '$not') return operandsIn(operand);
    if (lists.has(operator)) return Array.isArray(operand) ? operand : [];
    return compares.has(operator) ? [operand] : [];
  });
}

/** The form of what a field is compared with; `null` where it may be equal to the value. */
function formFor(field: Field, value: JsonValue): string | null {
  if (field.type === 'Date')
    return isBare(value) ? 'is a Date: compare with {"__type":"Date","iso":"2026-01-31T09:00:00.000Z"}' : null;
  const target = field.type === 'Pointer' ? field.targetClass : multiSelectTarget(field);
  if (target === undefined) return null;
  const pointer = pointerOf(value);
  if (!isBare(value) && (!pointer || pointer.className === target)) return null;
  const form = `compare with {"__type":"Pointer","className":"${target}","objectId":"<objectId>"}`;
  return field.type === 'Pointer' ? `is a Pointer: ${form}` : `holds Pointers: ${form}`;
}

const isBare = (value: JsonValue): boolean => value !== null && typeof value !== 'object';
