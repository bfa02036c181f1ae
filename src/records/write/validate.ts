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
import { type FieldPlan, planFields } from './fields.ts';
import { SchemaDraft } from './schema-draft.ts';

/** What is wrong with a record to be. */
export interface RecordFault {
  /** Left out where the record as a whole is meant. */
  readonly field?: string;
  readonly error: ServiceError;
}

/** A record that a record to be points at. */
export interface NamedRecord {
  readonly field: string;
  readonly className: string;
  readonly objectId: string;
}

/** A record to be, looked at. */
export interface CheckedRecord {
  /** All of them. */
  readonly faults: readonly RecordFault[];
  /** Whether these are there was not looked at. */
  readonly pointers: readonly NamedRecord[];
  /** The id that the caller chose. */
  readonly objectId?: string;
}

/** What creating records would come to. */
export interface CheckedRecords {
  readonly records: readonly CheckedRecord[];
  /** The table as it would be then, with what the records add. */
  readonly table: TableSchema;
  /** Fields of it that do not exist for the caller. */
  readonly hiddenFields: ReadonlySet<string>;
  /** Why the caller may not create them at all; `null` where he may. */
  readonly refusal: ServiceError | null;
}

/**
 * Checks records as creating them one after the other would, and writes nothing (SPEC "Records: Create"). Which records and files are there
 * is not looked at.
 * @param asksRules whether the rules of a system table are asked, too
 * @throws permissionDenied (119) for who may neither find nor create records of the table; invalidClassName (103)
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
    if (index > 0 && index % SLICE === 0) await nextTurn();
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

/** So many records are looked at before others have their turn. */
const SLICE = 100;

/** What a caller may know of a table while he checks records for it. */
interface Rights {
  /** `undefined`: there is none yet. */
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

/** One record, field by field, so that a fault does not hide the next. */
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
      this.#note(error, 'objectId');
      return undefined;
    }
  }

  /** The fields as the rules leave them; as they were sent where these refuse. */
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
      this.#note(error);
      return fields;
    }
  }

  check(fields: JsonObject): void {
    // A body may name a field and places inside it, which count together.
    const parts = new Map<string, [string, JsonValue][]>();
    for (const [key, value] of Object.entries(fields)) {
      const root = rootOf(key);
      const part = parts.get(root);
      if (part) part.push([key, value]);
      else parts.set(root, [[key, value]]);
    }
    for (const [field, entries] of parts) this.#checkField(field, Object.fromEntries(entries));
  }

  #checkField(field: string, part: JsonObject): void {
    const trial = new SchemaDraft(this.draft.table, this.#grant);
    try {
      this.#point(planFields(trial, part, 'create', this.#grant.hiddenFields));
      this.draft = trial;
    } catch (error) {
      this.#note(error, field);
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

  #note(error: unknown, field?: string): void {
    if (!isRefusal(error)) throw error;
    this.faults.push({ ...(field !== undefined && { field }), error });
  }
}

/** The Pointers that a column would hold: its own, or the elements of an Array. */
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
