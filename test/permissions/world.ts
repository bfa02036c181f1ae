/** Data of the permission matrix: callers, tables of every kind of permissions, records of every kind of ACL. */
import assert from 'node:assert/strict';
import {
  addRoles,
  type Caller,
  forAll,
  type Guarded,
  makeTable,
  newCaller,
  type Rules,
  strangers,
  type Table,
} from '../support/permissions.ts';
import { type Json, pointer } from '../support/records.ts';
import { type EngineName, engines, type Service } from '../support/service.ts';
import { makeRole } from '../support/users.ts';

/** TEST_ENGINES requests a longer run, with all cases on each engine that it names. */
const isComplete = process.env.TEST_ENGINES !== undefined;

/** Distributes cases evenly to the engines. */
export const runsOn = (engine: EngineName, at: number): boolean => isComplete || engines[at % engines.length] === engine;

export const callerNames = [
  ...(['master', 'apiKey', 'anonymous', 'wrong key'] as const),
  ...(['no role', 'a role', 'a role two levels up', 'a role above a cycle', 'the owner', 'named by id'] as const),
] as const;
export type CallerName = (typeof callerNames)[number];
export type Callers = Record<CallerName, Caller>;

/** Permissions by kind; they may contain the ids of callers. */
export const settings: Record<string, (callers: Callers) => Rules> = {
  nobody: () => ({}),
  'a role': () => forAll({ 'role:Staff': true }),
  'a role inside the role': () => forAll({ 'role:Inner': true }),
  'another role': () => forAll({ 'role:Others': true }),
  'whoever is signed in': () => forAll({ requiresAuthentication: true }),
  everyone: () => forAll({ '*': true }),
  'a user by id': (callers) => forAll({ [callers['named by id'].id]: true }),
  'those whom a record holds': () => forAll({ pointerFields: ['owner', 'watchers'] }),
  'readers and writers by field': () => ({ readUserFields: ['owner'], writeUserFields: ['watchers', 'owner'] }),
  'count apart': () => ({ ...forAll({ requiresAuthentication: true }), count: { 'role:Staff': true, pointerFields: ['owner'] } }),
  'no new fields': () => forAll({ '*': true }, ['find', 'get', 'create', 'update', 'delete']),
  'each action its own': (callers) => ({
    find: { 'role:Staff': true, pointerFields: ['owner'] },
    get: { requiresAuthentication: true },
    count: {},
    create: { 'role:Staff': true, pointerFields: ['owner'] },
    update: { [callers['named by id'].id]: true, pointerFields: ['owner'] },
    delete: { '*': true },
    addField: { pointerFields: ['watchers'] },
    readUserFields: ['watchers'],
  }),
};

/** A record of the matrix. `n` counts the updates that tests made. */
export interface Row extends Guarded {
  k: string;
  objectId: string;
  n: number;
}

const acls: Record<string, (callers: Callers, other: string) => Guarded['ACL']> = {
  absent: () => undefined,
  empty: () => ({}),
  'role reads': () => ({ 'role:Staff': { read: true } }),
  'role writes': () => ({ 'role:Staff': { write: true } }),
  'user reads and writes': (callers) => ({ [callers['no role'].id]: { read: true, write: true } }),
  'owner reads, role both': (callers) => ({
    [callers['the owner'].id]: { read: true },
    'role:Inner': { read: true, write: true },
  }),
  'another only': (_callers, other) => ({ [other]: { read: true, write: true } }),
  'everyone reads': () => ({ '*': { read: true } }),
  'nobody at all': () => ({ '*': {} }),
};

export interface MatrixTable extends Table {
  rows: Row[];
  /** A table that all callers may read, with a record that points at each of these. */
  probe: string;
}

export interface World {
  service: Service;
  callers: Callers;
  /** By setting. */
  tables: ReadonlyMap<string, MatrixTable>;
}

/** Creates a table for each setting, with records of each ACL that name two of the callers or none, and a table that points at each record. */
export async function makeWorld(service: Service): Promise<World> {
  const callers: Callers = {
    ...strangers(service),
    'no role': await newCaller(service),
    'a role': await newCaller(service, ['Staff']),
    'a role two levels up': await newCaller(service, ['Inner', 'Middle', 'Staff']),
    'a role above a cycle': await newCaller(service, ['Round', 'Again', 'Staff']),
    'the owner': await newCaller(service),
    'named by id': await newCaller(service),
  };
  const other = (await newCaller(service)).id;
  const inner = await makeRole(service, 'Inner', [callers['a role two levels up'].id]);
  const middle = await makeRole(service, 'Middle', [], [inner]);
  const round = await makeRole(service, 'Round', [callers['a role above a cycle'].id]);
  const again = await makeRole(service, 'Again', [], [round]);
  await addRoles(service, round, [again]);
  await makeRole(service, 'Staff', [callers['a role'].id], [middle, again]);
  await makeRole(service, 'Others', [other]);

  const tables: World['tables'] = new Map(
    await Promise.all(
      Object.entries(settings).map(async ([setting, rulesFor], at) => {
        const table = { name: `Guarded${at}`, probe: `Probe${at}`, rules: rulesFor(callers), rows: rowsFor(callers, other) };
        await makeTable(
          service,
          table.probe,
          { k: 'String', to: `Pointer:${table.name}` },
          forAll({ '*': true }, ['find', 'get']),
        );
        const fields = { k: 'String', n: 'Number', owner: 'Pointer:_User', watchers: 'Array', rel: `Relation:${table.probe}` };
        await makeTable(service, table.name, fields, table.rules);
        await createAll(service, table.name, table.rows.map(body));
        await createAll(
          service,
          table.probe,
          table.rows.map(({ k, objectId }) => ({ objectId: `p-${objectId}`, k, to: pointer(table.name, objectId) })),
        );
        const link = ({ objectId }: Row) => ({
          method: 'PUT',
          path: `/platform/classes/${table.name}/${objectId}`,
          body: { rel: { __op: 'AddRelation', objects: [pointer(table.probe, `p-${objectId}`)] } },
        });
        await batch(service, table.rows.map(link));
        return [setting, table] as const;
      }),
    ),
  );
  return { service, callers, tables };
}

function rowsFor(callers: Callers, other: string): Row[] {
  return Object.entries(acls).flatMap(([acl, aclFor], at) => {
    const ACL = aclFor(callers, other);
    const guarded = ACL === undefined ? {} : { ACL };
    const holding = { owner: callers['the owner'].id, watchers: [callers['named by id'].id] };
    return [
      { k: `${at}a ${acl}`, objectId: `free${at}`, n: 0, ...guarded },
      { k: `${at}b ${acl}, held`, objectId: `held${at}`, n: 0, ...guarded, ...holding },
    ];
  });
}

/** Returns the body that creates a row. */
export function body({ k, objectId, n, ACL, owner, watchers }: Row): Json {
  return {
    ...{ objectId, k, n },
    ...(ACL && { ACL }),
    ...(owner !== undefined && { owner: pointer('_User', owner) }),
    ...(watchers && { watchers: watchers.map((id) => pointer('_User', id)) }),
  };
}

export interface Item {
  method: string;
  path: string;
  body?: unknown;
}

/** Sends a batch with the master key; all items must succeed. */
export async function batch(service: Service, requests: readonly Item[]): Promise<void> {
  const answer = await service.call('POST', '/platform/batch', { body: { requests } });
  for (const item of answer.body) assert.ok(item.success, JSON.stringify(item));
}

export async function createAll(service: Service, table: string, bodies: readonly Json[]): Promise<void> {
  await batch(
    service,
    bodies.map((one) => ({ method: 'POST', path: `/platform/classes/${table}`, body: one })),
  );
}
