/** An independent model of callers and their rights, which the permission suites compare the service with. It uses none of its source. */
import assert from 'node:assert/strict';
import type { Json } from './records.ts';
import type { Answer, CallOptions, Service } from './service.ts';
import { relate, signUp } from './users.ts';

export type Action = 'find' | 'get' | 'count' | 'create' | 'update' | 'delete' | 'addField';
type Entities = Record<string, true | string[]>;

/** Class-level permissions, as in a schema body. */
export type Rules = { [A in Action]?: Entities } & {
  readUserFields?: string[];
  writeUserFields?: string[];
  protectedFields?: Record<string, string[]>;
};

/** Returns rules with the same entities for all the actions. */
export const forAll = (entities: Entities, actions: readonly Action[] = everything): Rules =>
  Object.fromEntries(actions.map((action) => [action, entities]));
const everything = ['find', 'get', 'create', 'update', 'delete', 'addField'] as const;

/** A caller, with everything that grants rights. */
export interface Caller {
  kind: 'key' | 'user' | 'anonymous' | 'wrong';
  /** Options of the caller's requests. */
  options: CallOptions;
  /** objectId of a user. */
  id: string;
  /** Names of the user's roles and of the roles above them. */
  roles: readonly string[];
}

export interface Table {
  name: string;
  rules: Rules;
}

/** The parts of a record that decide who reaches it. */
export interface Guarded {
  ACL?: Record<string, { read?: boolean; write?: boolean }>;
  owner?: string;
  watchers?: readonly string[];
}

export interface Refused {
  status: number;
  code: number;
  error: string;
}

const refusal = (status: number, code: number, error: string): Refused => ({ status, code, error });
export const captcha = refusal(400, 119, 'This action is not allowed without a valid CAPTCHA');
export const notFound = refusal(404, 101, 'Object not found.');
export const signIn = refusal(404, 101, 'user needs to be authenticated. Permission denied.');
export const denied = (action: Action, table: string) =>
  refusal(400, 119, `Permission denied for action ${action} on class ${table}`);
export const fieldDenied = (field: string, table: string) =>
  refusal(400, 119, `This user is not allowed to access ${field} on class ${table}`);

/** A right to a table: to all records, or to those that hold the caller in one of the fields. */
export type Right = 'all' | readonly string[];
export const isRefused = (right: Right | Refused): right is Refused => typeof right === 'object' && 'code' in right;

const isWrite = (action: Action) => ['create', 'update', 'delete', 'addField'].includes(action);

/** Returns the caller's right to a table, or the refusal. Reference: permissions.md#table-permissions. */
export function rightTo(caller: Caller, action: Action, { name, rules }: Table): Right | Refused {
  if (caller.kind === 'key') return 'all';
  // A count is checked like a query.
  if (caller.kind === 'wrong') return denied(action === 'count' ? 'find' : action, name);
  if (caller.kind === 'anonymous' && isWrite(action)) return captcha;
  if (action === 'count' && rules.count === undefined) return rightTo(caller, 'find', { name, rules });
  const given = rules[action] ?? {};
  const names = ['*', ...(caller.kind === 'user' ? ['requiresAuthentication', ...namesOf(caller)] : [])];
  if (names.some((entity) => given[entity] === true)) return 'all';
  const byField = [given.pointerFields ?? [], (isWrite(action) ? rules.writeUserFields : rules.readUserFields) ?? []].flat(2);
  if (caller.kind === 'user' && action !== 'create' && byField.length > 0) return byField as string[];
  return caller.kind === 'anonymous' && given.requiresAuthentication ? signIn : denied(action, name);
}

const namesOf = ({ id, roles }: Caller) => [id, ...roles.map((role) => `role:${role}`)];

/** Returns whether a right covers a record and its ACL admits the caller. Reference: permissions.md#acl. */
export function reaches(caller: Caller, right: Right, needed: 'read' | 'write', record: Guarded): boolean {
  if (caller.kind === 'key') return true;
  const { ACL = {}, owner, watchers = [] } = record;
  const names = ['*', ...(caller.kind === 'user' ? namesOf(caller) : [])];
  const open = Object.keys(ACL).length === 0 || names.some((entity) => ACL[entity]?.[needed] === true);
  const held = (field: string) => (field === 'owner' ? owner === caller.id : watchers.includes(caller.id));
  return open && (right === 'all' || right.some(held));
}

/** Returns the callers with keys, those without rights, and one with a wrong key. */
export function strangers(service: Service): Record<'master' | 'apiKey' | 'anonymous' | 'wrong key', Caller> {
  const nobody = { id: '', roles: [] };
  return {
    master: { kind: 'key', options: { as: 'master' }, ...nobody },
    apiKey: { kind: 'key', options: { as: 'apiKey' }, ...nobody },
    anonymous: { kind: 'anonymous', options: { as: 'anonymous' }, ...nobody },
    // A key is valid under its own header name only. Reference: authentication.md#keys.
    'wrong key': { kind: 'wrong', options: { as: 'anonymous', headers: { 'X-Platform-API-Key': service.masterKey } }, ...nobody },
  };
}

/** Signs a user up. The caller passes the roles that it gives the user. */
export async function newCaller(service: Service, roles: readonly string[] = []): Promise<Caller> {
  const { id, token } = await signUp(service);
  return { kind: 'user', options: { session: token }, id, roles };
}

/** Adds roles to a role. */
export async function addRoles(service: Service, roleId: string, roles: readonly string[]): Promise<void> {
  const { status, text } = await service.call('PUT', `/platform/classes/_Role/${roleId}`, {
    body: { roles: relate('AddRelation', '_Role', roles) },
  });
  assert.equal(status, 200, text);
}

/** Creates a table, or changes the permissions of an existing one. `Pointer:Target` and `Relation:Target` name the target. */
export async function makeTable(
  service: Service,
  name: string,
  fields: Record<string, string>,
  rules: Rules = {},
): Promise<void> {
  const described = Object.fromEntries(
    Object.entries(fields).map(([field, described]) => {
      const [type, targetClass] = described.split(':');
      return [field, targetClass === undefined ? { type } : { type, targetClass }];
    }),
  );
  const body = { className: name, fields: described, classLevelPermissions: rules };
  const { status, text } = await service.call('POST', `/platform/schemas/${name}`, { body });
  assert.equal(status, 200, text);
}

export async function setRules(service: Service, table: string, classLevelPermissions: Rules): Promise<void> {
  const { status, text } = await service.call('PUT', `/platform/schemas/${table}`, { body: { classLevelPermissions } });
  assert.equal(status, 200, text);
}

/** Asserts an exact refusal. */
export function assertRefused(answer: Answer, { status, code, error }: Refused, what: string): void {
  assert.deepEqual([answer.status, answer.body], [status, { code, error }], what);
}

/** Asserts a status and returns the body. */
export function assertDone(answer: Answer, status: number, what: string): Json {
  assert.equal(answer.status, status, `${what}: ${answer.text.slice(0, 300)}`);
  return answer.body;
}
