import { visibleFields } from '../../crm/queries/field-visibility.ts';
import { noTable, tableIfAny } from '../../crm/queries/records.ts';
import { multiSelectTarget } from '../../crm/wire/multi-select.ts';
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { similarTo } from '../../kernel/similar.ts';
import { pointerAt } from '../../query/model/names.ts';
import { type Field, rootOf, type TableSchema } from '../../schema/model.ts';
import { pointerOf } from '../../values/types/pointer.ts';
import type { ToolCall } from '../definition/tool.ts';

/** The parts of a read that name fields. */
interface ReadRequest {
  readonly where?: JsonObject | undefined;
  readonly order?: string | undefined;
  readonly keys?: readonly string[] | undefined;
}

/** Limits per call: number of hints, and of constraints examined. */
const MAX_HINTS = 5;
const MAX_CONSTRAINTS = 2_000;

/**
 * Adds hints about what a query silently ignores (queries.md#where): unknown fields, and values that a Date or Pointer never equals. Call it after
 * the read, which checks permissions; only fields visible to the caller are suggested.
 * @returns the answer, with `hint` if there are any, after an existing hint
 */
export function withHints<T extends JsonObject>(call: ToolCall, className: string, request: ReadRequest, answer: T): JsonObject {
  const table = tableIfAny(call, className);
  return table ? hintsOf(call, table, request, answer) : answer;
}

/** Like `withHints`; for a missing table, adds the hint that says so. */
export function withTableHints<T extends JsonObject>(
  call: ToolCall,
  className: string,
  request: ReadRequest,
  answer: T,
): JsonObject {
  const table = tableIfAny(call, className);
  return table ? hintsOf(call, table, request, answer) : { ...answer, ...noTable(className) };
}

function hintsOf<T extends JsonObject>(call: ToolCall, table: TableSchema, request: ReadRequest, answer: T): JsonObject {
  const hints = new Hints(call);
  if (request.where) hints.examine(table, request.where);
  const ordered = listOf(request.order ?? '').map((name) => name.replace(/^-/, ''));
  for (const name of ordered) if (!unordered.has(name)) hints.checkQueried(table, name, 'order: ');
  for (const name of (request.keys ?? []).flatMap(listOf)) if (name !== '$score') hints.find(table, name, 'keys: ');
  if (hints.shown.size === 0) return answer;
  const before = typeof answer.hint === 'string' ? [answer.hint] : [];
  return { ...answer, hint: [...before, ...hints.shown].join(' ') };
}

/** Pseudo-fields, and names that Parse clients send for fields. */
const unordered: ReadonlySet<string> = new Set(['$score', '_created_at', '_updated_at']);

const listOf = (names: string): string[] =>
  names
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');

class Hints {
  readonly shown = new Set<string>();
  readonly #call: ToolCall;
  /** Unknown names seen so far: each is compared with the known names only once. */
  readonly #unknown = new Set<string>();
  #left = MAX_CONSTRAINTS;

  constructor(call: ToolCall) {
    this.#call = call;
  }

  examine(table: TableSchema, where: JsonObject): void {
    for (const [name, value] of Object.entries(where)) {
      if (this.#left-- <= 0) return;
      if (!name.startsWith('$')) {
        const field = this.checkQueried(table, name);
        if (field) this.#compared(field, value);
        this.#subQueries(value);
      } else if (Array.isArray(value)) {
        for (const branch of value) if (isJsonObject(branch)) this.examine(table, branch);
      } else if (name === '$not' && isJsonObject(value)) this.examine(table, value);
    }
  }

  /** Checks a field that is queried, behind Pointers too. @returns the field, unless the name is a path inside one */
  checkQueried(table: TableSchema, name: string, place = ''): Field | undefined {
    for (let left = { name, table }; ; ) {
      const field = this.find(left.table, left.name, place);
      if (!field || !left.name.includes('.')) return field;
      const through = pointerAt(left.name, left.table);
      const target = through && tableIfAny(this.#call, through.pointer.targetClass ?? '');
      if (!target) return undefined;
      left = { name: through.rest, table: target };
    }
  }

  /** Returns the field of a name or path. */
  find(table: TableSchema, name: string, place = ''): Field | undefined {
    const root = rootOf(name);
    const field = table.fields.get(root);
    if (field) return field;
    const path = `${place}${table.className}.${root}`;
    if (this.shown.size >= MAX_HINTS || this.#unknown.has(path)) return undefined;
    this.#unknown.add(path);
    const meant = similarTo(root, visibleFields(this.#call, table, table.fields.keys()));
    this.#addHint(`${place}${table.className} has no field ${root}${meant === undefined ? '.' : `; is ${meant} meant?`}`);
    return undefined;
  }

  #compared(field: Field, value: JsonValue): void {
    for (const operand of operandsIn(value)) {
      const form = formFor(field, operand);
      if (form !== null) this.#addHint(`${field.name} ${form}.`);
    }
  }

  #subQueries(value: JsonValue): void {
    if (!isJsonObject(value)) return;
    for (const operator of ['$inQuery', '$notInQuery']) {
      const query = own(value, operator);
      const { className, where } = isJsonObject(query) ? query : {};
      const table = typeof className === 'string' ? tableIfAny(this.#call, className) : undefined;
      if (table && isJsonObject(where)) this.examine(table, where);
    }
  }

  #addHint(hint: string): void {
    if (this.shown.size < MAX_HINTS) this.shown.add(hint);
  }
}

const compares: ReadonlySet<string> = new Set(['$eq', '$ne', '$lt', '$lte', '$gt', '$gte']);
const lists: ReadonlySet<string> = new Set(['$in', '$nin', '$all']);

/** Returns the values that a constraint compares its field with. */
function operandsIn(value: JsonValue): readonly JsonValue[] {
  if (!isJsonObject(value) || !Object.keys(value).some((key) => key.startsWith('$'))) return [value];
  return Object.entries(value).flatMap(([operator, operand]) => {
    if (operator === '$not') return operandsIn(operand);
    if (lists.has(operator)) return Array.isArray(operand) ? operand : [];
    return compares.has(operator) ? [operand] : [];
  });
}

/** Returns the form that values of the field should have; `null` if the value may be equal. */
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
