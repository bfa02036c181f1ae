import type { Field, TableSchema } from '../../schema/model.ts';
import type { Mutation } from '../../storage/port.ts';
import type { RelationStep } from '../../values/index.ts';

/** Members to add to, or remove from, a Relation; or all of them to be taken away. */
export type RelationChange = { readonly relation: Field } & (RelationStep | { readonly op: 'clear' });

/** The steps that change a record's Relations. */
export function links(table: TableSchema, relations: readonly RelationChange[], ownerId: string): Mutation[] {
  return relations.map((change) => {
    const { relation } = change;
    if (change.op === 'clear') return { kind: 'unlinkAll', table, relation, ownerId };
    return { kind: change.op === 'add' ? 'link' : 'unlink', table, relation, ownerId, memberIds: change.memberIds };
  });
}
