import {
  actsAsMaster,
  authorize,
  type Grant,
  hiddenFieldsOf,
  mayCreateTable,
  type Principal,
  refuseOutright,
} from '../../access/index.ts';
import { fail, ServiceError } from '../../errors/fail.ts';
import type { JsonValue } from '../../kernel/json.ts';
import { type ClpAction, rootOf, type Schema } from '../../schema/model.ts';
import type { Action, ActionType, Trigger } from '../model/model.ts';
import { pathsIn } from '../templates/parse.ts';
import { criteriaOf } from './typecheck.ts';

/** Tables whose rules depend on the caller. No user's definition may write them, whatever the user may do directly. */
const ruledByCaller: ReadonlySet<string> = new Set(['_Trigger', '_Session']);

/**
 * Rejects a definition that its author's permissions do not allow. This is an early check only: each run is authorized again by the permissions at
 * that time (adr/0015). Holders of keys act as the master. A user signed in through an agent is checked as the user, because the trigger runs with
 * the user's rights.
 * @throws permissionDenied, fieldDenied (119), and errors of `authorize`
 */
export function authorizeTrigger(trigger: Trigger, schema: Schema, caller: Principal): void {
  if (actsAsMaster(caller)) return;
  const principal: Principal = caller.kind === 'user' ? { kind: 'user', userId: caller.userId, roles: caller.roles } : caller;
  const author = new Author(schema, principal);
  const grant = author.mayRead(trigger.table);
  const hidden = grant ? hiddenFieldsOf(grant) : new Set<string>();
  for (const name of trigger.changedFields) if (hidden.has(name)) fail('fieldDenied', name, trigger.table);
  if (trigger.criteria !== null) {
    const table = schema.tables.get(trigger.table);
    if (table) criteriaOf(trigger, table, schema, principal);
  }
  for (const action of trigger.actions) {
    author.mayDo(trigger.table, action);
    for (const path of pathsIn(action.data as unknown as JsonValue)) author.mayFollow(trigger.table, path);
  }
}

class Author {
  readonly #schema: Schema;
  readonly #principal: Principal;

  constructor(schema: Schema, principal: Principal) {
    this.#schema = schema;
    this.#principal = principal;
  }

  mayDo(className: string, action: Action): void {
    if (action.type === 'create-object') this.#mayWrite('create', action.data.table, action.data.fields);
    else if (action.type === 'update-object') {
      const { target, fields } = action.data;
      const table = target === 'self' ? className : this.#targetOf(className, target);
      if (table !== undefined) this.#mayWrite('update', table, fields);
    } else {
      const table = logTableOf(action.type);
      if (table !== null) this.#may('create', table);
    }
  }

  /** Checks the path of a template: the records that its Pointers lead to, and their fields. */
  mayFollow(from: string, path: readonly string[]): void {
    let className: string | undefined = from;
    for (const name of path) {
      const grant: Grant | null = className === undefined ? null : this.mayRead(className);
      if (className === undefined) return;
      if (grant?.hiddenFields.has(name)) fail('fieldDenied', name, className);
      className = this.#targetOf(className, name);
    }
  }

  mayRead(className: string): Grant | null {
    return this.#may('get', className);
  }

  #mayWrite(action: 'create' | 'update', className: string, fields: object): void {
    if (ruledByCaller.has(className)) fail('permissionDenied', action, className);
    const grant = this.#may(action, className);
    if (!grant && !mayCreateTable(this.#principal)) fail('permissionDenied', action, className);
    for (const name of Object.keys(fields).map(rootOf)) {
      if (grant?.hiddenFields.has(name)) fail('fieldDenied', name, className);
      if (grant && !grant.table.fields.has(name) && !grant.mayAddField) fail('permissionDenied', 'addField', className);
    }
  }

  /** @returns `null` if the table does not exist */
  #may(action: ClpAction, className: string): Grant | null {
    try {
      refuseOutright(this.#principal, action, className);
    } catch (error) {
      // `otherUser` refers to a specific record, which the definition does not name.
      if (error instanceof ServiceError && error.key === 'otherUser') fail('permissionDenied', action, className);
      throw error;
    }
    const table = this.#schema.tables.get(className);
    return table ? authorize(this.#principal, action, table, this.#schema) : null;
  }

  /** Returns the class that a Pointer field points at. */
  #targetOf(className: string, name: string): string | undefined {
    const field = this.#schema.tables.get(className)?.fields.get(name);
    return field?.type === 'Pointer' ? field.targetClass : undefined;
  }
}

/**
 * Returns the table in which the service records what an action of this type did, if there is one. The author must be allowed to create rows there.
 */
function logTableOf(type: ActionType): string | null {
  if (type === 'e-mail') return 'Emails';
  return type === 'notification' ? '_Notification' : null;
}
