import { authorize } from '../../access/index.ts';
import type { JsonObject } from '../../kernel/json.ts';
import type { Schema } from '../../schema/model.ts';
import type { OwnValues } from '../../storage/columns.ts';
import type { Mutation } from '../../storage/port.ts';
import type { RecordContext } from '../context.ts';

/** A write of one record, as its table's rules see it before it is planned. The caller's rights are looked at first where they can be. */
export interface RuledWrite {
  readonly context: RecordContext;
  readonly objectId: string;
  /** What the client sent, without flags; empty for a delete. */
  readonly fields: JsonObject;
}

/** What the rules make of a write. */
export interface RuledFields {
  /** What is planned as the client's; observers see it, so it holds no secret. */
  readonly fields: JsonObject;
  /** Stored values of fields that no client writes as they are: hashes, the service's own notes. */
  readonly set?: OwnValues;
  /** Steps of the same commit, before the record's own. Pure. */
  readonly before?: (schema: Schema) => readonly Mutation[];
}

/** What a system table asks of writes beyond its schema and permissions, whatever path they come by. */
export interface TableRules {
  create?(write: RuledWrite): RuledFields | Promise<RuledFields>;
  update?(write: RuledWrite): RuledFields | Promise<RuledFields>;
  remove?(write: RuledWrite): RuledFields | Promise<RuledFields>;
}

const rights = { create: 'create', update: 'update', remove: 'delete' } as const;

/**
 * Asks the rules of a table, where it has any. At once where they are, so that writes keep the order in which they came.
 * @throws permissionDenied (119) before, since what the rules say tells of the records; what the rules throw
 */
export function underRules(className: string, action: keyof TableRules, write: RuledWrite): RuledFields | Promise<RuledFields> {
  const { store, principal, hooks } = write.context;
  const rules = hooks.rules.get(className);
  const table = rules && store.schema().tables.get(className);
  if (table) authorize(principal, rights[action], table);
  return rules?.[action]?.(write) ?? { fields: write.fields };
}
