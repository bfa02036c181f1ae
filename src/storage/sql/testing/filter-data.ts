import type { RowGuard } from '../../../access/index.ts';
import type { Comparison, Filter, JsonOperand, Regex } from '../../../query/model/filter.ts';
import type { EngineTables } from './tables.ts';

const pointer = (className: string, objectId: string) => ({ __type: 'Pointer', className, objectId });
const date = (iso: string) => ({ __type: 'Date', iso });

/** Adds the records that the filter cases find. */
export async function addFilterRecords(tables: EngineTables): Promise<void> {
  await tables.make('Team', { name: 'String', size: 'Number', members: 'Relation:T' });
  await tables.make('T', {
    text: 'String',
    num: 'Number',
    flag: 'Boolean',
    day: 'Date',
    team: 'Pointer:Team',
    arr: 'Array',
    obj: 'Object',
    file: 'File',
    users: 'Array',
    owner: 'Pointer:_User',
  });
  await tables.add('Team', { objectId: 'red', name: 'abc', size: 3 });
  await tables.add('Team', { objectId: 'blue', name: 'Zoë', size: 5, ACL: { u1: { read: true } } });
  await tables.link('Team', 'members', 'red', ['a', 'b']);
  await tables.link('Team', 'members', 'blue', ['c']);

  await tables.add('T', {
    objectId: 'a',
    text: 'abc',
    num: 5,
    flag: true,
    day: date('2024-01-02T03:04:05.000Z'),
    team: pointer('Team', 'red'),
    arr: [1, 'x', true, pointer('Team', 'red'), date('2024-01-01T00:00:00.000Z')],
    obj: { n: 1, s: 'abc', b: true, list: ['p', 'q'], deep: { 'k y"\\': 'odd' }, when: date('2024-01-01T01:00:00+01:00') },
    users: [pointer('_User', 'u1')],
    createdBy: pointer('_User', 'u1'),
  });
  await tables.add('T', {
    objectId: 'b',
    text: 'abd%',
    num: -1.5,
    flag: false,
    team: pointer('Team', 'blue'),
    arr: [1.5, '1', false, { k: [1, 2], j: 'x' }, ['x']],
    obj: { n: '1', s: 5, b: 1, 0: 'zero', list: [{ z: 7 }], to: pointer('Team', 'red'), nil: null },
    ACL: { 'role:R': { read: true, write: true }, u2: { read: true } },
    owner: pointer('_User', 'u1'),
    createdBy: pointer('_User', 'master'),
  });
  await tables.add('T', {
    objectId: 'c',
    text: 'ABC',
    arr: [],
    obj: { odd: ['é "q" \\ \n\u2028/'], '-1': 'minus', ' 1': 'space', '+0': { z: 7 } },
    ACL: {},
    team: pointer('Team', 'gone'),
  });
  await tables.add('T', { objectId: 'd' });
}

export const s = (value: string): JsonOperand => ({ kind: 'string', value });
export const n = (value: number): JsonOperand => ({ kind: 'number', value });
export const b = (value: boolean): JsonOperand => ({ kind: 'boolean', value });
export const json = (canonical: string): JsonOperand => ({ kind: 'json', canonical });
export const to = (objectId: string, className = 'Team'): JsonOperand => ({ kind: 'pointer', className, objectId });
export const at = (iso: string): JsonOperand => ({ kind: 'date', iso });
export const re = (pattern: string, options = '', literal?: Regex['literal']): Regex => ({
  kind: 'pattern',
  pattern,
  options,
  ...(literal ? { literal } : {}),
});
export const literal = (text: string, place: 'start' | 'end' | 'anywhere' | 'whole') => re('unused', '', { text, at: place });
export const not = (item: Filter): Filter => ({ kind: 'not', item });
export const always: Filter = { kind: 'always' };
export const many = Array.from({ length: 1500 }, (_, i) => i);

/** Returns builders of filters over the records of `addFilterRecords`. */
export function filtersOf(tables: EngineTables) {
  const ref = (path: string) => tables.ref('T', path);
  const field = (name: string) => tables.field('T', name);
  const regex = (path: string, pattern: Regex): Filter => ({ kind: 'regex', ref: ref(path), regex: pattern });
  const place = (path: string, op: Comparison, operand: JsonOperand): Filter => ({
    kind: 'jsonCompare',
    ref: ref(path),
    op,
    operand,
  });
  const has = (kind: 'hasAny' | 'hasAll' | 'hasOnly', path: string, ...operands: JsonOperand[]): Filter => ({
    kind,
    ref: ref(path),
    operands,
  });
  const guard = (rows: RowGuard): Filter => ({ kind: 'guard', guard: rows, table: tables.table('T') });
  const acl = (right: 'read' | 'write', ...identities: string[]): Filter => guard({ kind: 'acl', right, identities });
  const team = (filter: Filter, page: { limit?: number; skip?: number } = {}) => ({
    table: tables.table('Team'),
    filter,
    ...page,
  });
  const teamGuard: Filter = {
    kind: 'guard',
    guard: { kind: 'acl', right: 'read', identities: ['*'] },
    table: tables.table('Team'),
  };
  return { ref, field, regex, place, has, guard, acl, team, teamGuard };
}
