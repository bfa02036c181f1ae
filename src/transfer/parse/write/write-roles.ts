import { readFirst } from '../../../records/index.ts';
import { fieldOf, tableOf } from '../../../schema/model.ts';
import type { Mutation, Store } from '../../../storage/port.ts';
import type { StoredMember } from '../../../storage/raw-access.ts';
import type { ParseRecord } from '../source/source.ts';
import { knownIds } from './known-ids.ts';
import type { MappedRecord } from './record-mapper.ts';
import type { Target } from './target.ts';
import { type ClassWrite, insertOf } from './write-records.ts';

/** Members per read. */
const MAX_MEMBERS = 1_000;

/**
 * Adds roles. A role of the source replaces the role of the same name here and gets the members of both: permissions refer to roles by name, and
 * names are
 * unique.
 */
export async function writeRoles({ store }: Target, records: AsyncIterable<ParseRecord>, write: ClassWrite): Promise<void> {
  const { findings, mapper } = write;
  let done = 0;
  let present = 0;
  for await (const record of records) {
    const role = mapper.map(record);
    await write.copier?.copy(role.files);
    if ((await knownIds(store, '_Role', [role.objectId])).size > 0) present++;
    else await writeRole(store, role);
    findings.records.set('_Role', ++done);
    findings.present.set('_Role', present);
    write.progressed(done);
  }
}

async function writeRole(store: Store, role: MappedRecord): Promise<void> {
  const name = role.values.get('name');
  const value = typeof name === 'string' ? name : '';
  const other = await readFirst<{ objectId: string }>(store, { className: '_Role', field: 'name', value, fields: ['objectId'] });
  const members = other ? await membershipsOf(store, other.objectId) : [];
  await store.write({
    plan(schema) {
      const table = tableOf(schema, '_Role');
      const mutations: Mutation[] = [];
      if (other) mutations.push({ kind: 'delete', table, objectId: other.objectId, guard: null });
      mutations.push(insertOf(table, role.values));
      for (const [relation, owner, member] of members)
        mutations.push({
          kind: 'link',
          table,
          relation: fieldOf(table, relation),
          ownerId: owner === other?.objectId ? role.objectId : owner,
          memberIds: [member === other?.objectId ? role.objectId : member],
        });
      return { changes: [], mutations };
    },
  });
}

/** Returns a role's members, and the roles that it is a member of. */
async function membershipsOf(store: Store, roleId: string): Promise<[relation: string, owner: string, member: string][]> {
  const table = tableOf(store.schema(), '_Role');
  const found: [string, string, string][] = [];
  for (const relation of ['users', 'roles']) {
    let after: StoredMember | null = null;
    for (;;) {
      const some: StoredMember[] = await store.raw.members(fieldOf(table, relation), after, MAX_MEMBERS);
      for (const [owner, member] of some)
        if (owner === roleId || (relation === 'roles' && member === roleId)) found.push([relation, owner, member]);
      after = some.at(-1) ?? null;
      if (some.length < MAX_MEMBERS) break;
    }
  }
  return found;
}
