import type { Field } from '../../schema/model.ts';
import type { Mutation } from '../../storage/port.ts';
import type { RelationStep } from '../../values/index.ts';

/** Members to add to, or remove from, a Relation; or all of them to be taken away. */
export type RelationChange = { readonly relation: Field } & (RelationStep | { readonly op: 'clear' });

/** The steps that change a record's Relations. */
export function links(relations: readonly RelationChange[], ownerId: string): Mutation[] {
  return relations.map((change) => {
    const { relation } = change;
    if (change.op === 'clear') return { kind: 'unlinkAll', relation, ownerId };
    return { kind: change.op === 'add' ? 'link' : 'unlink', relation, ownerId, memberIds: change.memberIds };
  });
}
