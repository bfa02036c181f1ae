import { fail } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { refuseFormerName } from '../../schema/former-names.ts';
import { checkFieldName, type Field, isFileType, rootOf, type TableSchema, typeText } from '../../schema/model.ts';
import { copyFields, derivedFieldsOf, secretFieldsOf } from '../../schema/system-tables.ts';
import type { OwnValues } from '../../storage/column-values.ts';
import type { Assignment, Mutation } from '../../storage/port.ts';
import {
  applyEdits,
  checkKeys,
  checkPath,
  flattenForCreate,
  inferType,
  isOperator,
  type Operator,
  operatorType,
  parseOperator,
  type RelationStep,
  type StoredValue,
  storageOf,
  valueTypeOf,
} from '../../values/index.ts';
import type { JsonEdit } from '../../values/operators/apply.ts';
import type { RecordContext } from '../context/context.ts';
import { defaultsFor, requireValues } from './field-options.ts';
import type { SchemaDraft } from './schema-draft.ts';

/** Members to add to, or remove from, a Relation; or the removal of all. */
type RelationChange = { readonly relation: Field } & (RelationStep | { readonly op: 'clear' });

/** What a body changes in a record's columns. */
export interface FieldPlan {
  /** At most one for each column. */
  readonly assignments: ReadonlyMap<string, Assignment>;
  readonly relations: readonly RelationChange[];
  /** Whether a File is set. */
  readonly setsFile: boolean;
  /** Fields whose new values the answer of an update carries. */
  readonly returning: readonly Field[];
}

/** Fields set by the server; values sent by clients are ignored. Reference: records.md#system-fields. */
const serverSet: ReadonlySet<string> = new Set(['objectId', 'createdAt', 'updatedAt', 'createdBy', 'updatedBy']);

/** Whether values that clients send for a field are ignored. */
export const isServerSet = (name: string): boolean => serverSet.has(name);

/**
 * Plans the fields of a body against a table, and adds new fields to the draft. Fields derived from others are set too.
 * @param hidden fields that do not exist for the caller
 * @param isPart whether the body has only some of the fields that a create sends: the others are neither filled in nor required
 * @throws fieldRequired (142), schemaMismatch (111) and the other errors of `values/`; invalidFieldName, renamedField (105); permissionDenied for a
 * new field (119)
 */
export function planFields(
  draft: SchemaDraft,
  body: JsonObject,
  mode: 'create' | 'update',
  hidden: ReadonlySet<string>,
  isPart = false,
): FieldPlan {
  const planner = new FieldPlanner(draft, mode);
  for (const key of Object.keys(body)) {
    if (serverSet.has(key)) continue;
    const value = body[key] as JsonValue;
    const dot = key.indexOf('.');
    const name = dot < 0 ? key : key.slice(0, dot);
    if (hidden.has(name)) fail('fieldDenied', name, draft.table.className);
    if (!draft.table.fields.has(name)) {
      refuseFormerName(draft.table, name, hidden);
      checkFieldName(name);
    }
    if (dot < 0) planner.take(name, value);
    else {
      const path = key.slice(dot + 1).split('.');
      checkPath(path, key);
      planner.takePlace(name, path, value);
    }
  }
  if (mode === 'create' && !isPart) for (const [name, value] of defaultsFor(draft.table, body)) planner.take(name, value);
  planner.finish();
  const checked = mode === 'update' ? null : isPart ? new Set(Object.keys(body).map(rootOf)) : 'all';
  requireValues(draft.table, planner.assignments, checked, hidden);
  return planner;
}

/** Returns the steps that change a record's Relations. */
export function relationSteps(table: TableSchema, relations: readonly RelationChange[], ownerId: string): Mutation[] {
  return relations.map((change) => {
    const about = { table, relation: change.relation, ownerId };
    if (change.op === 'add') return { kind: 'link', ...about, memberIds: change.memberIds };
    return { kind: 'unlink', ...about, memberIds: change.op === 'clear' ? 'all' : change.memberIds };
  });
}

class FieldPlanner implements FieldPlan {
  readonly assignments = new Map<string, Assignment>();
  readonly relations: RelationChange[] = [];
  setsFile = false;
  /** Edits of the assignments of kind `edit`: one list per field, since a body may name thousands of places. */
  readonly #edits = new Map<string, JsonEdit[]>();
  readonly #returning = new Set<Field>();
  readonly #draft: SchemaDraft;
  readonly #mode: 'create' | 'update';

  constructor(draft: SchemaDraft, mode: 'create' | 'update') {
    this.#draft = draft;
    this.#mode = mode;
  }

  get returning(): readonly Field[] {
    return [...this.#returning];
  }

  take(name: string, value: JsonValue): void {
    if (isOperator(value)) {
      this.#operate(name, parseOperator(value));
      return;
    }
    const field = this.#draft.table.fields.get(name) ?? this.#fieldFor(name, () => inferType(value));
    if (field) this.#set(field, value);
  }

  takePlace(name: string, path: readonly string[], value: JsonValue): void {
    const edit = isOperator(value) ? this.#editOf(path, parseOperator(value)) : ({ op: 'set', path, value } as const);
    if (!edit) return;
    if (edit.op === 'set') checkKeys(edit.value);
    const field = this.#fieldFor(name, () => (edit.op === 'unset' ? null : { type: 'Object' }));
    if (!field) return;
    if (field.type !== 'Object' && field.type !== 'Array') this.#mismatch(field, 'Object');
    this.#edit(field, edit);
    if (edit.op !== 'set' && edit.op !== 'unset') this.#return(field);
  }

  /** To be called after the last field: sets derived fields. */
  finish(): void {
    this.#derive();
    // A new record has no stored value, so edits are applied here.
    if (this.#mode === 'create')
      for (const { kind, field } of [...this.assignments.values()]) if (kind === 'edit') this.#apply(field);
  }

  #apply(field: Field): void {
    const label = `${this.#draft.table.className}.${field.name}`;
    const value = applyEdits(null, this.#edits.get(field.name) ?? [], field.type as 'Array' | 'Object', label);
    this.#assign({ kind: 'set', field, value });
  }

  /** Sets the fields derived from those that are set. Sources are text, which no operator changes in place. */
  #derive(): void {
    for (const [source, { field: name, key }] of derivedFieldsOf(this.#draft.table.className)) {
      const assignment = this.assignments.get(source);
      if (assignment?.kind !== 'set' || storageOf(assignment.field) !== 'text') continue;
      const value = assignment.value === null ? null : key(assignment.value as string);
      const field = value === null ? this.#draft.table.fields.get(name) : this.#draft.ownField(name);
      if (field) this.#assign({ kind: 'set', field, value });
    }
  }

  #operate(name: string, operator: Operator): void {
    const field = this.#fieldFor(name, () => (this.#addsNothing(operator) ? null : operatorType(operator)));
    if (!field) return;
    if (operator.op === 'relation') this.#relate(field, operator);
    else if (this.#mode === 'create') this.#operateOnCreate(field, operator);
    else this.#operateOnUpdate(field, operator);
  }

  #operateOnCreate(field: Field, operator: Exclude<Operator, { op: 'relation' }>): void {
    this.#checkOperand(field, operator);
    const value = flattenForCreate(operator);
    if (value !== undefined) this.#set(field, value);
  }

  #operateOnUpdate(field: Field, operator: Exclude<Operator, { op: 'relation' }>): void {
    this.#checkOperand(field, operator);
    switch (operator.op) {
      case 'delete':
        this.#set(field, null);
        return;
      case 'setOnInsert':
        // An update never inserts, so the value only shows in the answer.
        this.#decode(field, operator.value);
        break;
      case 'increment':
        this.#assign({ kind: 'increment', field, amount: operator.amount });
        break;
      default:
        this.#edit(field, { path: [], op: operator.op, objects: operator.objects });
    }
    this.#return(field);
  }

  #relate(field: Field, operator: Extract<Operator, { op: 'relation' }>): void {
    if (field.type !== 'Relation' || (operator.className ?? field.targetClass) !== field.targetClass)
      this.#mismatch(field, typeText('Relation', operator.className));
    for (const step of operator.steps) this.relations.push({ ...step, relation: field });
  }

  /** An operator on a field of the wrong type is 111 (records.md#field-operators). */
  #checkOperand(field: Field, operator: Operator): void {
    if (operator.op === 'delete' || operator.op === 'setOnInsert') return;
    const type = operatorType(operator);
    if (type && field.type !== type.type) this.#mismatch(field, typeText(type.type, type.targetClass));
  }

  #mismatch(field: Field, got: string): never {
    fail('schemaMismatch', this.#draft.table.className, field.name, typeText(field.type, field.targetClass), got);
  }

  /** Returns the field, added if it is new; `undefined` if nothing would be stored in it. */
  #fieldFor(name: string, typeOf: () => ReturnType<typeof inferType>): Field | undefined {
    const known = this.#draft.table.fields.get(name);
    if (known) return known;
    const type = typeOf();
    return type ? this.#draft.fieldFor(name, type) : undefined;
  }

  #addsNothing(operator: Operator): boolean {
    return operator.op === 'delete' || (operator.op === 'setOnInsert' && this.#mode === 'update');
  }

  #editOf(path: readonly string[], operator: Operator): JsonEdit | undefined {
    switch (operator.op) {
      case 'increment':
        return { path, op: 'increment', amount: operator.amount };
      case 'delete':
        return { path, op: 'unset' };
      case 'setOnInsert':
        return this.#mode === 'create' ? { path, op: 'set', value: operator.value } : undefined;
      case 'relation':
        return fail('badOperator', 'a Relation is a field of its own, not a place inside one');
      default:
        return { path, op: operator.op, objects: operator.objects };
    }
  }

  #set(field: Field, value: JsonValue): void {
    if (value === null) {
      if (field.type !== 'Relation') this.#assign({ kind: 'set', field, value: null });
      else if (this.#mode === 'update') this.relations.push({ relation: field, op: 'clear' });
      return;
    }
    const stored = this.#decode(field, value);
    this.setsFile ||= isFileType(field.type);
    if (field.type !== 'Relation') this.#assign({ kind: 'set', field, value: stored });
  }

  #decode(field: Field, value: JsonValue): StoredValue {
    if (value === null) return null;
    const stored = valueTypeOf(field).decode(value, field, this.#draft.table.className);
    return field.type === 'ACL' && stored === '{}' ? null : stored;
  }

  /** A body may name a field and places inside it: they take effect in the body's order. */
  #assign(assignment: Assignment): void {
    this.assignments.set(assignment.field.name, assignment);
  }

  #edit(field: Field, edit: JsonEdit): void {
    const before = this.assignments.get(field.name);
    if (before?.kind === 'edit') {
      this.#edits.get(field.name)?.push(edit);
      return;
    }
    const edits: JsonEdit[] = [];
    if (before?.kind === 'set') {
      const unset = before.value === null;
      edits.push(unset ? { path: [], op: 'unset' } : { path: [], op: 'set', value: JSON.parse(before.value as string) });
    }
    edits.push(edit);
    this.#edits.set(field.name, edits);
    this.#assign({ kind: 'edit', field, edits });
  }

  #return(field: Field): void {
    if (storageOf(field) !== 'relation') this.#returning.add(field);
  }
}

/** Returns the value that records the source records of a write, if there is one and the table keeps it. */
export const sourcesFor = ({ className, fields }: TableSchema, { sources }: RecordContext): OwnValues | undefined =>
  sources !== undefined && secretFieldsOf(className).has(copyFields.sources) && fields.has(copyFields.sources)
    ? { [copyFields.sources]: sources }
    : undefined;

/** Clears the class that a row is about when `data` is written by hand, since its values may then be those of any record. */
export const disownedBy = ({ className, fields }: TableSchema, sent: JsonObject): OwnValues | undefined =>
  fields.has(copyFields.className) && secretFieldsOf(className).has(copyFields.className) && Object.hasOwn(sent, 'data')
    ? { [copyFields.className]: null }
    : undefined;
