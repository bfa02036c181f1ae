import { setImmediate as nextTurn } from 'node:timers/promises';
import {
  actsAsMaster,
  authorize,
  type Grant,
  grantFor,
  mayCreateTable,
  type Principal,
  refuseOutright,
} from '../../access/index.ts';
import { fail, isRefusal, type ServiceError } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { checkClassName, type Field, rootOf, type TableSchema } from '../../schema/model.ts';
import { newIdFor } from '../../schema/system-tables.ts';
import type { Assignment } from '../../storage/port.ts';
import { pointerOf } from '../../values/types/pointer.ts';
import type { RecordContext } from '../context/context.ts';
import { runBeforeSave, takeFlags } from './before-save.ts';
import { chosenId } from './create.ts';
import { missingError, missingFields } from './field-options.ts';
import { type FieldPlan, planFields } from './fields.ts';
import { SchemaDraft } from './schema-draft.ts';

/** An error of a record to be created. */
export interface RecordFault {
  /** Left out if the error concerns the whole record. */
  readonly field?: string;
  readonly error: ServiceError;
}

/** A record that a new record points at. */
export interface NamedRecord {
  readonly field: string;
  readonly className: string;
  readonly objectId: string;
}

/** The result of checking one record. */
export interface CheckedRecord {
  /** All of them. */
  readonly faults: readonly RecordFault[];
  /** Whether these exist was not checked. */
  readonly pointers: readonly NamedRecord[];
  /** The id that the caller chose. */
  readonly objectId?: string;
}

/** The result of checking records to be created. */
export interface CheckedRecords {
  readonly records: readonly CheckedRecord[];
  /** The table including the fields that the records add. */
  readonly table: TableSchema;
  /** Its fields that do not exist for the caller. */
  readonly hiddenFields: ReadonlySet<string>;
  /** Why the caller may not create records at all; `null` if it may. */
  readonly refusal: ServiceError | null;
}

/**
 * Checks records as creating them one after another would, without writing. Does not check whether referenced records and files exist.
 * Reference: records.md#create.
 * @param asksRules whether the rules of a system table are applied too
 * @throws permissionDenied (119) if the caller may neither find nor create records of the table; invalidClassName (103)
 */
export async function checkRecords(
  context: RecordContext,
  className: string,
  bodies: readonly JsonObject[],
  asksRules: boolean,
): Promise<CheckedRecords> {
  const { principal } = context;
  const { table: before, grant, refusal } = rightsTo(context, className);
  let draft = before ? new SchemaDraft(before, grant) : SchemaDraft.create(context.store.schema(), className);
  const records: CheckedRecord[] = [];
  for (const [index, body] of bodies.entries()) {
    if (index > 0 && index % BATCH_SIZE === 0) await nextTurn();
    const checker = new RecordChecker(draft, grant);
    const { fields: sent } = takeFlags(body, actsAsMaster(principal));
    const objectId = checker.chosenId(sent, principal);
    const fields = asksRules && !refusal ? await checker.fieldsToSave(context, className, sent, objectId) : sent;
    checker.check(fields);
    draft = checker.draft;
    const { faults, pointers } = checker;
    records.push({ faults, pointers, ...(objectId !== undefined && { objectId }) });
  }
  return { records, table: draft.table, hiddenFields: grant.hiddenFields, refusal };
}

/** Records checked before other requests get a turn of the event loop. */
const BATCH_SIZE = 100;

/** What a caller may know of a table while it checks records. */
interface Rights {
  /** `undefined` if it does not exist yet. */
  readonly table: TableSchema | undefined;
  readonly grant: Pick<Grant, 'mayAddField' | 'hiddenFields'>;
  readonly refusal: ServiceError | null;
}

function rightsTo({ store, principal }: RecordContext, className: string): Rights {
  const table = store.schema().tables.get(className);
  if (!table) {
    refuseOutright(principal, 'create', className);
    checkClassName(className);
    if (!mayCreateTable(principal)) fail('permissionDenied', 'create', className);
    return { table, grant: { mayAddField: true, hiddenFields: new Set() }, refusal: null };
  }
  try {
    return { table, grant: authorize(principal, 'create', table), refusal: null };
  } catch (error) {
    const grant = grantFor(principal, 'find', table);
    if (!grant || !isRefusal(error)) throw error;
    return { table, grant, refusal: error };
  }
}

/** Checks one record field by field, so that one fault does not hide the next. */
class RecordChecker {
  readonly faults: RecordFault[] = [];
  readonly pointers: NamedRecord[] = [];
  draft: SchemaDraft;
  readonly #grant: Rights['grant'];

  constructor(draft: SchemaDraft, grant: Rights['grant']) {
    this.draft = draft;
    this.#grant = grant;
  }

  chosenId(fields: JsonObject, principal: Principal): string | undefined {
    try {
      return chosenId(fields, principal);
    } catch (error) {
      this.#addFault(error, 'objectId');
      return undefined;
    }
  }

  /** Returns the fields as the rules leave them; as they were sent if the rules refuse. */
  async fieldsToSave(context: RecordContext, className: string, fields: JsonObject, objectId?: string): Promise<JsonObject> {
    try {
      return (
        await runBeforeSave(className, 'create', {
          context,
          objectId: objectId ?? newIdFor(className),
          fields,
          earlier: [],
          looksAhead: true,
        })
      ).fields;
    } catch (error) {
      this.#addFault(error);
      return fields;
    }
  }

  check(fields: JsonObject): void {
    // A body may name a field and places inside it; these are checked together.
    const parts = new Map<string, [string, JsonValue][]>();
    for (const [key, value] of Object.entries(fields)) {
      const root = rootOf(key);
      const part = parts.get(root);
      if (part) part.push([key, value]);
      else parts.set(root, [[key, value]]);
    }
    for (const [field, entries] of parts) this.#checkField(field, Object.fromEntries(entries));
    const { hiddenFields } = this.#grant;
    for (const { name } of missingFields(this.draft.table, new Set(parts.keys())))
      this.#addFault(missingError(name, hiddenFields), hiddenFields.has(name) ? undefined : name);
  }

  #checkField(field: string, part: JsonObject): void {
    const trial = new SchemaDraft(this.draft.table, this.#grant);
    try {
      this.#point(planFields(trial, part, 'create', this.#grant.hiddenFields, true));
      this.draft = trial;
    } catch (error) {
      this.#addFault(error, field);
    }
  }

  #point({ assignments, relations }: FieldPlan): void {
    for (const assignment of assignments.values()) this.pointers.push(...pointersOf(assignment));
    for (const change of relations) {
      if (change.op !== 'add') continue;
      const { name: field, targetClass: className = '' } = change.relation;
      for (const objectId of change.memberIds) this.pointers.push({ field, className, objectId });
    }
  }

  #addFault(error: unknown, field?: string): void {
    if (!isRefusal(error)) throw error;
    this.faults.push({ ...(field !== undefined && { field }), error });
  }
}

/** Returns the Pointers that a column would hold: its own, or the elements of an Array. */
function pointersOf(assignment: Assignment): NamedRecord[] {
  if (assignment.kind !== 'set' || typeof assignment.value !== 'string') return [];
  const { field, value } = assignment;
  if (field.type === 'Pointer') return [{ field: field.name, className: targetOf(field), objectId: value }];
  if (field.type !== 'Array') return [];
  const elements = JSON.parse(value) as JsonValue;
  if (!Array.isArray(elements)) return [];
  return elements.flatMap((element) => {
    const pointer = pointerOf(element);
    return pointer ? [{ field: field.name, ...pointer }] : [];
  });
}

const targetOf = ({ targetClass = '' }: Field): string => targetClass;
